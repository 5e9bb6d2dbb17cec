// How a derived variable comes to have its default value, as rules a relaxation can use.
//
// A derived variable is at its default when every axiom for its other values has a false condition. For a
// variable that does not depend on itself that is a disjunction of conjunctions, the minimal hitting sets of
// the negated axiom bodies. For one that does (or where there are too many conjunctions) the rule is left
// empty: the default holds for free. Either way a state in which the default holds satisfies a rule, so
// heuristics built on it stay safe, and hmax admissible. As in Fast Downward's "approximate negative cycles".
#include <algorithm>
#include <cstdint>

#include "base/scc.h"
#include "heuristics/relaxed_task.h"

namespace hstar {
namespace {

using Facts = std::vector<Fact>;  // sorted

// Beyond this many alternatives the default of a variable is taken to be free.
constexpr size_t kMaxRules = 1000;

std::vector<char> needed_defaults(const Task& task) {
  std::vector<char> needed(task.variables.size(), 0);
  const auto ask = [&](std::span<const Fact> facts) {
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

// Derived variables that depend on themselves: those in a strongly connected component of the dependency
// graph with more than one variable, or with an edge to itself.
std::vector<char> cyclic_variables(const Task& task) {
  std::vector<std::vector<int32_t>> uses(task.variables.size());
  std::vector<char> cyclic(task.variables.size(), 0);
  for (const Axiom& axiom : task.axioms) {
    for (const Fact& fact : axiom.conditions) {
      if (!task.variables[fact.variable].derived()) continue;
      uses[axiom.head.variable].push_back(fact.variable);
      if (fact.variable == axiom.head.variable) cyclic[fact.variable] = 1;
    }
  }
  for (const std::vector<int32_t>& component : components(uses))
    if (component.size() > 1)
      for (const int32_t v : component) cyclic[v] = 1;
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
