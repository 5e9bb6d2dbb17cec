// grid: cells of a map with obstacles, 4 or 8 neighbours, and what it costs to enter each cell. `lattice` has
// the same map and a heading beside the cell.
//
// Costs are integers, in units of 1/15994428: a straight step into a cell of cost 1 is 15994428 units, a
// diagonal one 22619537. Since 22619537^2 = 2 * 15994428^2 + 1, the ratio of the two is a convergent of the
// root of 2: no fraction with a smaller denominator lies between them. So sums a + b sqrt(2) are in the order
// of their units while b is below 16 million, and equal only if they are the same sum. With doubles the order
// of additions would decide about ties, and labels of equally long ways would differ. Whole costs of cells
// are exact; others are rounded to 6e-8.
//
// A step costs what the cell that it enters costs, times sqrt(2) if it is diagonal; the start is not paid
// for. A diagonal step needs both cells beside it free, as in the benchmarks of Moving AI, unless corners may
// be cut. So a step can be taken back, at another price.
//
// Inside, cells are numbered row by row with a border of obstacles around the map, so that no step needs to
// look at edges. Outside, the border is not there.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/poll.h"

namespace hstar {

using Units = int64_t;
constexpr Units kStraight = 15994428;
constexpr Units kDiagonal = 22619537;
static_assert(kDiagonal * kDiagonal == 2 * kStraight * kStraight + 1);
constexpr Units kMostUnits = Units{1} << 58;  // of a path: nodes keep costs in the upper bits of a word

constexpr double to_cost(Units units) { return static_cast<double>(units) / kStraight; }

struct Place {
  int32_t row;
  int32_t column;
};

// Directions 0..7: north, north-east, ... clockwise; odd ones are diagonal, d ^ 4 is the opposite of d.
class GridMap {
 public:
  static constexpr int kDirections = 8;

  // `blocked`: row by row, not 0 for obstacles. `costs`: of the same size, or empty for 1 everywhere; those
  // of obstacles do not count. Throws an InputError for what is no map; `poll` may end the work.
  GridMap(size_t rows, size_t columns, std::span<const uint8_t> blocked, std::span<const double> costs,
          int neighbours, bool cut_corners, Poll poll = Poll());

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t cells() const { return moves_.size(); }  // with the border
  int neighbours() const { return neighbours_; }
  bool is_free(uint32_t cell) const { return free_[cell] != 0; }

  // Bit d: the step in direction d is possible, and so is the one back.
  uint32_t moves(uint32_t cell) const { return moves_[cell]; }
  uint32_t step(uint32_t cell, int direction) const {
    return cell + static_cast<uint32_t>(offset_[direction]);
  }
  Units cost(uint32_t entered, int direction) const {
    if (price_.empty()) return direction % 2 == 0 ? kStraight : kDiagonal;
    return price_[entered][direction % 2];
  }
  Units least_straight() const { return least_[0]; }
  Units least_diagonal() const { return least_[1]; }
  Units all_cells() const { return all_cells_; }  // to enter each free cell diagonally: no path costs more

  Place place(uint32_t cell) const {
    const uint32_t row = cell / stride_;
    return {static_cast<int32_t>(row) - 1, static_cast<int32_t>(cell - row * stride_) - 1};
  }
  uint32_t cell(Place place) const {
    return (static_cast<uint32_t>(place.row) + 1) * stride_ + static_cast<uint32_t>(place.column) + 1;
  }
  // Its number without the border.
  uint32_t outer(uint32_t cell) const {
    const Place at = place(cell);
    return static_cast<uint32_t>(at.row) * static_cast<uint32_t>(columns_) + static_cast<uint32_t>(at.column);
  }
  // The cell, an InputError unless it is inside and free; `what` names it, as in "start".
  uint32_t checked(int64_t row, int64_t column, const char* what) const;

 private:
  size_t rows_, columns_;
  uint32_t stride_;
  int neighbours_;
  std::array<int32_t, kDirections> offset_;
  std::vector<uint8_t> moves_, free_;
  std::vector<std::array<Units, 2>> price_;  // straight and diagonal; empty: all cells cost 1
  std::array<Units, 2> least_{kStraight, kDiagonal};
  Units all_cells_ = 0;
};

// What searches take: states as numbers, steps in both directions.
//
//   successors(state, visit), predecessors(state, visit): visit(neighbour, move, cost), the cost that of the
//     step in its own direction; moves are small numbers from 1 on
//   before(state, move), after(state, move): where a move leads to the state from, and from the state
//   cell, outer: its cell; its number without the border, with which arrays of values are indexed
class Grid {
 public:
  static constexpr size_t kNumbers = 2;  // row and column

  explicit Grid(std::shared_ptr<const GridMap> map) : map_(std::move(map)) {}

  const GridMap& map() const { return *map_; }
  bool diagonals() const { return map_->neighbours() == 8; }
  size_t states() const { return map_->cells(); }
  size_t outer_states() const { return map_->rows() * map_->columns(); }
  uint32_t cell(uint32_t state) const { return state; }
  uint32_t outer(uint32_t state) const { return map_->outer(state); }
  void numbers(uint32_t state, int32_t* numbers) const {  // what `checked` takes
    const Place place = map_->place(state);
    numbers[0] = place.row;
    numbers[1] = place.column;
  }

  template <class Visit>
  void successors(uint32_t state, Visit&& visit) const {
    for (uint32_t moves = map_->moves(state); moves != 0; moves &= moves - 1) {
      const int direction = std::countr_zero(moves);
      const uint32_t next = map_->step(state, direction);
      visit(next, static_cast<uint32_t>(direction) + 1, map_->cost(next, direction));
    }
  }
  template <class Visit>
  void predecessors(uint32_t state, Visit&& visit) const {
    for (uint32_t moves = map_->moves(state); moves != 0; moves &= moves - 1) {
      const int back = std::countr_zero(moves);
      visit(map_->step(state, back), static_cast<uint32_t>(back ^ 4) + 1, map_->cost(state, back));
    }
  }
  uint32_t before(uint32_t state, uint32_t move) const {
    return map_->step(state, static_cast<int>(move - 1) ^ 4);
  }
  uint32_t after(uint32_t state, uint32_t move) const {
    return map_->step(state, static_cast<int>(move - 1));
  }

  // Row and column; throws an InputError.
  uint32_t checked(std::span<const int64_t> numbers, const char* what) const;
  // The same of a goal, which may be more than one state.
  std::vector<uint32_t> checked_goal(std::span<const int64_t> numbers) const {
    return {checked(numbers, "goal")};
  }

 private:
  std::shared_ptr<const GridMap> map_;
};

}  // namespace hstar
