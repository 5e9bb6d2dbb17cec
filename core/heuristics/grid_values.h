// Heuristics of grids and lattices for the general searches: blind, manhattan, octile (grid_distance.h says
// when they are admissible), and values of all states, such as a network's.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/grid_distance.h"
#include "heuristics/heuristic.h"
#include "spaces/grid_space.h"

namespace hstar {

template <class Space>
class GridNamedValues final : public Heuristic {
 public:
  GridNamedValues(const GridSearchSpace<Space>& space, std::string name)
      : name_(std::move(name)), distance_(made(space, name_)) {}

  std::string name() const override { return name_; }
  bool admissible() const override { return true; }
  bool consistent() const override { return true; }
  bool safe() const override { return true; }
  size_t grain() const override { return 1024; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) h[i] = static_cast<Cost>(distance_(*batch.packed(i)));
  }

 private:
  static GridDistance<Space> made(const GridSearchSpace<Space>& space, const std::string& name) {
    const GridMap& map = space.grid().map();
    const Units straight = name == "blind" ? 0 : grid_cost(map.least_straight());
    const Units diagonal = name == "octile" ? grid_cost(map.least_diagonal()) : 2 * straight;
    return {space.grid(), space.goal()[0], straight, diagonal};
  }

  std::string name_;
  GridDistance<Space> distance_;
};

// `values` by outer number of the state, infinity for dead ends; none of them is NaN. Goals have 0.
template <class Space>
class GridMapValues final : public Heuristic {
 public:
  GridMapValues(const GridSearchSpace<Space>& space, std::string name, std::vector<float> values)
      : space_(space), name_(std::move(name)), values_(std::move(values)) {}

  std::string name() const override { return name_; }
  bool admissible() const override { return false; }
  bool consistent() const override { return false; }
  bool safe() const override { return false; }
  size_t grain() const override { return 1024; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) {
      const uint32_t* state = batch.packed(i);
      const double value = static_cast<double>(values_[space_.grid().outer(*state)]) * kGridUnit;
      const bool dead = std::isinf(value) && value > 0;
      h[i] = dead ? kDeadEnd : static_cast<Cost>(std::clamp(value, 0.0, static_cast<double>(kMaxCost)));
      if (space_.is_goal(state)) h[i] = 0;
    }
  }

 private:
  const GridSearchSpace<Space>& space_;
  std::string name_;
  std::vector<float> values_;
};

}  // namespace hstar
