#include "heuristics/ff.h"

#include <algorithm>

#include "heuristics/catalogue.h"

namespace hstar {

const HeuristicInfo FF::info = {
    .name = "ff",
    .description = "cost of a relaxed plan",
    .reference = "Hoffmann and Nebel, JAIR 2001",
    .safe = true,
    .supports_axioms = true,
    .supports_conditional_effects = true,
    .preferred_operators = true,
};

namespace {

// Atoms that an operator makes false, as far as the finite-domain encoding shows: a value that is an atom
// and is replaced, or a negated atom that is set without asking for the value before.
int32_t count_deletes(const Task& task, const Operator& op) {
  const auto starts = [&](Fact fact, const char* prefix) {
    return task.variables[fact.variable].fact_names[fact.value].starts_with(prefix);
  };
  int32_t deletes = 0;
  for (const Effect& effect : op.effects) {
    const auto before = std::ranges::find(op.preconditions, effect.fact.variable, &Fact::variable);
    if (before == op.preconditions.end())
      deletes += starts(effect.fact, "NegatedAtom");
    else
      deletes += before->value != effect.fact.value && starts(*before, "Atom");
  }
  return deletes;
}

}  // namespace

FF::FF(const PlanningSpace& space, CostType type)
    : SymbolicHeuristic(info), space_(space), exploration_(space.task(), type) {
  for (const Operator& op : space.task().operators) deletes_.push_back(count_deletes(space.task(), op));
  fact_mark_.resize(exploration_.relaxed().facts, 0);
  operator_mark_.resize(space.task().operators.size(), 0);
}

Cost FF::value(const Value* values) {
  plan_.clear();
  if (exploration_.run(values) == exploration_.kUnreached) return kDeadEnd;
  return static_cast<Cost>(std::min<int64_t>(extract_plan(), kMaxCost));
}

int64_t FF::extract_plan() {
  int64_t cost = 0;
  const RelaxedTask& relaxed = exploration_.relaxed();
  if (++round_ == 0) {  // the marks of 2^32 evaluations ago could be taken for new ones
    std::ranges::fill(fact_mark_, 0);
    std::ranges::fill(operator_mark_, 0);
    round_ = 1;
  }
  const auto need = [&](int32_t fact) {
    if (fact_mark_[fact] == round_) return;
    fact_mark_[fact] = round_;
    if (exploration_.supporter(fact) != -1) stack_.push_back(fact);
  };
  std::ranges::for_each(relaxed.goal, need);
  while (!stack_.empty()) {
    const int32_t supporter = exploration_.supporter(stack_.back());
    stack_.pop_back();
    std::ranges::for_each(relaxed.preconditions[supporter], need);
    const int32_t op = relaxed.sources[supporter];
    if (op == -1 || operator_mark_[op] == round_) continue;
    operator_mark_[op] = round_;
    plan_.push_back(op);
    cost += relaxed.costs[supporter];
  }
  return cost;
}

Cost FF::evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) {
  const Value* values = batch.values(i);
  const Cost h = value(values);
  for (const int32_t op : plan_)
    if (holds(space_.task().operators[op].preconditions, values)) preferred.push_back(op);
  return h;
}

int64_t FF::ignored_deletes() const {
  int64_t deletes = 0;
  for (const int32_t op : plan_) deletes += deletes_[op];
  return deletes;
}

const HeuristicEntry ff_entry = entry<FF>();

}  // namespace hstar
