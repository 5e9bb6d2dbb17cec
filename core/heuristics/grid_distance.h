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

#include "spaces/grid.h"

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
      : space_(space),
        target_(space.map().place(space.cell(target))),
        straight_(space.map().least_straight()),
        corner_(octile ? 2 * straight_ - space.map().least_diagonal() : 0) {}

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

// `values` by outer number of the states, in the units of costs; none of them is NaN.
template <class Space>
class ValueMap {
 public:
  ValueMap(const Space& space, const GridDistance<Space>& lower, const float* values)
      : space_(space), lower_(lower), values_(values) {}
  Units operator()(uint32_t state) const {
    if (lower_(state) == 0) return 0;
    const double value = static_cast<double>(values_[space_.outer(state)]) * kStraight;
    return static_cast<Units>(std::clamp(value, 0.0, static_cast<double>(kMostUnits)));
  }

 private:
  const Space& space_;
  GridDistance<Space> lower_;
  const float* values_;
};

template <class Space>
class BoundedMap {
 public:
  BoundedMap(const Space& space, const GridDistance<Space>& lower, const float* values, double eps)
      : space_(space), lower_(lower), values_(values), eps_(eps) {}
  Units operator()(uint32_t state) const {
    const auto least = static_cast<double>(lower_(state));
    const double value = static_cast<double>(values_[space_.outer(state)]) * kStraight;
    const double most = std::min(eps_ * least, static_cast<double>(kMostUnits));
    return static_cast<Units>(std::min(std::max(value, least), most));  // rounded down: not above the bound
  }

 private:
  const Space& space_;
  GridDistance<Space> lower_;
  const float* values_;
  double eps_;
};

}  // namespace hstar
