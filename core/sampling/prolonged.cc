#include "sampling/prolonged.h"

#include <cmath>

#include "heuristics/gap.h"
#include "heuristics/grid_distance.h"
#include "heuristics/manhattan.h"
#include "heuristics/misplaced.h"
#include "sampling/backward_astar.h"
#include "spaces/blocks.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"

namespace hstar {
namespace {

// A puzzle, whose predecessors are its successors.
template <Puzzle Space, IncrementalHeuristic<Space> Heuristic>
class PuzzleSource {
 public:
  PuzzleSource(const Space& space, const Heuristic& heuristic)
      : space_(space), heuristic_(heuristic), packed_(space.words()) {}

  size_t words() const { return space_.words(); }
  template <class Visit>
  bool predecessors(const uint32_t* packed, const Visit& visit) {
    auto state = space_.unpack(packed);
    heuristic_.root(state, node_);
    for (const auto action : space_.actions(state, buffer_)) {
      const auto back = space_.apply(state, action);
      space_.pack(state, packed_.data());
      space_.apply(state, back);
      if (!visit(packed_.data(), [&] { return heuristic_.child(node_, state, action, child_); }))
        return false;
    }
    return true;
  }

 private:
  const Space& space_;
  const Heuristic& heuristic_;
  std::vector<uint32_t> packed_;
  typename Heuristic::Node node_, child_;
  [[no_unique_address]] typename Space::Buffer buffer_;
};

bool is_blind(const ProlongedOptions& options) { return options.blind || std::isinf(options.k_pr); }

// What a puzzle has for a search towards any state: names of pieces in which there is a heuristic towards it.
template <class Space>
struct Towards {
  using Heuristic = std::conditional_t<std::is_same_v<Space, Tiles>, Manhattan, MisplacedBlocks>;
  using State = typename Space::State;

  Towards(const Space& space, const State& target) : target(target), heuristic(space, target) {}
  State inner(const State& state) const { return state; }
  State outer(const State& state) const { return state; }

  State target;
  Heuristic heuristic;
};

// Pancakes are named by their places in the target, which so becomes the stack in order.
template <>
struct Towards<Pancake> {
  using Heuristic = Gap;
  using State = Pancake::State;

  Towards(const Pancake& space, const State& stack)
      : target(space.goal()), heuristic(space), size(static_cast<size_t>(space.size())), old_names(stack) {
    for (size_t i = 0; i < size; ++i) new_names.pancakes[stack.pancakes[i]] = static_cast<uint8_t>(i);
  }
  State inner(const State& state) const { return renamed(state, new_names); }
  State outer(const State& state) const { return renamed(state, old_names); }

  State target;
  Heuristic heuristic;

 private:
  State renamed(State state, const State& names) const {
    for (size_t i = 0; i < size; ++i) state.pancakes[i] = names.pancakes[state.pancakes[i]];
    return state;
  }
  size_t size;  // without the plate, which keeps its name
  State old_names, new_names;
};

template <class Space, class Heuristic>
void label_grid(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                const Heuristic& heuristic, const ProlongedOptions& options, Control& control,
                GridLabels& labels) {
  using Search = GridAStar<Space, Heuristic, true>;
  if (!control.allows(Search::bytes(space))) {
    labels.status = Status::kMemoryLimit;
    return;
  }
  Search search(space, heuristic);
  for (const uint32_t state : goal) search.add_root(state);
  labels.states = prolong(search, start, options.k_pr, control, labels);
  if (options.open)
    for (uint32_t state = 0; state < space.states(); ++state)
      if (search.is_open(state)) labels.states.push_back(state);
  labels.label.resize(labels.states.size());
  for (size_t i = 0; i < labels.states.size(); ++i) {
    labels.label[i] = to_cost(search.g(labels.states[i]));
    labels.states[i] = space.outer(labels.states[i]);
  }
  if (!labels.reached) return;
  for (const uint32_t state : search.path(start)) {
    labels.path.push_back(space.outer(state));
    labels.path_label.push_back(to_cost(search.g(state)));
  }
}

template <class Space, class Heuristic>
void label_puzzle(const Space& space, const Towards<Space>& towards, const Heuristic& heuristic,
                  const ProlongedOptions& options, Control& control, PuzzleLabels& labels) {
  PuzzleSource<Space, Heuristic> source(space, heuristic);
  BackwardAStar search(source, control);
  std::vector<uint32_t> packed(space.words());
  const auto number = [&](const typename Space::State& state) {
    space.pack(state, packed.data());
    return search.number(packed.data());
  };
  const uint32_t start = number(towards.target);
  typename Heuristic::Node node;
  search.add_root(number(towards.inner(space.goal())), heuristic.root(towards.inner(space.goal()), node));
  const std::vector<uint32_t> closed = prolong(search, start, options.k_pr, control, labels);
  const auto write = [&](uint32_t id, std::vector<uint8_t>& states, std::vector<int32_t>& label) {
    for (const int value : space.values(towards.outer(space.unpack(search.state(id)))))
      states.push_back(static_cast<uint8_t>(value));
    label.push_back(search.g(id));
  };
  for (const uint32_t id : closed) write(id, labels.states, labels.label);
  if (options.open)
    for (uint32_t id = 0; id < search.size(); ++id)
      if (search.is_open(id)) write(id, labels.states, labels.label);
  if (!labels.reached) return;
  for (const uint32_t id : search.path(start)) write(id, labels.path, labels.path_label);
}

}  // namespace

template <class Space>
GridLabels prolonged_grid(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                          const ProlongedOptions& options, const Limits& limits, const Observer& observer) {
  GridLabels labels;
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
PuzzleLabels prolonged_puzzle(const Space& space, const typename Space::State& start,
                              const ProlongedOptions& options, const Limits& limits,
                              const Observer& observer) {
  PuzzleLabels labels;
  labels.width = space.values(start).size();
  controlled(options, limits, observer, labels, [&](Control& control) {
    const Towards<Space> towards(space, start);
    if (is_blind(options))
      label_puzzle(space, towards, BlindPuzzle<Space>(space), options, control, labels);
    else
      label_puzzle(space, towards, towards.heuristic, options, control, labels);
  });
  return labels;
}

#define HSTAR_GRID(Space)                                                                         \
  template GridLabels prolonged_grid<Space>(const Space&, uint32_t, const std::vector<uint32_t>&, \
                                            const ProlongedOptions&, const Limits&, const Observer&);
HSTAR_GRID(Grid)
HSTAR_GRID(Lattice)
#undef HSTAR_GRID
#define HSTAR_PUZZLE(Space)                                                                                 \
  template PuzzleLabels prolonged_puzzle<Space>(const Space&, const Space::State&, const ProlongedOptions&, \
                                                const Limits&, const Observer&);
HSTAR_PUZZLE(Tiles)
HSTAR_PUZZLE(Pancake)
HSTAR_PUZZLE(Blocks)
#undef HSTAR_PUZZLE

}  // namespace hstar
