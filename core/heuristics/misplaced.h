// misplaced: tiles that are not in their place, or blocks that do not lie on what they lie on in the goal.
// Admissible and consistent: a move changes that for one tile or block.
//
// There is none for pancakes: one flip can put all of them in place.
#pragma once

#include <cstdint>

#include "heuristics/incremental.h"
#include "spaces/blocks.h"
#include "spaces/tiles.h"

namespace hstar {

class MisplacedTiles {
 public:
  static constexpr const char* kName = "misplaced";
  using Node = ValueNode;

  explicit MisplacedTiles(const Tiles& space) : space_(space) {}

  int32_t root(const Tiles::State& state, Node& node) const {
    node.h = 0;
    for (int cell = 0; cell < space_.cells(); ++cell) {
      const int tile = state.cells[cell];
      node.h += tile != 0 && tile != cell;
    }
    return node.h;
  }
  int32_t child(const Node& parent, const Tiles::State& before, Tiles::Action action, Node& child) const {
    const int from = space_.target(before, action);
    const int tile = before.cells[from];
    return child.h = parent.h + (tile != before.blank) - (tile != from);
  }

 private:
  const Tiles& space_;
};

class MisplacedBlocks {
 public:
  static constexpr const char* kName = "misplaced";
  using Node = ValueNode;

  explicit MisplacedBlocks(const Blocks& space) : MisplacedBlocks(space, space.goal()) {}
  // Towards another state than the goal.
  MisplacedBlocks(const Blocks& space, const Blocks::State& target) : size_(space.size()), goal_(target) {}

  int32_t root(const Blocks::State& state, Node& node) const {
    node.h = 0;
    for (size_t block = 1; block <= static_cast<size_t>(size_); ++block)
      node.h += state.under[block] != goal_.under[block];
    return node.h;
  }
  int32_t child(const Node& parent, const Blocks::State& before, Blocks::Action action, Node& child) const {
    const auto block = static_cast<size_t>(Blocks::block(action));
    const int wanted = goal_.under[block];
    return child.h = parent.h + (Blocks::destination(action) != wanted) - (before.under[block] != wanted);
  }

 private:
  int size_;
  Blocks::State goal_;
};

}  // namespace hstar
