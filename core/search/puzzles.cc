#include "search/puzzles.h"

#include <memory>
#include <new>
#include <type_traits>

#include "base/errors.h"
#include "heuristics/incremental_network.h"
#include "heuristics/puzzle_values.h"
#include "search/root_parallel.h"

namespace hstar {
namespace {

template <class... Heuristics>
std::vector<PuzzleHeuristicInfo> infos(List<Heuristics...>) {
  return {PuzzleHeuristicInfo{Heuristics::kName, true, true}...};
}

// Calls `work` with the heuristic of that name, made for the space.
template <class Space, class Work, class... Heuristics>
void with_named(const Space& space, const std::string& name, const Work& work, List<Heuristics...> list) {
  const auto tried = [&]<class H>(std::type_identity<H>) {
    if (name != H::kName) return false;
    work(H(space));
    return true;
  };
  if ((tried(std::type_identity<Heuristics>{}) || ...)) return;
  std::string known;
  for (const PuzzleHeuristicInfo& info : infos(list))
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  throw InputError("unknown heuristic '" + name + "' (known: " + known + ")");
}

template <class Space, class Work>
void with_heuristic(const Space& space, const HeuristicChoice<Space>& choice, const Work& work) {
  const auto chosen = [&]<class Chosen>(const Chosen& one) {
    if constexpr (std::is_same_v<Chosen, std::string>) {
      with_named(space, one, work, typename Parts<Space>::Named{});
    } else {
      constexpr bool kNetwork = std::is_same_v<Chosen, const PuzzleNetwork<Space>*>;
      if (one->space().name() != space.name())
        throw InputError((kNetwork ? "a network for " : "databases for ") + one->space().name() +
                         (kNetwork ? " does not fit " : " do not fit ") + space.name());
      if constexpr (kNetwork)
        with_network(*one, work);
      else
        work(*one);
    }
  };
  std::visit(chosen, choice);
}

}  // namespace

template <Puzzle Space>
std::vector<PuzzleHeuristicInfo> puzzle_heuristics() {
  return infos(typename Parts<Space>::Named{});
}

template <Puzzle Space>
std::vector<int32_t> puzzle_values(const Space& space, const HeuristicChoice<Space>& heuristic,
                                   const std::vector<typename Space::State>& states) {
  std::vector<int32_t> values;
  const auto work = [&]<class H>(const H& h) {
    typename H::Node node;
    for (const typename Space::State& state : states) values.push_back(h.root(state, node));
  };
  with_heuristic<Space>(space, heuristic, work);
  return values;
}

template <Puzzle Space>
int32_t puzzle_child_value(const Space& space, const HeuristicChoice<Space>& heuristic,
                           const typename Space::State& state, typename Space::Action action) {
  int32_t value = 0;
  const auto work = [&]<class H>(const H& h) {
    typename H::Node parent, child;
    h.root(state, parent);
    value = h.child(parent, state, action, child);
  };
  with_heuristic<Space>(space, heuristic, work);
  return value;
}

template <Puzzle Space>
DeepeningResult puzzle_idastar(const Space& space, const HeuristicChoice<Space>& heuristic,
                               const typename Space::State& start, const DeepeningOptions& options,
                               const Limits& limits, const Observer& observer) {
  DeepeningResult result;
  Control control(limits, observer, 1);
  const auto work = [&]<class H>(const H& h) {
    try {
      result = options.threads > 1 ? RootParallel<Space, H>(space, h, options, control).run(start)
                                   : IterativeDeepening<Space, H>(space, h, options, control).run(start);
    } catch (const std::bad_alloc&) {
      result.status = Status::kMemoryLimit;
    }
  };
  with_heuristic<Space>(space, heuristic, work);
  result.search_time_s = control.elapsed_s();
  result.cpu_time_s += control.cpu_s();
  return result;
}

template <Puzzle Space>
std::unique_ptr<Heuristic> puzzle_heuristic(const PuzzleSpace<Space>& space,
                                            const HeuristicChoice<Space>& choice,
                                            std::shared_ptr<const void> owner) {
  std::unique_ptr<Heuristic> result;
  const auto work = [&]<class H>(const H& h) {
    // What is known by name is made for the space; all else lives with its owner.
    constexpr bool kNamed = std::is_constructible_v<H, const Space&>;
    std::shared_ptr<const H> part;
    PuzzleClaims claims{"databases", true};
    if constexpr (kNamed) {
      part = std::make_shared<const H>(h);
      claims.name = H::kName;
    } else {
      part = {owner, &h};
    }
    if (std::holds_alternative<const PuzzleNetwork<Space>*>(choice)) claims = {"network", false};
    result = std::make_unique<PuzzleValues<Space, H>>(space, std::move(part), std::move(claims));
  };
  with_heuristic<Space>(space.puzzle(), choice, work);
  return result;
}

#define HSTAR_PUZZLE(Space)                                                                       \
  template std::vector<PuzzleHeuristicInfo> puzzle_heuristics<Space>();                           \
  template std::vector<int32_t> puzzle_values<Space>(const Space&, const HeuristicChoice<Space>&, \
                                                     const std::vector<Space::State>&);           \
  template int32_t puzzle_child_value<Space>(const Space&, const HeuristicChoice<Space>&,         \
                                             const Space::State&, Space::Action);                 \
  template DeepeningResult puzzle_idastar<Space>(const Space&, const HeuristicChoice<Space>&,     \
                                                 const Space::State&, const DeepeningOptions&,    \
                                                 const Limits&, const Observer&);                 \
  template std::unique_ptr<Heuristic> puzzle_heuristic<Space>(                                    \
      const PuzzleSpace<Space>&, const HeuristicChoice<Space>&, std::shared_ptr<const void>);
HSTAR_PUZZLES(HSTAR_PUZZLE)
#undef HSTAR_PUZZLE

}  // namespace hstar
