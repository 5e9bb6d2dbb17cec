#include "task/planning_space.h"

#include <algorithm>

#include "base/errors.h"

namespace hstar {

PlanningSpace::PlanningSpace(Task task)
    : task_(std::move(task)),
      packer_(task_),
      successors_(task_),
      axioms_(task_),
      mutexes_(task_),
      goal_(packer_.patches(task_.goal)) {
  costs_.reserve(task_.operators.size());
  conditional_.reserve(task_.operators.size());
  std::vector<Fact> facts;
  for (const Operator& op : task_.operators) {
    costs_.push_back(op.cost);
    const bool conditional =
        std::ranges::any_of(op.effects, [](const Effect& effect) { return !effect.conditions.empty(); });
    conditional_.push_back(conditional);
    has_complex_ |= conditional;
    facts.clear();
    if (!conditional)
      for (const Effect& effect : op.effects) facts.push_back(effect.fact);
    patches_.push_row(packer_.patches(facts));
  }
  has_complex_ |= task_.has_axioms();
}

std::vector<Value> PlanningSpace::initial_state() const {
  std::vector<Value> values = task_.initial_values;
  axioms_.evaluate(values.data());
  return values;
}

void PlanningSpace::pack(const Value* values, uint32_t* packed) const {
  const std::vector<Variable>& variables = task_.variables;
  for (size_t v = 0; v < variables.size(); ++v)
    if (!variables[v].has(values[v])) throw InputError(variables[v].refusal(values[v]));
  std::vector<Value> complete(values, values + variables.size());
  axioms_.evaluate(complete.data());
  packer_.pack(complete.data(), packed);
}

void PlanningSpace::expand(const uint32_t* packed, size_t n, Expansion& expansion) const {
  expansion.clear();
  expansion.values.resize(width());
  for (size_t i = 0; i < n; ++i, packed += words()) {
    const size_t begin = expansion.size();
    packer_.unpack(packed, expansion.values.data());
    applicable(expansion.values.data(), expansion.operators);
    const size_t end = expansion.size();
    if (expansion.states.size() < end * words()) expansion.states.resize(2 * end * words());
    expansion.costs.resize(end);
    for (size_t k = begin; k < end; ++k) {
      const int32_t op = expansion.operators[k];
      apply(packed, expansion.values.data(), op, &expansion.states[k * words()]);
      expansion.costs[k] = costs_[op];
    }
    expansion.ends.push_back(static_cast<uint32_t>(end));
  }
}

void PlanningSpace::goals(const uint32_t* packed, size_t n, char* is_goal) const {
  for (size_t i = 0; i < n; ++i) is_goal[i] = this->is_goal(packed + i * words());
}

void PlanningSpace::operators_of(const uint32_t* packed, Expansion& expansion) const {
  expansion.clear();
  expansion.values.resize(width());
  packer_.unpack(packed, expansion.values.data());
  applicable(expansion.values.data(), expansion.operators);
}

Cost PlanningSpace::apply(const uint32_t* packed, int32_t op, uint32_t* result, Expansion& expansion) const {
  expansion.values.resize(width());
  packer_.unpack(packed, expansion.values.data());
  apply(packed, expansion.values.data(), op, result);
  return costs_[op];
}

void PlanningSpace::apply_complex(const Value* values, int32_t op, uint32_t* result) const {
  if (conditional_[op])
    for (const Effect& effect : task_.operators[op].effects)
      if (holds(effect.conditions, values)) packer_.set(result, effect.fact.variable, effect.fact.value);
  if (axioms_.empty()) return;
  thread_local std::vector<Value> thread_values;
  thread_values.resize(task_.variables.size());
  Value* after = thread_values.data();
  packer_.unpack(result, after);
  axioms_.evaluate(after);
  packer_.pack(after, result);
}

}  // namespace hstar
