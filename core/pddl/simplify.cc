#include "pddl/simplify.h"

#include <algorithm>
#include <numeric>

namespace hstar::pddl {
namespace {

constexpr Value kGone = -1;    // of a value: cannot be reached; of a variable: left out
constexpr Value kAlways = -2;  // of a value: the only one of its variable

// New facts by old ones; kGone and kAlways instead of values.
class Renaming {
 public:
  explicit Renaming(const FlatTask& task) : offset_(1, 0) {
    for (const FlatVariable& variable : task.variables) offset_.push_back(offset_.back() + variable.size());
    facts_.resize(offset_.back(), {kGone, kGone});
  }
  Fact& operator[](Fact fact) { return facts_[offset_[fact.variable] + fact.value]; }
  size_t id(Fact fact) const { return offset_[fact.variable] + fact.value; }
  size_t size() const { return facts_.size(); }

  // Renames in place; false if they ask for what cannot be. Returns the number that is left in `count`.
  bool apply(Fact* facts, uint32_t& count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const Fact renamed = (*this)[facts[i]];
      if (renamed.value == kGone) return false;
      if (renamed.value != kAlways) facts[kept++] = renamed;
    }
    count = kept;
    return true;
  }

 private:
  std::vector<size_t> offset_;
  std::vector<Fact> facts_;
};

void rename_operators(FlatTask& task, Renaming& renaming, Watch& watch) {
  task.operators.rename([&](Fact& fact) {
    watch();
    fact = renaming[fact];
    return fact.value == kGone     ? Operators::Renamed::kNever
           : fact.value == kAlways ? Operators::Renamed::kAlways
                                   : Operators::Renamed::kFact;
  });
}

void rename_axioms(FlatTask& task, Renaming& renaming) {
  size_t kept = 0;
  for (Axiom& axiom : task.axioms) {
    auto count = static_cast<uint32_t>(axiom.conditions.size());
    axiom.head = renaming[axiom.head];
    if (axiom.head.value < 0 || !renaming.apply(axiom.conditions.data(), count)) continue;
    axiom.conditions.resize(count);
    if (&task.axioms[kept] != &axiom) task.axioms[kept] = std::move(axiom);
    ++kept;
  }
  task.axioms.resize(kept);
}

void rename_mutexes(FlatTask& task, Renaming& renaming) {
  size_t kept = 0;
  for (std::vector<Fact>& group : task.mutexes) {
    size_t count = 0;
    for (const Fact& fact : group)
      if (const Fact renamed = renaming[fact]; renamed.value >= 0) group[count++] = renamed;
    group.resize(count);
    if (count < 2) continue;
    if (&task.mutexes[kept] != &group) task.mutexes[kept] = std::move(group);
    ++kept;
  }
  task.mutexes.resize(kept);
}

// Which facts can be reached by effects on their variable alone.
std::vector<bool> reached_facts(const FlatTask& task, const Renaming& ids, Watch& watch) {
  std::vector<bool> reached(ids.size(), false);
  std::vector<size_t> queue;
  const auto reach = [&](size_t id) {
    if (!reached[id]) queue.push_back(id);
    reached[id] = true;
  };
  for (size_t v = 0; v < task.variables.size(); ++v)
    reach(ids.id({static_cast<int32_t>(v), task.variables[v].initial}));
  for (const Axiom& axiom : task.axioms) reach(ids.id(axiom.head));
  // Arcs by the fact they start from, counted first; an arc from any value is taken at once.
  std::vector<size_t> first(ids.size() + 1, 0);
  std::vector<uint32_t> arcs;
  for (const bool counting : {true, false}) {
    for (const Operator& op : task.operators) {
      watch(2);
      for (const Effect& effect : op.effects) {
        Value from = asked(op.preconditions, effect.fact.variable);
        if (from < 0) from = asked(effect.conditions, effect.fact.variable);
        if (from < 0) {
          reach(ids.id(effect.fact));
          continue;
        }
        const size_t source = ids.id({effect.fact.variable, from});
        if (counting)
          ++first[source + 1];
        else
          arcs[first[source]++] = static_cast<uint32_t>(ids.id(effect.fact));
      }
    }
    if (!counting) break;
    std::partial_sum(first.begin(), first.end(), first.begin());
    arcs.resize(first.back());
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    // After filling, first[id] is the end of the arcs of id.
    const size_t id = queue[i];
    for (size_t arc = id == 0 ? 0 : first[id - 1]; arc < first[id]; ++arc) reach(arcs[arc]);
  }
  return reached;
}

}  // namespace

Triviality drop_unreachable(FlatTask& task, Watch& watch) {
  Renaming renaming(task);
  const std::vector<bool> reached = reached_facts(task, renaming, watch);
  std::vector<FlatVariable> variables;
  for (size_t v = 0; v < task.variables.size(); ++v) {
    FlatVariable& variable = task.variables[v];
    const auto number = static_cast<int32_t>(v);
    std::vector<Value> kept;
    for (Value value = 0; value < variable.size(); ++value)
      if (reached[renaming.id({number, value})]) kept.push_back(value);
    for (size_t i = 0; i < kept.size(); ++i)
      renaming[{number, kept[i]}] = kept.size() == 1
                                        ? Fact{kGone, kAlways}
                                        : Fact{static_cast<int32_t>(variables.size()), static_cast<Value>(i)};
    if (kept.size() == 1) continue;
    FlatVariable shorter{{}, 0, variable.layer, variable.absent};
    for (const Value value : kept) shorter.atoms.push_back(variable.atoms[value]);
    shorter.initial = renaming[{number, variable.initial}].value;
    variables.push_back(std::move(shorter));
  }
  auto goals = static_cast<uint32_t>(task.goal.size());
  if (!renaming.apply(task.goal.data(), goals)) return Triviality::kUnsolvable;
  task.goal.resize(goals);
  if (goals == 0) return Triviality::kSolved;
  rename_operators(task, renaming, watch);
  rename_axioms(task, renaming);
  rename_mutexes(task, renaming);
  task.variables = std::move(variables);
  return Triviality::kNone;
}

void reorder(FlatTask& task, const std::vector<int32_t>& order, Watch& watch) {
  Renaming renaming(task);
  std::vector<FlatVariable> variables;
  for (const int32_t v : order) {
    for (Value value = 0; value < task.variables[v].size(); ++value)
      renaming[{v, value}] = {static_cast<int32_t>(variables.size()), value};
    variables.push_back(std::move(task.variables[v]));
  }
  rename_operators(task, renaming, watch);
  rename_axioms(task, renaming);
  rename_mutexes(task, renaming);
  auto goals = static_cast<uint32_t>(task.goal.size());
  renaming.apply(task.goal.data(), goals);
  task.variables = std::move(variables);
}

}  // namespace hstar::pddl
