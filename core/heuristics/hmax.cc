#include "heuristics/hmax.h"

namespace hstar {

const HeuristicInfo HMax::info = {
    .name = "hmax",
    .description = "cost of the most expensive goal fact in the delete relaxation",
    .reference = "Bonet and Geffner, AIJ 2001",
    .admissible = true,
    .consistent = true,
    .safe = true,
    .supports_axioms = true,
    .supports_conditional_effects = true,
    .preferred_operators = false,
};

}  // namespace hstar
