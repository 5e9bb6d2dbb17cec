#include "spaces/lattice.h"

#include <cmath>
#include <string>

#include "base/errors.h"

namespace hstar {

Lattice::Lattice(std::shared_ptr<const GridMap> map, int headings, double turn_cost)
    : map_(std::move(map)), bits_(headings == 8 ? 3 : 2), mask_(static_cast<uint32_t>(headings) - 1) {
  if (headings != 4 && headings != 8)
    throw InputError("a lattice has 4 or 8 headings, got " + std::to_string(headings));
  if (headings == 8 && map_->neighbours() != 8) throw InputError("8 headings need a map with 8 neighbours");
  if (!(turn_cost >= 0 && turn_cost <= 1e6))
    throw InputError("the cost of a turn is a number from 0 to 1e6, got " + std::to_string(turn_cost));
  turn_ = std::llround(turn_cost * kStraight);
  const double states = static_cast<double>(this->states());
  const double most = static_cast<double>(map_->all_cells()) * headings + states * static_cast<double>(turn_);
  if (most > static_cast<double>(kMostUnits))
    throw InputError("the costs of all steps and turns together are above 1.8e10, the most of a path");
}

uint32_t Lattice::checked(std::span<const int64_t> numbers, const char* what) const {
  if (numbers.size() != kNumbers)
    throw InputError(std::string(what) + " must be a row, a column and a heading, got " +
                     std::to_string(numbers.size()) + " numbers");
  const uint32_t cell = map_->checked(numbers[0], numbers[1], what);
  if (numbers[2] < 0 || numbers[2] >= headings())
    throw InputError(std::string(what) + " has the heading " + std::to_string(numbers[2]) +
                     ", which is not in 0.." + std::to_string(headings() - 1));
  return cell << bits_ | static_cast<uint32_t>(numbers[2]);
}

std::vector<uint32_t> Lattice::checked_goal(std::span<const int64_t> numbers) const {
  if (numbers.size() != kNumbers || numbers[2] != kAnyHeading) return {checked(numbers, "goal")};
  const uint32_t first = map_->checked(numbers[0], numbers[1], "goal") << bits_;
  std::vector<uint32_t> states;
  for (uint32_t heading = 0; heading <= mask_; ++heading) states.push_back(first | heading);
  return states;
}

}  // namespace hstar
