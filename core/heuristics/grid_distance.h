// Heuristics of grids and lattices, as parts of templates: a call gives units for a state, 0 at the target.
//
// manhattan (4 neighbours) and octile (8): the cost of the way to a cell without obstacles, where every cell
// costs what the cheapest one does. Turns of a lattice are free in it. Admissible and consistent, in both
// directions: every step enters a cell.
//
// A value map, what a network says about all states at once, comes as it is, or bounded by
// min(max(lower, value), eps * lower): then no value is above eps times the true cost, and a search that
// re-opens finds paths that cost at most eps times the optimum. Bounded values are not consistent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "heuristics/heuristic.h"
#include "spaces/grid_space.h"

namespace hstar {

template <class Space>
class BlindGrid {
 public:
  Units operator()(uint32_t) const { return 0; }
};

template <class Space>
class GridDistance {
 public:
  // With `octile` false it is manhattan, which is admissible only without diagonal steps.
  GridDistance(const Space& space, uint32_t target, bool octile)
      : GridDistance(space, target, space.map().least_straight(),
                     octile ? space.map().least_diagonal() : 2 * space.map().least_straight()) {}
  // In any units: what a straight and a diagonal step cost at least.
  GridDistance(const Space& space, uint32_t target, Units straight, Units diagonal)
      : space_(space),
        target_(space.map().place(space.cell(target))),
        straight_(straight),
        corner_(2 * straight - diagonal) {}

  Units operator()(uint32_t state) const {
    const Place place = space_.map().place(space_.cell(state));
    const Units rows = std::abs(place.row - target_.row), columns = std::abs(place.column - target_.column);
    return (rows + columns) * straight_ - std::min(rows, columns) * corner_;
  }

 private:
  const Space& space_;
  Place target_;
  Units straight_;
  Units corner_;  // what a diagonal step saves
};

// w times a heuristic, for weighted A*.
template <class Heuristic>
class Weighted {
 public:
  Weighted(Heuristic heuristic, double weight) : heuristic_(heuristic), weight_(weight) {}
  Units operator()(uint32_t state) const {
    return static_cast<Units>(std::min(weight_ * static_cast<double>(heuristic_(state)), kMost));
  }

 private:
  static constexpr double kMost = static_cast<double>(kMostUnits);
  Heuristic heuristic_;
  double weight_;
};

// `values` by outer number of the states, in the units of costs; none of them is NaN. Bounded or not, see
// above; 0 at the target.
template <class Space, bool kBounded>
class ValueMap {
 public:
  ValueMap(const Space& space, const GridDistance<Space>& lower, const float* values, double eps = 1)
      : space_(space), lower_(lower), values_(values), eps_(eps) {}
  Units operator()(uint32_t state) const {
    const auto least = static_cast<double>(lower_(state));
    if (!kBounded && least == 0) return 0;
    const double value = static_cast<double>(values_[space_.outer(state)]) * kStraight;
    const double most = kBounded ? std::min(eps_ * least, kMost) : kMost;
    return static_cast<Units>(std::min(std::max(value, kBounded ? least : 0.0), most));  // rounded down
  }

 private:
  static constexpr double kMost = static_cast<double>(kMostUnits);
  const Space& space_;
  GridDistance<Space> lower_;
  const float* values_;
  double eps_;
};

// A heuristic of the general searches: `value` gives the costs of states in their units.
template <class Value>
class GridValues final : public Heuristic {
 public:
  GridValues(Claims claims, Value value) : Heuristic(std::move(claims)), value_(std::move(value)) {}

  size_t grain() const override { return 1024; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) h[i] = value_(*batch.packed(i));
  }

 private:
  Value value_;
};
template <class Value>
std::unique_ptr<Heuristic> grid_values(Claims claims, Value value) {
  return std::make_unique<GridValues<Value>>(std::move(claims), std::move(value));
}

// blind, manhattan or octile.
template <class Space>
std::unique_ptr<Heuristic> grid_heuristic(const GridSearchSpace<Space>& space, const std::string& name) {
  const GridMap& map = space.grid().map();
  const Units straight = name == "blind" ? 0 : grid_cost(map.least_straight());
  const Units diagonal = name == "octile" ? grid_cost(map.least_diagonal()) : 2 * straight;
  const GridDistance<Space> distance(space.grid(), space.goal()[0], straight, diagonal);
  return grid_values({name, true, true, true},
                     [=](uint32_t state) { return static_cast<Cost>(distance(state)); });
}

// `values` by outer number of the state, infinity for dead ends; none of them is NaN. Goals have 0.
template <class Space>
std::unique_ptr<Heuristic> grid_heuristic(const GridSearchSpace<Space>& space, const std::string& name,
                                          std::vector<float> values) {
  return grid_values({name}, [&space, values = std::move(values)](uint32_t state) {
    if (space.is_goal(&state)) return 0;
    const double value = static_cast<double>(values[space.grid().outer(state)]) * kGridUnit;
    if (std::isinf(value) && value > 0) return kDeadEnd;
    return static_cast<Cost>(std::clamp(value, 0.0, static_cast<double>(kMaxCost)));
  });
}

}  // namespace hstar
