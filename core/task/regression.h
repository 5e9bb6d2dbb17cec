// Backward steps over partial states: which operators may have come last, and what had to hold before.
//
// Operator o regresses partial state x to (x without what o sets) with o's preconditions, if (Alcazar,
// Borrajo, Fernandez and Fuentetaja, ICAPS 2013; O'Toole et al., ICAPS 2022, eq. 4 and 5)
// 1. o sets some fact of x and no variable of x to another value;
// 2. x asks for no other value of a variable that o only tests;
// 3. no two facts that hold before o, or after it, are mutex: preconditions with what x keeps, facts that o
//    sets with facts of x, and those of o among each other (operators that fail this alone never count).
// Mutexes are those of the variables and of the translator's groups together.
//
// Invariant: every state that satisfies the regressed partial state reaches a state of x by o. No axioms, no
// conditional effects.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/rows.h"
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
  PartialState state(const Value* values) const;

  // Appends the operators that regress `state`, each once and always in the same order.
  void applicable(const PartialState& state, std::vector<int32_t>& operators) const;
  // One of them, all equally likely, without listing them where that is not needed; -1 if there is none.
  int32_t draw(const PartialState& state, Random& random) const;
  // `op` must be applicable.
  void apply(PartialState& state, int32_t op) const;

  // Sets a variable if no fact of the state is mutex with that; false otherwise.
  bool assign(PartialState& state, Fact fact) const;

 private:
  // Offsets into `pool_`: what the operator sets, by variable; preconditions on those variables; others.
  struct Step {
    uint32_t effects;
    uint32_t preconditions;
    uint32_t prevail;
    uint32_t end;
  };
  std::span<const Fact> facts(uint32_t begin, uint32_t end) const {
    return {pool_.data() + begin, pool_.data() + end};
  }
  // A tree over what holds after the operators that achieve a fact, as a filter: operators beyond an edge
  // count only if the state has its fact or leaves that variable open.
  struct Edge {
    Fact fact;
    uint32_t node;
  };
  void add_step(const Operator& op);
  std::vector<Fact> outcome(const Step& step) const;
  uint32_t build_tree(std::span<const int32_t> operators, const std::vector<std::vector<Fact>>& outcomes,
                      size_t depth);
  void walk(uint32_t node, const PartialState& state, int32_t via, std::vector<int32_t>& operators) const;
  bool consistent(const Step& step) const;
  // Whether `op`, found as an achiever of the state's value of `via`, counts: as an operator may achieve
  // several facts, only the first of them finds it.
  bool regresses(const PartialState& state, int32_t op, int32_t via) const;
  bool mutex_free(const PartialState& state, const Step& step) const;
  void put(PartialState& state, Fact fact) const;
  void take(PartialState& state, int32_t variable) const;
  const std::vector<int32_t>& groups(Fact fact) const { return space_.mutexes().groups(fact); }
  const std::vector<int32_t>& achievers(const PartialState& state, int32_t variable) const {
    return achievers_[ids_({variable, state.values_[variable]})];
  }

  const PlanningSpace& space_;
  FactIds ids_;
  std::vector<Step> steps_;  // per operator
  std::vector<Fact> pool_;
  std::vector<std::vector<int32_t>> achievers_;  // per fact: operators that set it
  std::vector<uint32_t> roots_;                  // per fact: of the tree over its achievers
  RowsOfType<Edge> edges_;                       // per node
  Rows tested_;                                  // per node: operators to be tested one by one
};

}  // namespace hstar
