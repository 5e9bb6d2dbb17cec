// Random walks: starts for evaluation and validation, as Ferber, Helmert and Hoffmann (ECAI 2020) make them.
// Each step is an applicable operator, all equally likely; a walk ends early where there is none. Any task.
#pragma once

#include <cstdint>
#include <vector>

#include "base/poll.h"
#include "task/planning_space.h"

namespace hstar {

struct WalkConfig {
  size_t walks = 50;
  int32_t min_length = 200;  // the length of a walk is uniform in [min_length, max_length]
  int32_t max_length = 200;
  uint64_t seed = 0;
};

// The values of the last states, one walk after the other. Walk i depends on the seed and i only.
std::vector<Value> random_walks(const PlanningSpace& space, const std::vector<Value>& start,
                                const WalkConfig& config, Poll& poll);

}  // namespace hstar
