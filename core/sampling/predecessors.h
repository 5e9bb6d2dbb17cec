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

#include <algorithm>
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
  explicit Predecessors(const PlanningSpace& space)
      : regression_(space), atoms_(space.task()), completion_(regression_, atoms_) {}
  Predecessors(const Predecessors&) = delete;  // its parts refer to each other
  Predecessors& operator=(const Predecessors&) = delete;

  // A state of the goal, completed at random; false if none was found.
  bool goal(Random& random, std::vector<Value>& values) const {
    values = regression_.goal().values();
    return completion_.by_variables(values, random);
  }

  // Appends a state for each operator, and the operator; none for operators that change nothing or whose
  // open variables cannot be completed.
  void find(const Value* state, Random& random, std::vector<Value>& states,
            std::vector<int32_t>& operators) const {
    const PartialState here = regression_.state(state);
    std::vector<int32_t> candidates;
    regression_.applicable(here, candidates);
    for (const int32_t op : candidates) {
      PartialState before = here;
      regression_.apply(before, op);
      std::vector<Value> values = before.values();
      const bool open = std::ranges::find(values, kUnset) != values.end();
      if (open && !completion_.by_variables(values, random, kTries)) continue;
      if (std::ranges::equal(values, here.values())) continue;
      states.insert(states.end(), values.begin(), values.end());
      operators.push_back(op);
    }
  }

 private:
  static constexpr int32_t kTries = 100;  // of completing one state

  Regression regression_;
  Atoms atoms_;
  Completion completion_;
};

}  // namespace hstar
