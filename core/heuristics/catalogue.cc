#include "heuristics/catalogue.h"

#include "base/errors.h"

namespace hstar {

const std::vector<HeuristicEntry>& heuristic_catalogue() {
  static const std::vector<HeuristicEntry> entries = {
      blind_entry, goalcount_entry, hmax_entry, add_entry, ff_entry, lmcut_entry, landmarks_entry,
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
