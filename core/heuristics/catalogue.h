// All symbolic heuristics by name. One line a heuristic; the name stands in its own file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/relaxed_task.h"
#include "task/planning_space.h"

namespace hstar {

struct HeuristicEntry {
  const HeuristicInfo& info;
  std::unique_ptr<Heuristic> (*make)(const PlanningSpace& space, CostType type);
};

const std::vector<HeuristicEntry>& heuristic_catalogue();

// Throws InputError for an unknown name, UnsupportedError if the task has what it cannot handle, or costs are
// asked for that it does not take.
std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space,
                                          CostType type = CostType::kNormal);

}  // namespace hstar
