// dijkstra: the cost of the cheapest way from a cell of a map to the target, for all cells by one run of
// Dijkstra's algorithm (1959) from the target. Exact on a grid. On a lattice it knows obstacles and costs of
// cells, and turns are free in it: the heuristic of a two-dimensional search that planners for robots use
// (Likhachev and Ferguson, IJRR 2009). Admissible and consistent.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <vector>

#include "base/bucket_queue.h"
#include "base/control.h"
#include "heuristics/grid_distance.h"
#include "heuristics/heuristic.h"
#include "spaces/grid_space.h"

namespace hstar {

constexpr int64_t kNoWay = kMostUnits;

// By cell, kNoWay where there is none. `price(units)` is what a step costs; `pause(work)` is called with
// rough counts of microseconds, and may throw.
template <class Price, class Pause>
std::vector<int64_t> cell_distances(const GridMap& map, uint32_t target, const Price& price, Pause&& pause) {
  std::vector<int64_t> distance(map.cells(), kNoWay);
  std::vector<bool> closed(map.cells());
  BucketQueue queue(price(map.least_straight()), false);
  distance[target] = 0;
  queue.push(0, 0, target);
  while (!queue.empty()) {
    const uint32_t cell = queue.pop();
    if (closed[cell]) continue;
    closed[cell] = true;
    pause(1);
    for (uint32_t moves = map.moves(cell); moves != 0; moves &= moves - 1) {
      const int direction = std::countr_zero(moves);
      // The step back enters this cell.
      const uint32_t before = map.step(cell, direction);
      const int64_t found = distance[cell] + price(map.cost(cell, direction ^ 4));
      if (found >= distance[before]) continue;
      distance[before] = found;
      queue.push(found, 0, before);
    }
  }
  return distance;
}

// The same within a search, whose limits may end it.
template <class Price>
std::vector<int64_t> limited_distances(const GridMap& map, uint32_t target, const Price& price) {
  const Control* control = Control::active();
  if (control && !control->allows(map.cells() * sizeof(int64_t))) throw std::bad_alloc();
  return cell_distances(map, target, price, [](uint32_t work) { keep_limits(work); });
}

// For A* on maps: values in units, from a table that outlives it.
template <class Space>
class CellDistance {
 public:
  CellDistance(const Space& space, const std::vector<int64_t>& distances)
      : space_(space), distances_(distances) {}
  Units operator()(uint32_t state) const { return distances_[space_.cell(state)]; }

 private:
  const Space& space_;
  const std::vector<int64_t>& distances_;
};

// The same, at most eps times the distance without obstacles: what a network can be at best whose values are
// bounded so.
template <class Space>
class CappedDistance {
 public:
  CappedDistance(CellDistance<Space> exact, GridDistance<Space> lower, double eps)
      : exact_(exact), lower_(lower), eps_(eps) {}
  Units operator()(uint32_t state) const {
    const double most = std::min(eps_ * static_cast<double>(lower_(state)), static_cast<double>(kMostUnits));
    return std::min(exact_(state), static_cast<Units>(most));
  }

 private:
  CellDistance<Space> exact_;
  GridDistance<Space> lower_;
  double eps_;
};

// For the general searches: a table in their units, which the first of them to ask for a value makes.
template <class Space>
std::unique_ptr<Heuristic> cell_heuristic(const GridSearchSpace<Space>& space) {
  return grid_values(
      {"dijkstra", true, true, true}, [&space, distances = std::vector<int64_t>()](uint32_t state) mutable {
        const Space& grid = space.grid();
        if (distances.empty())
          distances = limited_distances(grid.map(), grid.cell(space.goal()[0]), grid_cost);
        const int64_t value = distances[grid.cell(state)];
        return value == kNoWay ? kDeadEnd : static_cast<Cost>(std::min<int64_t>(value, kMaxCost));
      });
}

}  // namespace hstar
