// What a heuristic of a native puzzle gives: values that follow moves.
//
// The searches of puzzles are templates over space and heuristic, so that there is no virtual call a state:
// this is the contract that `heuristic.h` is for planning tasks. A heuristic keeps what it knows about a
// state in a `Node`, one for each level of a depth-first search: a sum, indices of pattern databases, or the
// first layer of a network. `child` makes the node of a successor from its parent's, before the move is
// applied; most successors are cut off, and these moves are never made. Undoing is going back to the parent's
// node.
#pragma once

#include <concepts>
#include <cstdint>

#include "spaces/puzzle.h"

namespace hstar {

// `root` and `child` fill the node and return the value, 0 or more, in moves. `before` is the parent's state;
// `child` is called with moves that are possible there, and `parent` and `child` are never the same node.
template <class H, class Space>
concept IncrementalHeuristic =
    std::default_initializable<typename H::Node> &&
    requires(const H& heuristic, const typename H::Node& parent, typename H::Node& child,
             const typename Space::State& before, typename Space::Action action) {
      { heuristic.root(before, child) } -> std::same_as<int32_t>;
      { heuristic.child(parent, before, action, child) } -> std::same_as<int32_t>;
    };

// The node of a heuristic that follows moves by its value alone.
struct ValueNode {
  int32_t h = 0;
};

// blind: 0 for every state, which leaves plain iterative deepening.
template <class Space>
class BlindPuzzle {
 public:
  static constexpr const char* kName = "blind";
  struct Node {};

  explicit BlindPuzzle(const Space&) {}
  int32_t root(const typename Space::State&, Node&) const { return 0; }
  int32_t child(const Node&, const typename Space::State&, typename Space::Action, Node&) const { return 0; }
};

}  // namespace hstar
