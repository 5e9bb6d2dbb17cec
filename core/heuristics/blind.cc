#include "heuristics/blind.h"

namespace hstar {

const HeuristicInfo Blind::info = {
    .name = "blind",
    .description = "cost of the cheapest operator, 0 at goals",
    .reference = "folklore",
    .admissible = true,
    .consistent = true,
    .safe = true,
    .supports_axioms = true,
    .supports_conditional_effects = true,
    .preferred_operators = false,
};

Blind::Blind(const PlanningSpace& space)
    : SymbolicHeuristic(info), space_(space), min_cost_(space.task().min_operator_cost()) {}

Cost Blind::value(const Value* values) {
  for (const Fact& fact : space_.task().goal)
    if (values[fact.variable] != fact.value) return min_cost_;
  return 0;
}

// On packed states: a search with this heuristic never unpacks a state it does not expand.
void Blind::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  for (size_t i = begin; i < end; ++i) h[i] = space_.is_goal(batch.packed(i)) ? 0 : min_cost_;
}

}  // namespace hstar
