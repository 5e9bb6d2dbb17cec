// lattice: a cell of a grid and a heading, one of 4 or of 8. A move goes one cell ahead, at the price of the
// cell that it enters, or turns by one heading on the spot, at the price of a turn.
//
// Unlike those of a grid, steps ahead cannot be taken back at once, so that successors and predecessors of a
// state differ. Headings count clockwise from north.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "spaces/grid.h"

namespace hstar {

class Lattice {
 public:
  static constexpr size_t kNumbers = 3;  // row, column and heading
  static constexpr int64_t kAnyHeading = -1;

  // 8 headings need a map with 8 neighbours. Throws an InputError.
  Lattice(std::shared_ptr<const GridMap> map, int headings, double turn_cost)
      : map_(std::move(map)), bits_(headings == 8 ? 3 : 2), mask_(static_cast<uint32_t>(headings) - 1) {
    if (headings != 4 && headings != 8)
      throw InputError("a lattice has 4 or 8 headings, got " + std::to_string(headings));
    if (headings == 8 && map_->neighbours() != 8) throw InputError("8 headings need a map with 8 neighbours");
    if (!(turn_cost >= 0 && turn_cost <= 1e6))
      throw InputError("the cost of a turn is a number from 0 to 1e6, got " + std::to_string(turn_cost));
    turn_ = std::llround(turn_cost * kStraight);
    const double states = static_cast<double>(this->states());
    const double most =
        static_cast<double>(map_->all_cells()) * headings + states * static_cast<double>(turn_);
    if (most > static_cast<double>(kMostUnits))
      throw InputError("the costs of all steps and turns together are above 1.8e10, the most of a path");
  }

  const GridMap& map() const { return *map_; }
  int headings() const { return 1 << bits_; }
  bool diagonals() const { return bits_ == 3; }
  size_t states() const { return map_->cells() << bits_; }
  size_t outer_states() const { return (map_->rows() * map_->columns()) << bits_; }
  uint32_t cell(uint32_t state) const { return state >> bits_; }
  int heading(uint32_t state) const { return static_cast<int>(state & mask_); }
  uint32_t outer(uint32_t state) const { return map_->outer(cell(state)) << bits_ | (state & mask_); }
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

  uint32_t checked(std::span<const int64_t> numbers, const char* what) const {
    if (numbers.size() != kNumbers)
      throw InputError(std::string(what) + " must be a row, a column and a heading, got " +
                       std::to_string(numbers.size()) + " numbers");
    const uint32_t cell = map_->checked(numbers[0], numbers[1], what);
    if (numbers[2] < 0 || numbers[2] >= headings())
      throw InputError(std::string(what) + " has the heading " + std::to_string(numbers[2]) +
                       ", which is not in 0.." + std::to_string(headings() - 1));
    return cell << bits_ | static_cast<uint32_t>(numbers[2]);
  }
  // KAnyHeading for all.
  std::vector<uint32_t> checked_goal(std::span<const int64_t> numbers) const {
    if (numbers.size() != kNumbers || numbers[2] != kAnyHeading) return {checked(numbers, "goal")};
    const uint32_t first = map_->checked(numbers[0], numbers[1], "goal") << bits_;
    std::vector<uint32_t> states;
    for (uint32_t heading = 0; heading <= mask_; ++heading) states.push_back(first | heading);
    return states;
  }

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
