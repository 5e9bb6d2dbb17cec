#include "sampling/prolonged.h"

#include <cmath>
#include <type_traits>

#include "heuristics/grid_distance.h"
#include "heuristics/puzzle_parts.h"
#include "sampling/backward_astar.h"

namespace hstar {
namespace {

// A puzzle, whose predecessors are its successors.
template <Puzzle Space>
class PuzzleSource {
 public:
  using Heuristic = typename Parts<Space>::Distance;

  PuzzleSource(const Space& space, const Heuristic& heuristic, bool blind)
      : space_(space), heuristic_(heuristic), blind_(blind), packed_(space.words()) {}

  size_t words() const { return space_.words(); }
  template <class Visit>
  bool predecessors(const uint32_t* packed, const Visit& visit) {
    auto state = space_.unpack(packed);
    if (!blind_) heuristic_.root(state, node_);
    for (const auto action : space_.actions(state, buffer_)) {
      const auto back = space_.apply(state, action);
      space_.pack(state, packed_.data());
      space_.apply(state, back);
      const auto value = [&] { return blind_ ? 0 : heuristic_.child(node_, state, action, child_); };
      if (!visit(packed_.data(), value)) return false;
    }
    return true;
  }
  int32_t value(const typename Space::State& state) { return blind_ ? 0 : heuristic_.root(state, node_); }

 private:
  const Space& space_;
  const Heuristic& heuristic_;
  const bool blind_;
  std::vector<uint32_t> packed_;
  typename Heuristic::Node node_, child_;
  [[no_unique_address]] typename Space::Buffer buffer_;
};

bool is_blind(const ProlongedOptions& options) { return options.blind || std::isinf(options.k_pr); }

// A search towards any state of a puzzle: names of pieces in which there is a heuristic towards it. Where
// that is for the goal alone, pieces are named by their places in the target, which so becomes the goal.
template <class Space>
class Towards {
 public:
  using Heuristic = typename Parts<Space>::Distance;
  using State = typename Space::State;

  Towards(const Space& space, const State& target)
      : target(kAnyTarget ? target : space.goal()), heuristic(made(space, target)), size_(space.size()) {
    if constexpr (!kAnyTarget) {
      old_names_ = target;
      for (size_t i = 0; i < size_; ++i)
        (new_names_.*Space::kPieces)[(target.*Space::kPieces)[i]] = static_cast<uint8_t>(i);
    }
  }
  State inner(const State& state) const { return renamed(state, new_names_); }
  State outer(const State& state) const { return renamed(state, old_names_); }

  State target;
  Heuristic heuristic;

 private:
  static constexpr bool kAnyTarget = std::is_constructible_v<Heuristic, const Space&, const State&>;
  static Heuristic made(const Space& space, const State& target) {
    if constexpr (kAnyTarget)
      return Heuristic(space, target);
    else
      return Heuristic(space);
  }
  State renamed(State state, const State& names) const {
    if constexpr (!kAnyTarget)
      for (size_t i = 0; i < size_; ++i) {
        uint8_t& piece = (state.*Space::kPieces)[i];
        piece = (names.*Space::kPieces)[piece];
      }
    return state;
  }

  size_t size_;  // of pancakes without the plate, which keeps its name
  State old_names_, new_names_;
};

template <class Space, class Heuristic>
void label_grid(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                const Heuristic& heuristic, const ProlongedOptions& options, Control& control,
                ProlongedLabels& labels) {
  using Search = GridAStar<Space, Heuristic, true>;
  if (!control.allows(Search::bytes(space))) {
    labels.status = Status::kMemoryLimit;
    return;
  }
  Search search(space, heuristic);
  for (const uint32_t state : goal) search.add_root(state);
  const auto write = [&](uint32_t state, std::vector<int32_t>& states, std::vector<double>& label) {
    states.push_back(static_cast<int32_t>(space.outer(state)));
    label.push_back(to_cost(search.g(state)));
  };
  write_labels(search, start, options, control, labels, write);
}

template <class Space>
void label_puzzle(const Space& space, const Towards<Space>& towards, const ProlongedOptions& options,
                  Control& control, ProlongedLabels& labels) {
  PuzzleSource<Space> source(space, towards.heuristic, is_blind(options));
  BackwardAStar search(source, control);
  std::vector<uint32_t> packed(space.words());
  const auto number = [&](const typename Space::State& state) {
    space.pack(state, packed.data());
    return search.number(packed.data());
  };
  const uint32_t start = number(towards.target);
  const typename Space::State goal = towards.inner(space.goal());
  search.add_root(number(goal), source.value(goal));
  const auto write = [&](uint32_t id, std::vector<int32_t>& states, std::vector<double>& label) {
    const std::vector<int> values = space.values(towards.outer(space.unpack(search.state(id))));
    states.insert(states.end(), values.begin(), values.end());
    label.push_back(search.g(id));
  };
  write_labels(search, start, options, control, labels, write);
}

}  // namespace

template <class Space>
ProlongedLabels prolonged_grid(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                               const ProlongedOptions& options, const Limits& limits,
                               const Observer& observer) {
  ProlongedLabels labels;
  controlled(options, limits, observer, labels, [&](Control& control) {
    if (is_blind(options))
      label_grid(space, start, goal, BlindGrid<Space>(), options, control, labels);
    else
      label_grid(space, start, goal, GridDistance<Space>(space, start, space.diagonals()), options, control,
                 labels);
  });
  return labels;
}

template <Puzzle Space>
ProlongedLabels prolonged_puzzle(const Space& space, const typename Space::State& start,
                                 const ProlongedOptions& options, const Limits& limits,
                                 const Observer& observer) {
  ProlongedLabels labels;
  labels.width = space.values(start).size();
  controlled(options, limits, observer, labels, [&](Control& control) {
    label_puzzle(space, Towards<Space>(space, start), options, control, labels);
  });
  return labels;
}

#define HSTAR_GRID(Space)                                                                              \
  template ProlongedLabels prolonged_grid<Space>(const Space&, uint32_t, const std::vector<uint32_t>&, \
                                                 const ProlongedOptions&, const Limits&, const Observer&);
HSTAR_GRID(Grid)
HSTAR_GRID(Lattice)
#undef HSTAR_GRID
#define HSTAR_PUZZLE(Space)                                                           \
  template ProlongedLabels prolonged_puzzle<Space>(const Space&, const Space::State&, \
                                                   const ProlongedOptions&, const Limits&, const Observer&);
HSTAR_PUZZLES(HSTAR_PUZZLE)
#undef HSTAR_PUZZLE

}  // namespace hstar
