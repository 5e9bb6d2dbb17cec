#include "pddl/encoder.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace hstar::pddl {
namespace {

void insert_fact(std::vector<Fact>& facts, Fact fact) {
  facts.insert(std::ranges::upper_bound(facts, fact.variable, {}, &Fact::variable), fact);
}

// Without what the precondition says; false if both cannot hold.
bool reduce(std::vector<Fact>& conditions, const std::vector<Fact>& precondition) {
  size_t kept = 0;
  for (const Fact& fact : conditions) {
    const Value value = asked(precondition, fact.variable);
    if (value >= 0 && value != fact.value) return false;
    if (value < 0) conditions[kept++] = fact;
  }
  conditions.resize(kept);
  return true;
}

}  // namespace

Encoder::Encoder(const Groups& groups, const Atoms& atoms, FlatTask& task, Watch& watch)
    : task_(task), watch_(watch), facts_(atoms.size()), first_group_(atoms.size() + 1, 0) {
  for (size_t v = 0; v < groups.variables.size(); ++v) {
    FlatVariable& variable = task_.variables.emplace_back();
    variable.atoms = groups.variables[v];
    for (size_t i = 0; i < variable.atoms.size(); ++i)
      facts_[variable.atoms[i]] = {static_cast<int32_t>(v), static_cast<Value>(i)};
    if (variable.atoms.size() == 1) variable.absent = variable.atoms[0];
    variable.initial = variable.size();
    variable.atoms.push_back(-1);
  }
  for (const auto& group : groups.mutexes)
    for (const int32_t atom : group) ++first_group_[atom + 1];
  std::partial_sum(first_group_.begin(), first_group_.end(), first_group_.begin());
  groups_.resize(first_group_.back());
  std::vector<int32_t> place(first_group_.begin(), first_group_.end() - 1);
  for (size_t g = 0; g < groups.mutexes.size(); ++g)
    for (const int32_t atom : groups.mutexes[g]) groups_[place[atom]++] = static_cast<int32_t>(g);
  seen_.resize(groups.mutexes.size(), 0);
  met_.resize(groups.mutexes.size(), -1);
  for (const auto& group : groups.mutexes) {
    std::vector<Fact>& mutex = task_.mutexes.emplace_back();
    for (const int32_t atom : group) mutex.push_back(facts_[atom]);
  }
}

// Whether two of the positive literals exclude each other.
bool Encoder::exclusive(const std::vector<GroundLiteral>& literals) {
  ++calls_;
  for (const GroundLiteral literal : literals) {
    if (is_negated(literal)) continue;
    const int32_t atom = atom_of(literal);
    for (int32_t i = first_group_[atom]; i < first_group_[atom + 1]; ++i) {
      const int32_t group = groups_[i];
      if (seen_[group] == calls_ && met_[group] != atom) return true;
      seen_[group] = calls_;
      met_[group] = atom;
    }
  }
  return false;
}

bool Encoder::split(const std::vector<GroundLiteral>& literals, std::vector<Fact>& sure,
                    std::vector<Fact>& excluded) {
  sure.clear();
  excluded.clear();
  if (exclusive(literals)) return false;
  for (const GroundLiteral literal : literals) {
    const Fact fact = facts_[atom_of(literal)];
    if (is_negated(literal)) {
      excluded.push_back(fact);
      continue;
    }
    const Value value = asked(sure, fact.variable);
    if (value >= 0 && value != fact.value) return false;
    if (value < 0) insert_fact(sure, fact);
  }
  return true;
}

std::vector<std::vector<Fact>> Encoder::conditions(const std::vector<GroundLiteral>& literals) {
  std::vector<Fact> sure, excluded;
  if (!split(literals, sure, excluded)) return {};
  std::ranges::sort(excluded);
  excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
  std::vector<std::vector<Fact>> result = {sure};
  for (size_t begin = 0, end; begin < excluded.size(); begin = end) {
    const int32_t variable = excluded[begin].variable;
    for (end = begin; end < excluded.size() && excluded[end].variable == variable;) ++end;
    const std::span<const Fact> out(excluded.data() + begin, end - begin);
    if (const Value value = asked(sure, variable); value >= 0) {
      if (std::ranges::find(out, Fact{variable, value}) != out.end()) return {};
      continue;
    }
    std::vector<std::vector<Fact>> longer;
    for (Value value = 0; value < task_.variables[variable].size(); ++value) {
      if (std::ranges::find(out, Fact{variable, value}) != out.end()) continue;
      for (const std::vector<Fact>& facts : result) {
        watch_(2);
        insert_fact(longer.emplace_back(facts), {variable, value});
      }
    }
    result = std::move(longer);
  }
  return result;
}

void Encoder::add_operator(std::span<const int32_t> words, Cost cost,
                           const std::vector<GroundLiteral>& precondition,
                           const std::vector<GroundEffect>& effects) {
  // Most operators ask for no negative literal; they need no list of ways.
  if (!split(precondition, sure_, excluded_)) return;
  if (excluded_.empty()) {
    add_way(words, cost, sure_, effects);
    return;
  }
  for (const std::vector<Fact>& facts : conditions(precondition)) add_way(words, cost, facts, effects);
}

void Encoder::add_way(std::span<const int32_t> words, Cost cost, const std::vector<Fact>& precondition,
                      const std::vector<GroundEffect>& effects) {
  watch_(5);
  std::vector<Change>&all = changes_, &found = found_;
  find_changes(precondition, effects, all);
  found.clear();
  for (size_t begin = 0, end; begin < all.size(); begin = end) {
    for (end = begin; end < all.size() && all[end].fact.variable == all[begin].fact.variable;) ++end;
    encode_variable(precondition, std::span(all).subspan(begin, end - begin), found);
  }
  if (!found.empty()) task_.operators.add(words, cost, precondition, found);
}

// By variables; those of a variable in the order of the effects.
void Encoder::find_changes(const std::vector<Fact>& precondition, const std::vector<GroundEffect>& effects,
                           std::vector<Change>& result) {
  constexpr size_t kFew = 16;
  result.clear();
  for (const GroundEffect& effect : effects) {
    if (effect.conditions.empty()) {
      result.push_back({facts_[effect.atom], {}, !effect.negated});
      continue;
    }
    for (std::vector<Fact>& facts : conditions(effect.conditions))
      if (reduce(facts, precondition))
        result.push_back({facts_[effect.atom], std::move(facts), !effect.negated});
  }
  const auto variable = [](const Change& change) { return change.fact.variable; };
  if (result.size() > kFew) {
    std::ranges::stable_sort(result, {}, variable);
    return;
  }
  for (auto at = result.begin(); at != result.end(); ++at)
    std::rotate(std::ranges::upper_bound(result.begin(), at, variable(*at), {}, variable), at, at + 1);
}

// What becomes of one variable.
void Encoder::encode_variable(const std::vector<Fact>& precondition, std::span<const Change> changes,
                              std::vector<Change>& found) {
  const size_t first = found.size();
  const int32_t variable = changes[0].fact.variable;
  const Value before = asked(precondition, variable);
  bool always_set = false;
  for (const Change& change : changes) {
    if (!change.added) continue;
    always_set |= change.conditions.empty();
    const Value own = before >= 0 ? before : asked(change.conditions, variable);
    if (own != change.fact.value) found.push_back(change);
  }
  if (!always_set)
    for (const Change& change : changes)
      if (!change.added) removal(precondition, change, changes, found);
  for (size_t i = first; i < found.size(); ++i)
    for (size_t j = found.size(); j-- > i + 1;)
      if (found[i].fact == found[j].fact && found[i].conditions == found[j].conditions)
        found.erase(found.begin() + static_cast<ptrdiff_t>(j));
  // Of two values it must be the other one that the effect changes.
  if (found.size() == first + 1 && task_.variables[variable].size() == 2)
    std::erase_if(found[first].conditions, [&](const Fact& fact) { return fact.variable == variable; });
}

void Encoder::removal(const std::vector<Fact>& precondition, const Change& change,
                      std::span<const Change> changes, std::vector<Change>& found) {
  const int32_t variable = change.fact.variable;
  const Value before = asked(precondition, variable);
  if (before >= 0 && before != change.fact.value) return;
  const Value own = asked(change.conditions, variable);
  if (own >= 0 && own != change.fact.value) return;
  Change base{{variable, task_.variables[variable].size() - 1}, change.conditions, false};
  if (before < 0 && own < 0) insert_fact(base.conditions, change.fact);
  std::vector<const Change*> setters;
  for (const Change& other : changes)
    if (other.added) setters.push_back(&other);
  if (setters.empty()) {
    found.push_back(std::move(base));
    return;
  }
  // One condition of every effect that sets the variable must fail.
  const std::function<void(size_t, const Change&)> extend = [&](size_t n, const Change& partial) {
    watch_();
    if (n == setters.size()) {
      found.push_back(partial);
      return;
    }
    for (const Fact& fact : setters[n]->conditions) {
      const Value value = asked(partial.conditions, fact.variable);
      if (value >= 0) {
        if (value == fact.value) continue;
        // It fails anyhow: no other way to fail is needed.
        extend(n + 1, partial);
        return;
      }
    }
    for (const Fact& fact : setters[n]->conditions) {
      if (asked(partial.conditions, fact.variable) >= 0) continue;
      for (Value other = 0; other < task_.variables[fact.variable].size(); ++other) {
        if (other == fact.value) continue;
        Change longer = partial;
        insert_fact(longer.conditions, {fact.variable, other});
        extend(n + 1, longer);
      }
    }
  };
  extend(0, base);
}

void Encoder::add_axiom(const std::vector<GroundLiteral>& body, int32_t head) {
  for (std::vector<Fact>& facts : conditions(body)) task_.axioms.push_back({std::move(facts), facts_[head]});
}

}  // namespace hstar::pddl
