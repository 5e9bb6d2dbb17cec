// dijkstra: the cost of the cheapest way from a cell of a map to the target, for all cells by one run of
// Dijkstra's algorithm (1959) from the target. Exact on a grid. On a lattice it knows obstacles and costs of
// cells, and turns are free in it: the heuristic of a two-dimensional search that planners for robots use
// (Likhachev and Ferguson, IJRR 2009). Admissible and consistent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

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
  using Entry = std::pair<int64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[target] = 0;
  queue.emplace(0, target);
  while (!queue.empty()) {
    const auto [cost, cell] = queue.top();
    queue.pop();
    if (cost > distance[cell]) continue;
    pause(1);
    const uint32_t moves = map.moves(cell);
    for (int direction = 0; direction < GridMap::kDirections; ++direction) {
      if (!(moves >> direction & 1)) continue;
      // The step back enters this cell.
      const uint32_t before = map.step(cell, direction);
      const int64_t found = cost + price(map.cost(cell, direction ^ 4));
      if (found >= distance[before]) continue;
      distance[before] = found;
      queue.emplace(found, before);
    }
  }
  return distance;
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

// For the general searches: a table in their units.
template <class Space>
class GridCellValues final : public Heuristic {
 public:
  GridCellValues(const GridSearchSpace<Space>& space, std::vector<int64_t> distances)
      : Heuristic({"dijkstra", true, true, true}), space_(space), distances_(std::move(distances)) {}

  size_t grain() const override { return 1024; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) {
      const int64_t value = distances_[space_.grid().cell(*batch.packed(i))];
      h[i] = value == kNoWay ? kDeadEnd : static_cast<Cost>(std::min<int64_t>(value, kMaxCost));
    }
  }

 private:
  const GridSearchSpace<Space>& space_;
  std::vector<int64_t> distances_;
};

}  // namespace hstar
