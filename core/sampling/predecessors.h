// Backward steps between states: those from which one operator leads to a given state.
//
// The state is regressed by each operator that may have come last (task/regression.h). What that leaves open,
// variables that the operator sets whatever they were, is completed at random without mutex facts; most often
// the mutexes leave one way. Where no action changes a variable that it does not test, as in puzzles whose
// moves can be taken back, nothing is open, and these are all predecessors.
//
// Invariant: applying the operator to the predecessor gives the state. Mutexes do not tell all, so that a
// predecessor need not be reachable from the initial state.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "sampling/completion.h"
#include "task/atoms.h"
#include "task/planning_space.h"
#include "task/regression.h"

namespace hstar {

class Predecessors {
 public:
  // Throws UnsupportedError for axioms and conditional effects.
  explicit Predecessors(const PlanningSpace& space);
  Predecessors(const Predecessors&) = delete;  // its parts refer to each other
  Predecessors& operator=(const Predecessors&) = delete;

  const PlanningSpace& space() const { return regression_.space(); }

  // A state of the goal, completed at random; false if none was found.
  bool goal(Random& random, std::vector<Value>& values) const;

  // Appends a state for each operator, and the operator; none for operators that change nothing or whose
  // open variables cannot be completed.
  void find(const Value* state, Random& random, std::vector<Value>& states,
            std::vector<int32_t>& operators) const;

 private:
  static constexpr int32_t kTries = 100;  // of completing one state

  Regression regression_;
  Atoms atoms_;
  Completion completion_;
};

}  // namespace hstar
