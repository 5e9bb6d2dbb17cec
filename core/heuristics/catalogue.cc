#include "heuristics/catalogue.h"

#include "base/named.h"

namespace hstar {

const std::vector<HeuristicEntry>& heuristic_catalogue() {
  static const std::vector<HeuristicEntry> entries = {
      blind_entry, goalcount_entry, hmax_entry, add_entry, ff_entry, lmcut_entry, landmarks_entry, lmcp_entry,
  };
  return entries;
}

std::unique_ptr<Heuristic> make_heuristic(const std::string& name, const PlanningSpace& space,
                                          CostType type) {
  const HeuristicEntry& entry = find_named("heuristic", name, heuristic_catalogue(),
                                           [](const HeuristicEntry& one) { return one.info.name; });
  const bool axioms = space.task().has_axioms() && !entry.info.supports_axioms;
  if (axioms || (space.task().has_conditional_effects() && !entry.info.supports_conditional_effects))
    throw UnsupportedError("heuristic '" + name + "' does not support " +
                           (axioms ? "axioms" : "conditional effects") +
                           "; use hmax (admissible), ff or blind");
  return entry.make(space, type);
}

}  // namespace hstar
