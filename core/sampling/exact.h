// Exact h* of every reachable state of a small task: all states by breadth-first search forward, then
// shortest distances from the goal states along the stored arcs backward (Dijkstra). Any task.
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

}  // namespace hstar
