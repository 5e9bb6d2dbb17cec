#include "sampling/prolonged.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/errors.h"
#include "base/segmented.h"
#include "heuristics/gap.h"
#include "heuristics/grid_distance.h"
#include "heuristics/manhattan.h"
#include "heuristics/misplaced.h"
#include "spaces/blocks.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"
#include "task/state_registry.h"

namespace hstar {
namespace {

// A* over a puzzle, whose predecessors are its successors; states by their numbers in a registry.
template <Puzzle Space, IncrementalHeuristic<Space> Heuristic>
class PuzzleAStar {
 public:
  using State = typename Space::State;
  static constexpr uint32_t kNone = ~uint32_t{0};

  PuzzleAStar(const Space& space, const Heuristic& heuristic, const Control& control)
      : space_(space),
        heuristic_(heuristic),
        control_(control),
        registry_(space.words()),
        packed_(space.words()),
        queue_(1) {}

  // The number of a state, seen or not; kNone if the limit of memory forbids a new one.
  uint32_t number(const State& state) {
    if (const size_t more = registry_.bytes_if_full(); more && !control_.allows(more)) return kNone;
    space_.pack(state, packed_.data());
    const auto [id, is_new] = registry_.insert(packed_.data(), registry_.hash(packed_.data()));
    if (is_new) nodes_.push_back({});
    return id;
  }
  State state(uint32_t id) const { return space_.unpack(registry_[id]); }

  void add_root(uint32_t id) {
    typename Heuristic::Node node;
    ++counts_.evaluated;
    open(id, id, 0, heuristic_.root(state(id), node));
  }
  uint32_t pop() {
    while (!queue_.empty()) {
      const uint32_t id = queue_.pop();
      if (nodes_[id].closed) continue;
      nodes_[id].closed = true;
      ++counts_.expanded;
      return id;
    }
    return kNone;
  }
  // False if the limit of memory left something out.
  bool expand(uint32_t id) {
    const State before = state(id);
    const int32_t g = nodes_[id].g + 1;
    typename Heuristic::Node node, child;
    heuristic_.root(before, node);
    for (const auto action : space_.actions(before, buffer_)) {
      ++counts_.generated;
      State after = before;
      space_.apply(after, action);
      const uint32_t next = number(after);
      if (next == kNone) return false;
      const Node& known = nodes_[next];
      if (known.g != kUnseen && known.g <= g) continue;
      int32_t h = known.h;
      if (known.g == kUnseen) {
        ++counts_.evaluated;
        h = heuristic_.child(node, before, action, child);
      }
      open(next, id, g, h);
    }
    return true;
  }

  int32_t g(uint32_t id) const { return nodes_[id].g; }
  bool is_open(uint32_t id) const { return nodes_[id].g != kUnseen && !nodes_[id].closed; }
  size_t size() const { return registry_.size(); }
  const Counts& counts() const { return counts_; }

  std::vector<uint32_t> path(uint32_t id) const {
    std::vector<uint32_t> ids{id};
    for (; nodes_[id].parent != id; id = nodes_[id].parent) ids.push_back(nodes_[id].parent);
    return ids;
  }

 private:
  static constexpr int32_t kUnseen = -1;
  struct Node {
    uint32_t parent = kNone;  // of the root: itself
    int32_t g = kUnseen;
    int32_t h = 0;
    bool closed = false;
  };

  void open(uint32_t id, uint32_t parent, int32_t g, int32_t h) {
    nodes_[id] = {parent, g, h, false};
    queue_.push(g + h, static_cast<uint32_t>(h), id);
  }

  const Space& space_;
  const Heuristic& heuristic_;
  const Control& control_;
  StateRegistry registry_;
  Segmented<Node> nodes_;
  std::vector<uint32_t> packed_;
  [[no_unique_address]] typename Space::Buffer buffer_;
  BucketQueue queue_;
  Counts counts_;
};

// The states that were closed, in order.
template <class Search>
std::vector<uint32_t> prolong(Search& search, uint32_t start, double k_pr, Control& control,
                              ProlongedLabels& labels) {
  std::vector<uint32_t> closed;
  GridPoll poll(control);
  double most = std::numeric_limits<double>::infinity();
  labels.status = Status::kSolved;
  while (static_cast<double>(closed.size()) < most) {
    if (poll(search.counts())) {
      labels.status = control.status();
      break;
    }
    // 1. Close the best open state.
    const uint32_t state = search.pop();
    if (state == Search::kNone) {
      if (!labels.reached) labels.status = Status::kUnsolvable;
      break;
    }
    closed.push_back(state);
    // 2. At the start it is known how many more there will be.
    if (state == start) {
      labels.reached = true;
      most = k_pr * static_cast<double>(closed.size());
    }
    // 3. Its predecessors.
    if (!search.expand(state)) {
      labels.status = Status::kMemoryLimit;
      break;
    }
  }
  labels.counts = search.counts();
  labels.exact = closed.size();
  return closed;
}

// Runs `work` with a control, which is asked before and timed after.
template <class Work>
void controlled(const ProlongedOptions& options, const Limits& limits, const Observer& observer,
                ProlongedLabels& labels, const Work& work) {
  if (!(options.k_pr >= 1)) throw InputError("k_pr must be a number from 1 on");
  Control control(limits, observer, 1);
  try {
    if (control.stopped_at_start())
      labels.status = control.status();
    else
      work(control);
  } catch (const std::bad_alloc&) {
    labels.status = Status::kMemoryLimit;
  }
  labels.search_time_s = control.elapsed_s();
  labels.cpu_time_s = control.cpu_s();
}

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
  PuzzleAStar<Space, Heuristic> search(space, heuristic, control);
  const uint32_t start = search.number(towards.target);
  search.add_root(search.number(towards.inner(space.goal())));
  const std::vector<uint32_t> closed = prolong(search, start, options.k_pr, control, labels);
  const auto write = [&](uint32_t id, std::vector<uint8_t>& states, std::vector<int32_t>& label) {
    for (const int value : space.values(towards.outer(search.state(id))))
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
