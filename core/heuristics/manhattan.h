// manhattan: rows and columns between each tile and its place, summed; the blank does not count.
// Admissible and consistent: a move carries one tile one cell far.
#pragma once

#include <array>
#include <cstdint>

#include "heuristics/incremental.h"
#include "spaces/tiles.h"

namespace hstar {

class Manhattan {
 public:
  static constexpr const char* kName = "manhattan";
  using Node = ValueNode;

  explicit Manhattan(const Tiles& space) : Manhattan(space, space.goal()) {}
  // Towards another state than the goal.
  Manhattan(const Tiles& space, const Tiles::State& target) : space_(space) {
    for (int place = 0; place < space.cells(); ++place) {
      const size_t tile = target.cells[place];
      if (tile == 0) continue;
      for (int cell = 0; cell < space.cells(); ++cell)
        distance_[tile][cell] = static_cast<int8_t>(space.distance(place, cell));
    }
  }

  int32_t root(const Tiles::State& state, Node& node) const {
    node.h = 0;
    for (size_t cell = 0; cell < static_cast<size_t>(space_.cells()); ++cell)
      node.h += distance_[state.cells[cell]][cell];
    return node.h;
  }
  int32_t child(const Node& parent, const Tiles::State& before, Tiles::Action action, Node& child) const {
    const auto from = static_cast<size_t>(space_.target(before, action));
    const auto& distance = distance_[before.cells[from]];
    return child.h = parent.h + distance[before.blank] - distance[from];
  }

 private:
  const Tiles& space_;
  // By tile and cell; 0 for the blank.
  std::array<std::array<int8_t, Tiles::kMaxCells>, Tiles::kMaxCells> distance_{};
};

}  // namespace hstar
