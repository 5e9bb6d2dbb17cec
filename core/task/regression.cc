#include "task/regression.h"

#include <algorithm>

#include "base/errors.h"

namespace hstar {

Regression::Regression(const PlanningSpace& space) : space_(space), ids_(space.task()) {
  const Task& task = space.task();
  if (task.has_axioms()) throw UnsupportedError("regression does not support axioms");
  if (task.has_conditional_effects())
    throw UnsupportedError("regression does not support conditional effects");
  groups_of_.resize(ids_.size());
  for (int32_t group = 0; group < static_cast<int32_t>(task.mutex_groups.size()); ++group)
    for (const Fact& fact : task.mutex_groups[group]) groups_of_[ids_(fact)].push_back(group);
  achievers_.resize(ids_.size());
  for (int32_t op = 0; op < static_cast<int32_t>(task.operators.size()); ++op) {
    Step step;
    step.preconditions = task.operators[op].preconditions;
    for (const Effect& effect : task.operators[op].effects) {
      // The last effect on a variable is the one that counts.
      std::erase_if(step.effects, [&](const Fact& fact) { return fact.variable == effect.fact.variable; });
      step.effects.push_back(effect.fact);
    }
    for (const Fact& fact : step.preconditions)
      if (std::ranges::find(step.effects, fact.variable, &Fact::variable) == step.effects.end())
        step.prevail.push_back(fact);
    for (const Fact& fact : step.effects) achievers_[ids_(fact)].push_back(op);
    steps_.push_back(std::move(step));
  }
}

PartialState Regression::goal() const {
  PartialState state = empty();
  for (const Fact& fact : space_.task().goal) put(state, fact);
  return state;
}

void Regression::put(PartialState& state, Fact fact) const {
  if (state.values_[fact.variable] == fact.value) return;
  take(state, fact.variable);
  state.values_[fact.variable] = fact.value;
  for (const int32_t group : groups(fact)) ++state.in_group_[group];
}

void Regression::take(PartialState& state, int32_t variable) const {
  const Value value = state.values_[variable];
  if (value == kUnset) return;
  for (const int32_t group : groups({variable, value})) --state.in_group_[group];
  state.values_[variable] = kUnset;
}

bool Regression::assign(PartialState& state, Fact fact) const {
  if (state.values_[fact.variable] != kUnset) return state.values_[fact.variable] == fact.value;
  for (const int32_t group : groups(fact))
    if (state.in_group_[group] > 0) return false;
  put(state, fact);
  return true;
}

void Regression::applicable(const PartialState& state, std::vector<int32_t>& operators) const {
  const size_t first = operators.size();
  for (int32_t v = 0; v < static_cast<int32_t>(state.values_.size()); ++v) {
    if (state.values_[v] == kUnset) continue;
    for (const int32_t op : achievers_[ids_({v, state.values_[v]})]) operators.push_back(op);
  }
  // An operator may set several facts of the state.
  std::sort(operators.begin() + static_cast<long>(first), operators.end());
  operators.erase(std::unique(operators.begin() + static_cast<long>(first), operators.end()),
                  operators.end());
  const auto fails = [&](int32_t op) { return !regresses(state, steps_[op]); };
  operators.erase(std::remove_if(operators.begin() + static_cast<long>(first), operators.end(), fails),
                  operators.end());
}

bool Regression::regresses(const PartialState& state, const Step& step) const {
  // 1. and 2. No other value of any variable it touches.
  for (const Fact& fact : step.effects) {
    const Value value = state.values_[fact.variable];
    if (value != kUnset && value != fact.value) return false;
  }
  for (const Fact& fact : step.prevail) {
    const Value value = state.values_[fact.variable];
    if (value != kUnset && value != fact.value) return false;
  }
  // 3. Facts that are set lie in no group with another fact of the state ...
  for (const Fact& fact : step.effects) {
    if (state.values_[fact.variable] == fact.value) continue;
    for (const int32_t group : groups(fact))
      if (state.in_group_[group] > 0) return false;
  }
  // ... and preconditions in no group with a fact that stays.
  for (const Fact& fact : step.preconditions) {
    if (state.values_[fact.variable] == fact.value) continue;
    for (const int32_t group : groups(fact)) {
      int32_t stay = state.in_group_[group];
      for (const Fact& effect : step.effects) {
        if (stay == 0) break;
        if (state.values_[effect.variable] != effect.value) continue;
        const std::vector<int32_t>& own = groups(effect);
        stay -= std::ranges::find(own, group) != own.end();
      }
      if (stay > 0) return false;
    }
  }
  return true;
}

void Regression::apply(PartialState& state, int32_t op) const {
  for (const Fact& fact : steps_[op].effects) take(state, fact.variable);
  for (const Fact& fact : steps_[op].preconditions) put(state, fact);
}

}  // namespace hstar
