#include "heuristics/default_axioms.h"

#include <algorithm>
#include <cstdint>

namespace hstar {
namespace {

using Facts = std::vector<Fact>;  // sorted

// Beyond this many alternatives the default of a variable is taken to be free.
constexpr size_t kMaxRules = 1000;

std::vector<char> needed_defaults(const Task& task) {
  std::vector<char> needed(task.variables.size(), 0);
  const auto ask = [&](const Facts& facts) {
    for (const Fact& fact : facts)
      if (task.variables[fact.variable].derived() && fact.value == task.initial_values[fact.variable])
        needed[fact.variable] = 1;
  };
  ask(task.goal);
  for (const Axiom& axiom : task.axioms) ask(axiom.conditions);
  for (const Operator& op : task.operators) {
    ask(op.preconditions);
    for (const Effect& effect : op.effects) ask(effect.conditions);
  }
  // The rules themselves may ask for defaults of other derived variables.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Axiom& axiom : task.axioms) {
      if (!needed[axiom.head.variable]) continue;
      for (const Fact& fact : axiom.conditions) {
        if (!task.variables[fact.variable].derived() || needed[fact.variable]) continue;
        needed[fact.variable] = 1;
        changed = true;
      }
    }
  }
  return needed;
}

// Derived variables that take part in a cycle of dependencies: what is left when variables without
// unresolved dependencies, and then variables nobody unresolved depends on, are taken away.
std::vector<char> cyclic_variables(const Task& task) {
  const size_t n = task.variables.size();
  std::vector<std::vector<int32_t>> uses(n), used_by(n);
  for (const Axiom& axiom : task.axioms) {
    for (const Fact& fact : axiom.conditions) {
      if (!task.variables[fact.variable].derived()) continue;
      uses[axiom.head.variable].push_back(fact.variable);
      used_by[fact.variable].push_back(axiom.head.variable);
    }
  }
  std::vector<char> cyclic(n);
  for (size_t v = 0; v < n; ++v) cyclic[v] = task.variables[v].derived();
  const auto peel = [&](const auto& out, const auto& in) {
    std::vector<size_t> open(n, 0);
    std::vector<int32_t> queue;
    for (size_t v = 0; v < n; ++v) {
      if (!cyclic[v]) continue;
      open[v] = std::ranges::count_if(out[v], [&](int32_t u) { return cyclic[u]; });
      if (open[v] == 0) queue.push_back(static_cast<int32_t>(v));
    }
    while (!queue.empty()) {
      const int32_t v = queue.back();
      queue.pop_back();
      cyclic[v] = 0;
      for (const int32_t u : in[v])
        if (cyclic[u] && --open[u] == 0) queue.push_back(u);
    }
  };
  peel(uses, used_by);
  peel(used_by, uses);
  return cyclic;
}

// Adds `fact` to a sorted set; false if the set asks for another value of the same variable.
bool add_fact(Facts& facts, Fact fact) {
  const auto at = std::ranges::lower_bound(facts, fact.variable, {}, &Fact::variable);
  if (at != facts.end() && at->variable == fact.variable) return at->value == fact.value;
  facts.insert(at, fact);
  return true;
}

bool falsifies(const Facts& facts, const Facts& body) {
  return std::ranges::any_of(body, [&](const Fact& condition) {
    const auto at = std::ranges::lower_bound(facts, condition.variable, {}, &Fact::variable);
    return at != facts.end() && at->variable == condition.variable && at->value != condition.value;
  });
}

void keep_minimal(std::vector<Facts>& sets) {
  std::ranges::sort(sets, {}, [](const Facts& facts) { return facts.size(); });
  std::vector<Facts> kept;
  for (Facts& candidate : sets) {
    const bool implied = std::ranges::any_of(
        kept, [&](const Facts& smaller) { return std::ranges::includes(candidate, smaller); });
    if (!implied) kept.push_back(std::move(candidate));
  }
  sets.swap(kept);
}

// The minimal sets of facts that make every body false; one empty set if there are too many.
std::vector<Facts> hitting_sets(const Task& task, const std::vector<Facts>& bodies) {
  std::vector<Facts> sets = {{}};
  for (const Facts& body : bodies) {
    std::vector<Facts> next;
    for (const Facts& set : sets) {
      if (falsifies(set, body)) {
        next.push_back(set);
        continue;
      }
      for (const Fact& condition : body) {
        for (Value value = 0; value < task.variables[condition.variable].domain_size(); ++value) {
          if (value == condition.value) continue;
          Facts longer = set;
          if (add_fact(longer, {condition.variable, value})) next.push_back(std::move(longer));
        }
      }
      if (next.size() > 10 * kMaxRules) return {{}};
    }
    keep_minimal(next);
    if (next.size() > kMaxRules) return {{}};
    sets.swap(next);
  }
  return sets;
}

}  // namespace

std::vector<Axiom> default_axioms(const Task& task) {
  std::vector<Axiom> rules;
  if (!task.has_axioms()) return rules;
  const std::vector<char> needed = needed_defaults(task);
  const std::vector<char> cyclic = cyclic_variables(task);
  std::vector<std::vector<Facts>> bodies(task.variables.size());
  for (const Axiom& axiom : task.axioms)
    if (axiom.head.value != task.initial_values[axiom.head.variable])
      bodies[axiom.head.variable].push_back(axiom.conditions);
  for (int32_t v = 0; v < static_cast<int32_t>(task.variables.size()); ++v) {
    if (!needed[v]) continue;
    const Fact head{v, task.initial_values[v]};
    if (cyclic[v]) {
      rules.push_back({{}, head});
      continue;
    }
    for (Facts& conditions : hitting_sets(task, bodies[v])) rules.push_back({std::move(conditions), head});
  }
  return rules;
}

}  // namespace hstar
