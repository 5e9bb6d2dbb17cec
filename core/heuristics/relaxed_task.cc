#include "heuristics/relaxed_task.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"

namespace hstar {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};
constexpr size_t kMaxSubsets = 5;  // preconditions

}  // namespace

struct RelaxedTask::Draft {
  std::vector<int32_t> preconditions;
  std::vector<int32_t> effects;
  Cost cost;
  int32_t source;
};

RelaxedTask::RelaxedTask(const Task& task, CostType type)
    : ids(task), facts(ids.size()), variables_(static_cast<int32_t>(task.variables.size())) {
  for (const Fact& fact : task.goal) goal.push_back(ids(fact));
  std::vector<Draft> all = drafts(task, type);
  find_relevant(all);
  for (Draft& draft : all) std::erase_if(draft.effects, [&](int32_t fact) { return !relevant[fact]; });
  rebuild(all);
}

void RelaxedTask::rebuild(const std::vector<Draft>& drafts) {
  preconditions = Rows();
  effects = Rows();
  costs.clear();
  sources.clear();
  for (const Draft& draft : drafts) {
    if (draft.effects.empty()) continue;
    preconditions.push_row(draft.preconditions);
    effects.push_row(draft.effects);
    costs.push_back(draft.cost);
    sources.push_back(draft.source);
  }
}

void RelaxedTask::remove_dominated() {
  const auto list = [](std::span<const int32_t> row) { return std::vector<int32_t>(row.begin(), row.end()); };
  std::vector<Draft> all;
  for (int32_t op = 0; op < operators(); ++op)
    all.push_back({list(preconditions[op]), list(effects[op]), costs[op], sources[op]});

  // 1. The cheapest way to each effect for each set of preconditions: its cost, then the first such operator.
  std::unordered_map<std::vector<int32_t>, std::pair<Cost, int32_t>, HashNumbers> best;
  std::vector<std::vector<int32_t>> sorted;
  for (const Draft& draft : all) {
    sorted.push_back(draft.preconditions);
    std::ranges::sort(sorted.back());
  }
  std::vector<int32_t> key;
  const auto key_of = [&](int32_t effect, const std::vector<int32_t>& facts, uint32_t subset) {
    key.assign(1, effect);
    for (size_t i = 0; i < facts.size(); ++i)
      if (subset == kAll || subset >> i & 1) key.push_back(facts[i]);
  };
  for (int32_t op = 0; op < operators(); ++op) {
    for (const int32_t effect : all[op].effects) {
      key_of(effect, sorted[op], kAll);
      const auto [at, added] = best.try_emplace(key, costs[op], op);
      if (!added) at->second = std::min(at->second, {costs[op], op});
    }
  }
  // 2. Drop an effect if the same or fewer preconditions make it true as cheaply. Subsets are tried for small
  // sets only, where they are few and where they matter.
  for (int32_t op = 0; op < operators(); ++op) {
    const std::vector<int32_t>& facts = sorted[op];
    std::erase_if(all[op].effects, [&](int32_t effect) {
      key_of(effect, facts, kAll);
      if (best.at(key).second != op) return true;
      if (facts.size() > kMaxSubsets) return false;
      for (uint32_t subset = 0; subset + 1 < 1u << facts.size(); ++subset) {
        key_of(effect, facts, subset);
        const auto at = best.find(key);
        if (at != best.end() && at->second.first <= costs[op]) return true;
      }
      return false;
    });
  }
  rebuild(all);
}

std::vector<RelaxedTask::Draft> RelaxedTask::drafts(const Task& task, CostType type) const {
  std::vector<Draft> result;
  const Cost extra = type == CostType::kPlusOne && !task.unit_cost() ? 1 : 0;
  for (int32_t i = 0; i < static_cast<int32_t>(task.operators.size()); ++i) {
    const Operator& op = task.operators[i];
    std::vector<int32_t> base;
    for (const Fact& fact : op.preconditions) base.push_back(ids(fact));
    // One relaxed operator for each set of effect conditions, in the order of first use.
    std::map<std::vector<Fact>, size_t> by_condition;
    for (const Effect& effect : op.effects) {
      const auto [at, added] =
          by_condition.try_emplace({effect.conditions.begin(), effect.conditions.end()}, result.size());
      if (added) {
        Draft draft{base, {}, type == CostType::kOne ? 1 : op.cost + extra, i};
        for (const Fact& fact : effect.conditions)
          if (std::ranges::find(draft.preconditions, ids(fact)) == draft.preconditions.end())
            draft.preconditions.push_back(ids(fact));
        result.push_back(std::move(draft));
      }
      std::vector<int32_t>& effects = result[at->second].effects;
      if (std::ranges::find(effects, ids(effect.fact)) == effects.end()) effects.push_back(ids(effect.fact));
    }
  }
  std::vector<Axiom> axioms = default_axioms(task);
  axioms.insert(axioms.end(), task.axioms.begin(), task.axioms.end());
  for (const Axiom& axiom : axioms) {
    Draft draft{{}, {ids(axiom.head)}, 0, -1};
    for (const Fact& fact : axiom.conditions) draft.preconditions.push_back(ids(fact));
    result.push_back(std::move(draft));
  }
  return result;
}

void RelaxedTask::find_relevant(const std::vector<Draft>& drafts) {
  std::vector<std::vector<int32_t>> achievers(facts);
  for (int32_t i = 0; i < static_cast<int32_t>(drafts.size()); ++i)
    for (const int32_t fact : drafts[i].effects) achievers[fact].push_back(i);
  relevant.assign(facts, 0);
  std::vector<int32_t> queue;
  const auto need = [&](int32_t fact) {
    if (relevant[fact]) return;
    relevant[fact] = 1;
    queue.push_back(fact);
  };
  std::ranges::for_each(goal, need);
  while (!queue.empty()) {
    const int32_t fact = queue.back();
    queue.pop_back();
    for (const int32_t i : achievers[fact]) std::ranges::for_each(drafts[i].preconditions, need);
  }
}

}  // namespace hstar
