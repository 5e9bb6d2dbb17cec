// Inputs of networks that are 1 for where a piece lies and 0 elsewhere, for puzzles of any size.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heuristics/gap.h"
#include "heuristics/manhattan.h"
#include "heuristics/misplaced.h"
#include "spaces/blocks.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"

namespace hstar {

// What they share. A node is that of an admissible heuristic that is 0 in the goal alone: of the pieces no
// input is admissible.
template <class Space_, class Distance>
class OneHot {
 public:
  using Space = Space_;
  using Node = typename Distance::Node;

  explicit OneHot(const Space& space) : space_(space), distance_(space_) {}
  OneHot(const OneHot&) = delete;

  const Space& space() const { return space_; }
  float divisor(size_t) const { return 1; }
  void root(const typename Space::State& state, Node& node) const { distance_.root(state, node); }
  bool is_goal(const Node& node) const { return node.h == 0; }
  int32_t admissible(const Node& node) const { return node.h; }

 protected:
  size_t pieces() const { return static_cast<size_t>(space_.size()); }

  Space space_;
  Distance distance_;
};

// For each number, the blank too, a 1 for its column and a 1 for its row. A move changes two columns or two
// rows, of the tile and of the blank, and one row of weights for all four inputs depends only on the tile and
// on which line the blank leaves for which: few enough rows to stay in the first cache.
class OneHotTiles : public OneHot<Tiles, Manhattan> {
 public:
  explicit OneHotTiles(const Tiles& space)
      : OneHot(space),
        steps_(static_cast<size_t>(std::max(space.rows(), space.columns()) * Tiles::kDirections)) {
    for (int cell = 0; cell < space_.cells(); ++cell)
      for (int action = 0; action < Tiles::kDirections; ++action) {
        const int line = is_horizontal(action) ? cell % space_.columns() : cell / space_.columns();
        step_[cell][action] = static_cast<uint8_t>(line * Tiles::kDirections + action);
      }
  }

  size_t size() const { return static_cast<size_t>(space_.cells() * lines()); }
  template <class Put>
  void raw(const Tiles::State& state, const Put& put) const {
    for (int cell = 0; cell < space_.cells(); ++cell) {
      const int first = state.cells[cell] * lines();
      put(static_cast<size_t>(first + cell % space_.columns()), 1);
      put(static_cast<size_t>(first + space_.columns() + cell / space_.columns()), 1);
    }
  }
  template <class Sums>
  void child(const Node& parent, const Tiles::State& before, Tiles::Action action, Node& child,
             Sums& sums) const {
    const size_t tile = before.cells[space_.target(before, action)];
    sums.add(size() + tile * steps_ + step_[before.blank][action]);
    distance_.child(parent, before, action, child);
  }

  size_t rows() const { return size() + static_cast<size_t>(space_.cells()) * steps_; }
  template <class Put>
  void compose(size_t row, const Put& put) const {
    const size_t tile = (row - size()) / steps_, step = (row - size()) % steps_;
    const int action = static_cast<int>(step % Tiles::kDirections);
    const int from = static_cast<int>(step / Tiles::kDirections);
    const int to = from + (action > 1 ? 1 : -1);
    const int most = is_horizontal(action) ? space_.columns() : space_.rows();
    if (from >= most || to < 0 || to >= most) return;  // no such move
    const size_t blank = is_horizontal(action) ? 0 : static_cast<size_t>(space_.columns());
    const size_t moved = tile * static_cast<size_t>(lines()) + blank;
    put(blank + static_cast<size_t>(from), -1);
    put(blank + static_cast<size_t>(to), 1);
    put(moved + static_cast<size_t>(to), -1);
    put(moved + static_cast<size_t>(from), 1);
  }

 private:
  static bool is_horizontal(int action) { return action == 1 || action == 2; }
  int lines() const { return space_.columns() + space_.rows(); }

  size_t steps_;  // from one line to another, possible or not
  std::array<std::array<uint8_t, Tiles::kDirections>, Tiles::kMaxCells> step_{};  // by cell of the blank
};

// For each piece of a permutation a 1 for its place.
template <class Space, class Distance>
class OneHotPlaces : public OneHot<Space, Distance> {
 public:
  using typename OneHot<Space, Distance>::Node;
  using OneHot<Space, Distance>::OneHot;

  size_t size() const { return this->pieces() * this->pieces(); }
  template <class Put>
  void raw(const typename Space::State& state, const Put& put) const {
    for (size_t place = 0; place < this->pieces(); ++place)
      put((state.*Space::kPieces)[place] * this->pieces() + place, 1);
  }
  template <class Sums>
  void child(const Node& parent, const typename Space::State& before, typename Space::Action action,
             Node& child, Sums& sums) const {
    this->space_.for_moved(before, action, [&](int piece, int from, int to) {
      const size_t first = static_cast<size_t>(piece) * this->pieces();
      sums.subtract(first + static_cast<size_t>(from));
      sums.add(first + static_cast<size_t>(to));
    });
    this->distance_.child(parent, before, action, child);
  }
};

// For each block a 1 for what lies under it: the table, then the blocks.
class OneHotBlocks : public OneHot<Blocks, MisplacedBlocks> {
 public:
  using OneHot::OneHot;

  size_t size() const { return pieces() * (pieces() + 1); }
  template <class Put>
  void raw(const Blocks::State& state, const Put& put) const {
    for (size_t block = 1; block <= pieces(); ++block) put(first(block) + state.under[block], 1);
  }
  template <class Sums>
  void child(const Node& parent, const Blocks::State& before, Blocks::Action action, Node& child,
             Sums& sums) const {
    const auto block = static_cast<size_t>(Blocks::block(action));
    sums.subtract(first(block) + before.under[block]);
    sums.add(first(block) + static_cast<size_t>(Blocks::destination(action)));
    distance_.child(parent, before, action, child);
  }

 private:
  size_t first(size_t block) const { return (block - 1) * (pieces() + 1); }
};

}  // namespace hstar
