// Distances to the goal without regression: states by breadth-first search forward, then shortest distances
// from the goal states along the stored arcs backward (Dijkstra). Any task. Of every reachable state of a
// small task that is h*; of some states of a large one an upper bound.
#pragma once

#include <cstdint>
#include <vector>

#include "base/poll.h"
#include "task/planning_space.h"

namespace hstar {

struct ExactDistances {
  std::vector<Value> values;  // of all variables, state by state, in order of discovery
  std::vector<double> h;      // infinite for dead ends
};

// Throws UnsupportedError if more than `max_states` states are reachable from `start`.
ExactDistances exact_distances(const PlanningSpace& space, const std::vector<Value>& start, bool unit_cost,
                               size_t max_states, Poll& poll);

// Of the `states` that breadth-first search from `starts` expands first: lengths of the shortest plans among
// them. Infinite where there is none, although there may be one through others.
ExactDistances forward_distances(const PlanningSpace& space, const std::vector<std::vector<Value>>& starts,
                                 size_t states, Poll& poll);

}  // namespace hstar
