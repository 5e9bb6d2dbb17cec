#include "heuristics/catalogue.h"

#include "base/errors.h"
#include "heuristics/add.h"
#include "heuristics/blind.h"
#include "heuristics/ff.h"
#include "heuristics/goalcount.h"
#include "heuristics/hmax.h"
#include "heuristics/lmcut.h"

namespace hstar {
namespace {

template <class H>
HeuristicEntry entry() {
  return {H::info, [](const PlanningSpace& space) -> std::unique_ptr<Heuristic> {
            return std::make_unique<H>(space);
          }};
}

}  // namespace

const std::vector<HeuristicEntry>& heuristic_catalogue() {
  static const std::vector<HeuristicEntry> entries = {
      entry<Blind>(), entry<GoalCount>(), entry<HMax>(), entry<Add>(), entry<FF>(), entry<LMCut>(),
  };
  return entries;
}

std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space) {
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
    return entry.make(space);
  }
  throw InputError("unknown heuristic '" + name + "' (known: " + known + ")");
}

}  // namespace hstar
