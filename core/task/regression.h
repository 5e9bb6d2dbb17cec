// Backward steps over partial states: which operators may have come last, and what had to hold before.
//
// Operator o regresses partial state x to (x without what o sets) with o's preconditions, if (Alcazar,
// Borrajo, Fernandez and Fuentetaja, ICAPS 2013; O'Toole et al., ICAPS 2022, eq. 4 and 5)
// 1. o sets some fact of x and no variable of x to another value;
// 2. x asks for no other value of a variable that o only tests;
// 3. no fact that o sets, and no precondition of o, is mutex with what x keeps.
// Mutexes are those of the variables and of the translator's groups together.
//
// Invariant: every state that satisfies the regressed partial state reaches a state of x by o. No axioms, no
// conditional effects.
#pragma once

#include <cstdint>
#include <vector>

#include "task/planning_space.h"

namespace hstar {

constexpr Value kUnset = -1;

// Values of the variables, kUnset where anything goes, and how many facts of each mutex group it contains.
class PartialState {
 public:
  PartialState(size_t variables, size_t groups) : values_(variables, kUnset), in_group_(groups, 0) {}
  const std::vector<Value>& values() const { return values_; }
  Value operator[](int32_t variable) const { return values_[variable]; }

 private:
  friend class Regression;
  std::vector<Value> values_;
  std::vector<int32_t> in_group_;
};

class Regression {
 public:
  // Throws UnsupportedError for axioms and conditional effects.
  explicit Regression(const PlanningSpace& space);

  const PlanningSpace& space() const { return space_; }
  PartialState empty() const { return {space_.task().variables.size(), space_.task().mutex_groups.size()}; }
  PartialState goal() const;

  // Appends the operators that regress `state`, always in the same order.
  void applicable(const PartialState& state, std::vector<int32_t>& operators) const;
  // `op` must be applicable.
  void apply(PartialState& state, int32_t op) const;

  // Sets a variable if no fact of the state is mutex with that; false otherwise.
  bool assign(PartialState& state, Fact fact) const;

 private:
  struct Step {
    std::vector<Fact> effects;
    std::vector<Fact> preconditions;
    std::vector<Fact> prevail;  // preconditions on variables that are not set
  };
  bool regresses(const PartialState& state, const Step& step) const;
  void put(PartialState& state, Fact fact) const;
  void take(PartialState& state, int32_t variable) const;
  const std::vector<int32_t>& groups(Fact fact) const { return groups_of_[ids_(fact)]; }

  const PlanningSpace& space_;
  FactIds ids_;
  std::vector<Step> steps_;                      // per operator
  std::vector<std::vector<int32_t>> achievers_;  // per fact: operators that set it
  std::vector<std::vector<int32_t>> groups_of_;  // per fact: mutex groups
};

}  // namespace hstar
