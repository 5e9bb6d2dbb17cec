// All symbolic heuristics by name.
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

// Of a class with `info`.
template <class H>
constexpr HeuristicEntry entry() {
  return {H::info, [](const PlanningSpace& space) -> std::unique_ptr<Heuristic> {
            return std::make_unique<H>(space);
          }};
}

// Each stands, with its name, in its own file.
extern const HeuristicEntry blind_entry, goalcount_entry, hmax_entry, add_entry, ff_entry, lmcut_entry;

const std::vector<HeuristicEntry>& heuristic_catalogue();

// Throws InputError for an unknown name, UnsupportedError if the task has what it cannot handle.
std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space);

}  // namespace hstar
