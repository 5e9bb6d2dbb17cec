// How a derived variable comes to have its default value, as rules a relaxation can use.
//
// A derived variable is at its default when every axiom for its other values has a false condition. For a
// variable that does not depend on itself that is a disjunction of conjunctions, the minimal hitting sets of
// the negated axiom bodies. For one that does (or where there are too many conjunctions) the rule is left
// empty: the default holds for free. Either way a state in which the default holds satisfies a rule, so
// heuristics built on it stay safe, and hmax admissible. As in Fast Downward's "approximate negative cycles".
#pragma once

#include <vector>

#include "task/task.h"

namespace hstar {

// Rules for the defaults that some operator, axiom or goal asks for.
std::vector<Axiom> default_axioms(const Task& task);

}  // namespace hstar
