// Invariants by guess, check and repair (Helmert, AIJ 173, 2009, section 5).
//
// An invariant has parameters and parts, at most one a predicate. A part is an atom whose arguments are the
// parameters and at most one counted variable. It says: for all values of the parameters, the number of true
// atoms of the parts does not grow. If it is 1 in the initial state, the atoms exclude each other.
//
// A candidate is too heavy if an action can add two of its atoms at a time. It is unbalanced if an action
// adds one and removes none; a part that the action removes may then repair it.
//
// Differences from the paper:
// 1. Parameters of an action that no reachable instance gives the same object count as unequal.
// 2. A removed atom does not balance an added one where another effect can add it again.
// 3. An action that needs two atoms of a candidate is not looked at: the candidate itself excludes it.
#pragma once

#include <vector>

#include "pddl/normalise.h"
#include "pddl/reachability.h"

namespace hstar::pddl {

struct InvariantPart {
  int32_t predicate;
  std::vector<int32_t> parameters;  // per argument: a parameter of the invariant, -1: counted
  auto operator<=>(const InvariantPart&) const = default;
};

struct Invariant {
  int32_t parameters = 0;
  std::vector<InvariantPart> parts;  // by predicate
  auto operator<=>(const Invariant&) const = default;
};

std::vector<Invariant> find_invariants(const LiftedTask& task, const NormalTask& normal, const Model& model,
                                       Watch& watch);

}  // namespace hstar::pddl
