// All symbolic heuristics by name. One line a heuristic; the name stands in its own file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heuristics/heuristic.h"
#include "task/planning_space.h"

namespace hstar {

struct HeuristicEntry {
  const HeuristicInfo& info;
  std::unique_ptr<Heuristic> (*make)(const PlanningSpace& space);
};

const std::vector<HeuristicEntry>& heuristic_catalogue();

// Throws InputError for an unknown name, UnsupportedError if the task has what it cannot handle.
std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space);

}  // namespace hstar
