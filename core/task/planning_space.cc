#include "task/planning_space.h"

#include <algorithm>
#include <utility>

namespace hstar {

PlanningSpace::PlanningSpace(Task task)
    : task_(std::move(task)),
      packer_(task_),
      successors_(task_),
      axioms_(task_),
      mutexes_(task_),
      goal_(packer_.patches(task_.goal)) {
  for (const Operator& op : task_.operators) {
    costs_.push_back(op.cost);
    const bool conditional =
        std::ranges::any_of(op.effects, [](const Effect& effect) { return !effect.conditions.empty(); });
    conditional_.push_back(conditional);
    has_complex_ |= conditional;
    const auto begin = static_cast<uint32_t>(patch_pool_.size());
    if (!conditional) {
      std::vector<Fact> facts;
      for (const Effect& effect : op.effects) facts.push_back(effect.fact);
      const auto patches = packer_.patches(facts);
      patch_pool_.insert(patch_pool_.end(), patches.begin(), patches.end());
    }
    patches_.push_back({begin, static_cast<uint32_t>(patch_pool_.size())});
  }
  has_complex_ |= task_.has_axioms();
}

std::vector<Value> PlanningSpace::initial_state() const {
  std::vector<Value> values = task_.initial_values;
  axioms_.evaluate(values.data());
  return values;
}

void PlanningSpace::apply_complex(const Value* values, int32_t op, uint32_t* result) const {
  if (conditional_[op]) {
    for (const Effect& effect : task_.operators[op].effects) {
      const bool fires = std::ranges::all_of(
          effect.conditions, [&](const Fact& fact) { return values[fact.variable] == fact.value; });
      if (fires) packer_.set(result, effect.fact.variable, effect.fact.value);
    }
  }
  if (axioms_.empty()) return;
  thread_local std::vector<Value> thread_values;
  thread_values.resize(task_.variables.size());
  Value* after = thread_values.data();
  packer_.unpack(result, after);
  axioms_.evaluate(after);
  packer_.pack(after, result);
}

}  // namespace hstar
