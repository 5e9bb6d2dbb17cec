// lattice: a cell of a grid and a heading, one of 4 or of 8. A move goes one cell ahead, at the price of the
// cell that it enters, or turns by one heading on the spot, at the price of a turn.
//
// Unlike those of a grid, steps ahead cannot be taken back at once, so that successors and predecessors of a
// state differ. Headings count clockwise from north.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spaces/grid.h"

namespace hstar {

class Lattice {
 public:
  static constexpr size_t kNumbers = 3;  // row, column and heading
  static constexpr int64_t kAnyHeading = -1;

  // 8 headings need a map with 8 neighbours. Throws an InputError.
  Lattice(std::shared_ptr<const GridMap> map, int headings, double turn_cost);

  const GridMap& map() const { return *map_; }
  int headings() const { return 1 << bits_; }
  bool diagonals() const { return bits_ == 3; }
  size_t states() const { return map_->cells() << bits_; }
  size_t outer_states() const { return (map_->rows() * map_->columns()) << bits_; }
  uint32_t cell(uint32_t state) const { return state >> bits_; }
  int heading(uint32_t state) const { return static_cast<int>(state & mask_); }
  uint32_t outer(uint32_t state) const {
    const Place place = map_->place(cell(state));
    const uint32_t at = static_cast<uint32_t>(place.row) * static_cast<uint32_t>(map_->columns()) +
                        static_cast<uint32_t>(place.column);
    return at << bits_ | (state & mask_);
  }
  void numbers(uint32_t state, int32_t* numbers) const {
    const Place place = map_->place(cell(state));
    numbers[0] = place.row;
    numbers[1] = place.column;
    numbers[2] = heading(state);
  }

  template <class Visit>
  void successors(uint32_t state, Visit&& visit) const {
    const int ahead = direction(state);
    if (map_->moves(cell(state)) >> ahead & 1) {
      const uint32_t next = map_->step(cell(state), ahead);
      visit(next << bits_ | (state & mask_), kAhead, map_->cost(next, ahead));
    }
    visit(turned(state, mask_), kLeft, turn_);
    visit(turned(state, 1), kRight, turn_);
  }
  template <class Visit>
  void predecessors(uint32_t state, Visit&& visit) const {
    const int ahead = direction(state);
    if (map_->moves(cell(state)) >> (ahead ^ 4) & 1)
      visit(before(state, kAhead), kAhead, map_->cost(cell(state), ahead));
    visit(turned(state, 1), kLeft, turn_);
    visit(turned(state, mask_), kRight, turn_);
  }
  uint32_t before(uint32_t state, uint32_t move) const {
    if (move != kAhead) return turned(state, move == kLeft ? 1 : mask_);
    return map_->step(cell(state), direction(state) ^ 4) << bits_ | (state & mask_);
  }
  uint32_t after(uint32_t state, uint32_t move) const {
    if (move != kAhead) return turned(state, move == kLeft ? mask_ : 1);
    return map_->step(cell(state), direction(state)) << bits_ | (state & mask_);
  }

  uint32_t checked(std::span<const int64_t> numbers, const char* what) const;
  std::vector<uint32_t> checked_goal(std::span<const int64_t> numbers) const;  // kAnyHeading for all

 private:
  static constexpr uint32_t kAhead = 1, kLeft = 2, kRight = 3;

  int direction(uint32_t state) const { return heading(state) << (3 - bits_); }
  uint32_t turned(uint32_t state, uint32_t by) const { return (state & ~mask_) | ((state + by) & mask_); }

  std::shared_ptr<const GridMap> map_;
  int bits_;
  uint32_t mask_;
  Units turn_;
};

}  // namespace hstar
