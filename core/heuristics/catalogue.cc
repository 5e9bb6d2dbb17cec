#include "heuristics/catalogue.h"

#include <type_traits>

#include "base/errors.h"
#include "heuristics/add.h"
#include "heuristics/blind.h"
#include "heuristics/ff.h"
#include "heuristics/goalcount.h"
#include "heuristics/hmax.h"
#include "heuristics/landmarks.h"
#include "heuristics/lmcut.h"

namespace hstar {
namespace {

template <class H>
HeuristicEntry entry() {
  return {H::info, [](const PlanningSpace& space, CostType type) -> std::unique_ptr<Heuristic> {
            if constexpr (std::is_constructible_v<H, const PlanningSpace&, CostType>)
              return std::make_unique<H>(space, type);
            else if (type == CostType::kNormal)
              return std::make_unique<H>(space);
            throw UnsupportedError(std::string("heuristic '") + H::info.name +
                                   "' takes the costs of the task alone; use ff, add or landmarks");
          }};
}

}  // namespace

const std::vector<HeuristicEntry>& heuristic_catalogue() {
  static const std::vector<HeuristicEntry> entries = {
      entry<Blind>(), entry<GoalCount>(), entry<HMax>(),      entry<Add>(),
      entry<FF>(),    entry<LMCut>(),     entry<Landmarks>(),
  };
  return entries;
}

std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space,
                                          CostType type) {
  std::string known;
  for (const HeuristicEntry& entry : heuristic_catalogue()) {
    const HeuristicInfo& info = entry.info;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
    if (name != info.name) continue;
    if (space.task().has_axioms() && !info.supports_axioms)
      throw UnsupportedError("heuristic '" + name +
                             "' does not support axioms; use hmax (admissible), ff or blind");
    if (space.task().has_conditional_effects() && !info.supports_conditional_effects)
      throw UnsupportedError("heuristic '" + name +
                             "' does not support conditional effects; use hmax (admissible), ff or "
                             "blind");
    return entry.make(space, type);
  }
  throw InputError("unknown heuristic '" + name + "' (known: " + known + ")");
}

}  // namespace hstar
