// A planning task in finite-domain representation (SAS+ with conditional effects and axioms), as Fast
// Downward's translator writes it (Helmert, AIJ 2009). Plain data; what is compiled from it for
// searching lives in planning_space.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "task/operators.h"

namespace hstar {

struct Variable {
  std::string name;
  int32_t axiom_layer = -1;  // -1: set by operators; else derived, and the layer that derives it
  std::vector<std::string> fact_names;

  int32_t domain_size() const { return static_cast<int32_t>(fact_names.size()); }
  bool derived() const { return axiom_layer >= 0; }
  bool has(Value value) const { return value >= 0 && value < domain_size(); }
  std::string refusal(Value value) const {  // of one that it has not
    return "value " + std::to_string(value) + " of " + name + " is not in 0.." +
           std::to_string(domain_size() - 1);
  }
};

inline bool holds(std::span<const Fact> facts, const Value* values) {
  return std::ranges::all_of(facts, [&](Fact fact) { return values[fact.variable] == fact.value; });
}

struct Axiom {
  std::vector<Fact> conditions;
  Fact head;
};

struct Task {
  std::vector<Variable> variables;
  std::vector<std::vector<Fact>> mutex_groups;
  std::vector<Value> initial_values;  // of a derived variable: its value when no axiom fires
  std::vector<Fact> goal;
  Operators operators;
  std::vector<Axiom> axioms;
  bool uses_metric = false;

  bool has_conditional_effects() const {
    return std::ranges::any_of(operators, [](const Operator& op) {
      return std::ranges::any_of(op.effects, [](const Effect& effect) { return !effect.conditions.empty(); });
    });
  }
  bool has_axioms() const { return !axioms.empty(); }
  Cost min_operator_cost() const {  // 0 if there is no operator
    Cost least = operators.empty() ? 0 : kMaxCost;
    for (const Operator& op : operators) least = std::min(least, op.cost);
    return least;
  }
  bool unit_cost() const {
    return std::ranges::all_of(operators, [](const Operator& op) { return op.cost == 1; });
  }
};

// Dense numbers for facts: fact (variable, value) is `offset[variable] + value`.
class FactIds {
 public:
  explicit FactIds(const Task& task) : offset_{0} {
    for (const Variable& variable : task.variables)
      offset_.push_back(offset_.back() + variable.domain_size());
  }
  int32_t operator()(Fact fact) const { return offset_[fact.variable] + fact.value; }
  int32_t offset(int32_t variable) const { return offset_[variable]; }
  int32_t size() const { return offset_.back(); }

 private:
  std::vector<int32_t> offset_;
};

}  // namespace hstar
