#include "task/regression.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"

namespace hstar {

Regression::Regression(const PlanningSpace& space) : space_(space), ids_(space.task()) {
  const Task& task = space.task();
  if (task.has_axioms()) throw UnsupportedError("regression does not support axioms");
  if (task.has_conditional_effects())
    throw UnsupportedError("regression does not support conditional effects");
  for (const Operator& op : task.operators) add_step(op);
  // Achievers of a fact in the order of what holds after them, so that those that agree are neighbours.
  std::vector<std::vector<Fact>> outcomes;
  for (const Step& step : steps_) outcomes.push_back(outcome(step));
  std::vector<int32_t> order(steps_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int32_t op) -> const auto& { return outcomes[op]; });
  achievers_.resize(ids_.size());
  for (const int32_t op : order) {
    if (!consistent(steps_[op])) continue;
    for (const Fact& fact : facts(steps_[op].effects, steps_[op].preconditions))
      achievers_[ids_(fact)].push_back(op);
  }
  for (const std::vector<int32_t>& operators : achievers_)
    roots_.push_back(build_tree(operators, outcomes, 0));
}

std::vector<Fact> Regression::outcome(const Step& step) const {
  std::vector<Fact> result;
  for (const Fact& fact : facts(step.effects, step.preconditions)) result.push_back(fact);
  for (const Fact& fact : facts(step.prevail, step.end)) result.push_back(fact);
  std::ranges::sort(result);
  return result;
}

// For operators that agree on the first `depth` facts of their outcomes and are sorted by them.
uint32_t Regression::build_tree(std::span<const int32_t> operators,
                                const std::vector<std::vector<Fact>>& outcomes, size_t depth) {
  constexpr size_t kFew = 4;  // are tested at once
  size_t tested = operators.size() <= kFew ? operators.size() : 0;
  while (tested < operators.size() && outcomes[operators[tested]].size() == depth) ++tested;
  std::vector<Edge> children;
  for (size_t i = tested; i < operators.size();) {
    const Fact fact = outcomes[operators[i]][depth];
    size_t j = i;
    while (j < operators.size() && outcomes[operators[j]][depth] == fact) ++j;
    children.push_back({fact, build_tree(operators.subspan(i, j - i), outcomes, depth + 1)});
    i = j;
  }
  edges_.push_row(children);
  tested_.push_row(operators.first(tested));
  return static_cast<uint32_t>(edges_.size() - 1);
}

void Regression::add_step(const Operator& op) {
  std::vector<Fact> effects;
  for (const Effect& effect : op.effects) {
    // The last effect on a variable is the one that counts.
    std::erase_if(effects, [&](const Fact& fact) { return fact.variable == effect.fact.variable; });
    effects.push_back(effect.fact);
  }
  std::ranges::sort(effects);
  const auto is_set = [&](const Fact& fact) {
    return std::ranges::find(effects, fact.variable, &Fact::variable) != effects.end();
  };
  std::vector<Fact> preconditions(op.preconditions.begin(), op.preconditions.end());
  std::ranges::stable_partition(preconditions, is_set);
  Step step;
  step.effects = static_cast<uint32_t>(pool_.size());
  pool_.insert(pool_.end(), effects.begin(), effects.end());
  step.preconditions = static_cast<uint32_t>(pool_.size());
  step.prevail = step.preconditions + static_cast<uint32_t>(std::ranges::count_if(preconditions, is_set));
  pool_.insert(pool_.end(), preconditions.begin(), preconditions.end());
  step.end = static_cast<uint32_t>(pool_.size());
  steps_.push_back(step);
}

// Whether the operator can be applied in any state without mutex facts, and leads to such a state.
bool Regression::consistent(const Step& step) const {
  const auto exclusive = [&](std::span<const Fact> some, std::span<const Fact> others) {
    for (const Fact& fact : some)
      for (const Fact& other : others)
        if (fact.variable != other.variable && space_.mutexes().are_mutex(fact, other)) return true;
    return false;
  };
  if (space_.task().mutex_groups.empty()) return true;
  const auto effects = facts(step.effects, step.preconditions);
  const auto preconditions = facts(step.preconditions, step.end);
  return !exclusive(effects, effects) && !exclusive(preconditions, preconditions) &&
         !exclusive(effects, facts(step.prevail, step.end));
}

PartialState Regression::goal() const {
  PartialState state = empty();
  for (const Fact& fact : space_.task().goal) put(state, fact);
  return state;
}

PartialState Regression::state(const Value* values) const {
  PartialState state = empty();
  for (int32_t v = 0; v < static_cast<int32_t>(state.values_.size()); ++v)
    if (values[v] != kUnset) put(state, {v, values[v]});
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
  for (int32_t v = 0; v < static_cast<int32_t>(state.values_.size()); ++v) {
    if (state.values_[v] != kUnset) walk(roots_[ids_({v, state.values_[v]})], state, v, operators);
  }
}

void Regression::walk(uint32_t id, const PartialState& state, int32_t via,
                      std::vector<int32_t>& operators) const {
  for (const int32_t op : tested_[id])
    if (regresses(state, op, via)) operators.push_back(op);
  for (const Edge& edge : edges_[id]) {
    const Value value = state.values_[edge.fact.variable];
    if (value == kUnset || value == edge.fact.value) walk(edge.node, state, via, operators);
  }
}

int32_t Regression::draw(const PartialState& state, Random& random) const {
  // 1. A random achiever of a random fact of the state, if it counts: what is accepted is uniform.
  constexpr int kTries = 24;
  const auto variables = static_cast<int32_t>(state.values_.size());
  uint32_t candidates = 0;
  for (int32_t v = 0; v < variables; ++v)
    if (state.values_[v] != kUnset) candidates += static_cast<uint32_t>(achievers(state, v).size());
  if (candidates == 0) return -1;
  for (int attempt = 0; attempt < kTries && candidates > kTries; ++attempt) {
    uint32_t i = random.below(candidates);
    for (int32_t v = 0; v < variables; ++v) {
      if (state.values_[v] == kUnset) continue;
      const std::vector<int32_t>& list = achievers(state, v);
      if (i < list.size()) {
        if (regresses(state, list[i], v)) return list[i];
        break;
      }
      i -= static_cast<uint32_t>(list.size());
    }
  }
  // 2. Few count: list them.
  std::vector<int32_t> operators;
  applicable(state, operators);
  return operators.empty() ? -1 : operators[random.below(static_cast<uint32_t>(operators.size()))];
}

bool Regression::regresses(const PartialState& state, int32_t op, int32_t via) const {
  const Step& step = steps_[op];
  // 1. and 2. No other value of any variable it touches.
  for (const Fact& fact : facts(step.effects, step.preconditions)) {
    const Value value = state.values_[fact.variable];
    if (value == kUnset) continue;
    if (value != fact.value || fact.variable < via) return false;
  }
  for (const Fact& fact : facts(step.prevail, step.end)) {
    const Value value = state.values_[fact.variable];
    if (value != kUnset && value != fact.value) return false;
  }
  return state.in_group_.empty() || mutex_free(state, step);
}

bool Regression::mutex_free(const PartialState& state, const Step& step) const {
  const auto effects = facts(step.effects, step.preconditions);
  // 3. Facts that are set lie in no group with another fact of the state ...
  for (const Fact& fact : effects) {
    if (state.values_[fact.variable] == fact.value) continue;
    for (const int32_t group : groups(fact))
      if (state.in_group_[group] > 0) return false;
  }
  // ... and preconditions in no group with a fact that stays.
  for (const Fact& fact : facts(step.preconditions, step.end)) {
    if (state.values_[fact.variable] == fact.value) continue;
    for (const int32_t group : groups(fact)) {
      int32_t stay = state.in_group_[group];
      for (const Fact& effect : effects) {
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
  const Step& step = steps_[op];
  for (const Fact& fact : facts(step.effects, step.preconditions)) take(state, fact.variable);
  for (const Fact& fact : facts(step.preconditions, step.end)) put(state, fact);
}

}  // namespace hstar
