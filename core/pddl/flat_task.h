// A task in finite-domain representation while it is made: atoms by number, operators as the task has them.
//
// Invariant: preconditions and conditions have at most one fact a variable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "task/task.h"

namespace hstar::pddl {

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
  Operators operators;
  std::vector<Axiom> axioms;
};

// The value that `facts` ask of a variable; -1: none.
inline Value asked(std::span<const Fact> facts, int32_t variable) {
  for (const Fact& fact : facts)
    if (fact.variable == variable) return fact.value;
  return -1;
}

enum class Triviality { kNone, kSolved, kUnsolvable };

}  // namespace hstar::pddl
