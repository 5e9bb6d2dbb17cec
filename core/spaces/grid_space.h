// A grid or a lattice with its goal, as the general searches see it. A* on maps has an engine of its own
// (search/grid_astar.h), in which a node is a word of an array.
//
// The general engines have costs of 32 bits, so units are coarser here: a straight step is 2378, a diagonal
// one 3363. Since 3363^2 = 2 * 2378^2 + 1, the ratio is again a convergent of the root of 2, with an error of
// 6e-8; costs of cells are rounded to 1/2378. Paths may cost up to 225,000 steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/errors.h"
#include "spaces/grid.h"
#include "spaces/lattice.h"
#include "spaces/search_space.h"

namespace hstar {

constexpr Cost kGridUnit = 2378;
inline Cost grid_cost(Units units) {
  const Units rounded = (units * kGridUnit + kStraight / 2) / kStraight;
  if (rounded > kMaxCost) throw UnsupportedError("costs of cells above 225000 need the search astar");
  return static_cast<Cost>(rounded);
}
static_assert((kDiagonal * kGridUnit + kStraight / 2) / kStraight == 3363);

template <class Space>
class GridSearchSpace final : public SearchSpace {
 public:
  GridSearchSpace(Space space, std::vector<uint32_t> goal)
      : space_(std::move(space)), goal_(std::move(goal)) {}

  const Space& grid() const { return space_; }
  const std::vector<uint32_t>& goal() const { return goal_; }
  size_t words() const override { return 1; }
  size_t width() const override { return Space::kNumbers; }
  Cost unit() const override { return kGridUnit; }
  void pack(const Value* values, uint32_t* packed) const override {
    *packed = space_.checked(std::vector<int64_t>(values, values + width()), "state");
  }
  void unpack(const uint32_t* packed, Value* values) const override { space_.numbers(*packed, values); }
  void expand(const uint32_t* packed, size_t n, Expansion& expansion) const override {
    expansion.clear();
    expansion.states.clear();
    for (size_t i = 0; i < n; ++i) {
      space_.successors(packed[i], [&](uint32_t next, uint32_t move, Units cost) {
        expansion.operators.push_back(static_cast<int32_t>(move));
        expansion.costs.push_back(grid_cost(cost));
        expansion.states.push_back(next);
      });
      expansion.ends.push_back(static_cast<uint32_t>(expansion.size()));
    }
  }
  void goals(const uint32_t* packed, size_t n, char* is_goal) const override {
    for (size_t i = 0; i < n; ++i)
      is_goal[i] = std::find(goal_.begin(), goal_.end(), packed[i]) != goal_.end();
  }

 private:
  Space space_;
  std::vector<uint32_t> goal_;
};

}  // namespace hstar
