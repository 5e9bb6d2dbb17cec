// All symbolic heuristics by name.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/errors.h"
#include "heuristics/heuristic.h"
#include "heuristics/relaxed_task.h"
#include "task/planning_space.h"

namespace hstar {

struct HeuristicEntry {
  const HeuristicInfo& info;
  std::unique_ptr<Heuristic> (*make)(const PlanningSpace& space, CostType type);
};

// Of a class with `info`. Some take other costs than those of the task.
template <class H>
constexpr HeuristicEntry entry() {
  return {H::info, [](const PlanningSpace& space, CostType type) -> std::unique_ptr<Heuristic> {
            if constexpr (std::is_constructible_v<H, const PlanningSpace&, CostType>)
              return std::make_unique<H>(space, type);
            else if (type == CostType::kNormal)
              return std::make_unique<H>(space);
            throw UnsupportedError(std::string("heuristic '") + H::info.name +
                                   "' takes the costs of the task alone; use ff, add or landmarks");
          }};
}

// Each stands, with its name, in its own file.
extern const HeuristicEntry blind_entry, goalcount_entry, hmax_entry, add_entry, ff_entry, lmcut_entry,
    landmarks_entry, lmcp_entry;

const std::vector<HeuristicEntry>& heuristic_catalogue();

// Throws InputError for an unknown name, UnsupportedError if the task has what it cannot handle, or costs are
// asked for that it does not take.
std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space,
                                          CostType type = CostType::kNormal);

}  // namespace hstar
