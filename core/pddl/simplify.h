// What can be left out of a finite-domain task: values that no path of effects leads to, and variables that
// the goal does not depend on. The others are ordered by the causal graph (Helmert, JAIR 26, 2006, section
// 5).
#pragma once

#include "pddl/flat_task.h"
#include "pddl/watch.h"

namespace hstar::pddl {

// Removes values that cannot be reached from the initial one by effects on their variable, then variables of
// one value, and operators, effects and axioms that ask for such a value.
Triviality drop_unreachable(FlatTask& task, Watch& watch);

// The order of the variables: causes before what they change as far as possible, variables of the goal late.
// Variables that do not matter for the goal are left out, unless `keep_all`.
std::vector<int32_t> causal_order(const FlatTask& task, bool keep_all, Watch& watch);

// Gives variable order[i] the number i and removes those that are not in it.
void reorder(FlatTask& task, const std::vector<int32_t>& order, Watch& watch);

}  // namespace hstar::pddl
