#include "heuristics/add.h"

namespace hstar {

const HeuristicInfo Add::info = {
    .name = "add",
    .description = "summed cost of the goal facts in the delete relaxation",
    .reference = "Bonet and Geffner, AIJ 2001",
    .admissible = false,
    .consistent = false,
    .safe = true,
    .supports_axioms = true,
    .supports_conditional_effects = true,
    .preferred_operators = false,
};

}  // namespace hstar
