// From partial states to states: two rules.
//
// By variables (default): each unset variable, in random order, gets a random value that is not mutex with
// the rest; a dead end starts anew. Exactly one value a variable, no two mutex facts. By atoms (the paper's):
// every atom true with probability 1/2, those of the partial state for sure; then mutex groups, and the
// variables as groups, are visited in random order and keep one true atom each, one of the partial state if
// there is one. Nothing is ever added, so that variables may end up without a value.
#pragma once

#include <vector>

#include "base/random.h"
#include "task/atoms.h"
#include "task/regression.h"

namespace hstar {

enum class CompletionRule { kVariables, kAtoms };

class Completion {
 public:
  Completion(const Regression& regression, const Atoms& atoms);

  // Sets all variables of `values`; false if `tries` attempts failed.
  bool by_variables(std::vector<Value>& values, Random& random, int32_t tries = 1000) const;

  // Atoms of a completed state; `bits` has atoms.words() words.
  void by_atoms(const std::vector<Value>& partial, Random& random, BitWord* bits) const;

 private:
  const Regression& regression_;
  const Atoms& atoms_;
  std::vector<std::vector<int32_t>> groups_;  // of atoms: variables and mutex groups with two or more
};

}  // namespace hstar
