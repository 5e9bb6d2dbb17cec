// Which atoms, operators and axioms are reachable when nothing is ever deleted: a Datalog program, evaluated
// semi-naively (Helmert, AIJ 173, 2009, section 6).
//
// Every atom has its turn once. It then joins with the atoms before it, so that each instance of a rule is
// found exactly once: at the turn of the last of its atoms.
//
// Differences from the paper:
// 1. Rules are not split into joins of two; a plan for each atom of a body takes their place (join.h).
// 2. Inequalities, static negative literals and types are part of the rules, so that fewer atoms are reached.
#pragma once

#include <vector>

#include "pddl/join.h"
#include "pddl/normalise.h"

namespace hstar::pddl {

// Values of the parameters of a schema or rule, one instance after the other.
struct Instances {
  size_t width = 0;
  size_t count = 0;
  std::vector<int32_t> values;
  const int32_t* operator[](size_t i) const { return values.data() + i * width; }
};

struct Model {
  std::vector<Instances> schemas;  // as in the normal task
  std::vector<Instances> rules;
};

// Fills the database with the initial state and all that is reachable from it.
Model explore(const LiftedTask& task, const NormalTask& normal, Database& database, Watch& watch);

}  // namespace hstar::pddl
