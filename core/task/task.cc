#include "task/task.h"

#include <algorithm>

namespace hstar {

bool Task::has_conditional_effects() const {
  return std::ranges::any_of(operators, [](const Operator& op) {
    return std::ranges::any_of(op.effects, [](const Effect& effect) { return !effect.conditions.empty(); });
  });
}

Cost Task::min_operator_cost() const {
  if (operators.empty()) return 0;
  return std::ranges::min(operators, {}, &Operator::cost).cost;
}

bool Task::unit_cost() const {
  return std::ranges::all_of(operators, [](const Operator& op) { return op.cost == 1; });
}

FactIds::FactIds(const Task& task) {
  offset_.push_back(0);
  for (const Variable& variable : task.variables) offset_.push_back(offset_.back() + variable.domain_size());
}

}  // namespace hstar
