// Normal form of a lifted task (Helmert, AIJ 173, 2009, section 4): all conditions are conjunctions of
// literals.
//
// 1. A universal condition becomes the negation of a new derived predicate `new-axiom@N` over its free
//    variables; equal conditions share one.
// 2. Disjunctions are moved up and split: an action, effect or rule for each of them.
// 3. Existential variables become parameters of the action, effect or rule.
// 4. A goal that is no conjunction of literals becomes a derived predicate.
//
// Invariant: the names of operators come from the parameters that the PDDL has, whatever was added.
#pragma once

#include "pddl/lifted.h"

namespace hstar::pddl {

struct SchemaEffect {
  std::vector<int32_t> parameters;  // for all objects of their types
  std::vector<Literal> conditions;
  Literal literal;
};

struct Schema {
  int32_t action = -1;                    // of the lifted task
  std::vector<SchemaVariable> variables;  // numbers of terms; only parameters are in use
  std::vector<int32_t> parameters;        // those of the PDDL first
  std::vector<Literal> precondition;
  std::vector<SchemaEffect> effects;
};

struct Rule {
  std::vector<SchemaVariable> variables;
  std::vector<int32_t> parameters;  // those of the head first
  Literal head;
  std::vector<Literal> body;
};

struct NormalTask {
  std::vector<Schema> schemas;
  std::vector<Rule> rules;
  std::vector<Literal> goal;  // ground
};

// Adds the new predicates to `task`. Throws UnsupportedError if conditions become too large.
NormalTask normalise(LiftedTask& task);

}  // namespace hstar::pddl
