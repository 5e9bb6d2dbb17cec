// A task in finite-domain representation while it is made: operators without names, in arrays.
//
// Invariant: preconditions and conditions have at most one fact a variable, in the order of variables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "task/task.h"

namespace hstar::pddl {

struct FlatEffect {
  uint64_t first;  // of its conditions
  uint32_t conditions;
  Fact fact;
};

struct FlatOperator {
  int32_t schema;
  uint32_t instance;
  Cost cost;
  uint32_t preconditions, effects;
  uint64_t first_precondition, first_effect;
};

struct FlatVariable {
  std::vector<int32_t> atoms;  // of the values; the last one may be -1: none of the others
  Value initial = 0;
  int32_t layer = -1;
  int32_t absent = -1;  // the atom whose absence the last value is, if it is that of only one

  Value size() const { return static_cast<Value>(atoms.size()); }
};

struct FlatTask {
  std::vector<FlatVariable> variables;
  std::vector<std::vector<Fact>> mutexes;
  std::vector<Fact> goal;
  std::vector<FlatOperator> operators;
  std::vector<Axiom> axioms;
  std::vector<FlatEffect> effects;  // of all operators
  std::vector<Fact> facts;          // of all operators

  std::span<Fact> preconditions(const FlatOperator& op) {
    return {facts.data() + op.first_precondition, op.preconditions};
  }
  std::span<const Fact> preconditions(const FlatOperator& op) const {
    return {facts.data() + op.first_precondition, op.preconditions};
  }
  std::span<FlatEffect> effects_of(const FlatOperator& op) {
    return {effects.data() + op.first_effect, op.effects};
  }
  std::span<const FlatEffect> effects_of(const FlatOperator& op) const {
    return {effects.data() + op.first_effect, op.effects};
  }
  std::span<Fact> conditions(const FlatEffect& effect) {
    return {facts.data() + effect.first, effect.conditions};
  }
  std::span<const Fact> conditions(const FlatEffect& effect) const {
    return {facts.data() + effect.first, effect.conditions};
  }
};

// The value that `facts`, ordered by variables, ask of a variable; -1: none.
inline Value asked(std::span<const Fact> facts, int32_t variable) {
  for (const Fact& fact : facts)
    if (fact.variable == variable) return fact.value;
  return -1;
}

enum class Triviality { kNone, kSolved, kUnsolvable };

}  // namespace hstar::pddl
