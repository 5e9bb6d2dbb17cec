#include "heuristics/goalcount.h"

namespace hstar {

const HeuristicInfo GoalCount::info = {
    .name = "goalcount",
    .description = "number of goal facts that do not hold",
    .reference = "Fikes and Nilsson, AIJ 1971",
    .admissible = false,
    .consistent = false,
    .safe = true,
    .supports_axioms = true,
    .supports_conditional_effects = true,
    .preferred_operators = false,
};

Cost GoalCount::value(const Value* values) {
  Cost open = 0;
  for (const Fact& fact : space_.task().goal) open += values[fact.variable] != fact.value;
  return open;
}

void GoalCount::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  const StatePacker& packer = space_.packer();
  for (size_t i = begin; i < end; ++i) {
    Cost open = 0;
    for (const Fact& fact : space_.task().goal)
      open += packer.get(batch.packed(i), fact.variable) != fact.value;
    h[i] = open;
  }
}

}  // namespace hstar
