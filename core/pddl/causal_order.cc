#include <algorithm>
#include <numeric>
#include <set>

#include "base/scc.h"
#include "pddl/relation.h"
#include "pddl/simplify.h"

namespace hstar::pddl {
namespace {

// Arcs to goal variables are kept if at all possible: those come last in their component.
constexpr int64_t kGoalWeight = 100'000;

// How often a variable is asked for when another one changes.
struct CausalGraph {
  std::vector<std::vector<int32_t>> successors, predecessors;
  std::vector<std::vector<int64_t>> weights;  // as successors
};

// Counts pairs of variables: in a table if it is small, else by hashing.
class Arcs {
 public:
  explicit Arcs(size_t variables)
      : variables_(variables), table_(variables <= kSmall ? variables * variables : 0), pairs_(2) {}

  void add(int32_t source, int32_t target) {
    if (source == target) return;
    if (!table_.empty()) {
      ++table_[static_cast<size_t>(source) * variables_ + static_cast<size_t>(target)];
      return;
    }
    const int32_t pair[] = {source, target};
    if (pairs_.insert(pair)) counts_.push_back(0);
    ++counts_[pairs_.find(pair)];
  }

  // Calls visit(source, target, count), in the order of pairs.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < table_.size(); ++i)
      if (table_[i] > 0)
        visit(static_cast<int32_t>(i / variables_), static_cast<int32_t>(i % variables_), table_[i]);
    std::vector<int32_t> order(pairs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](int32_t a, int32_t b) {
      return std::ranges::lexicographical_compare(pairs_.row(a), pairs_.row(b));
    });
    for (const int32_t row : order) visit(pairs_.row(row)[0], pairs_.row(row)[1], counts_[row]);
  }

 private:
  static constexpr size_t kSmall = 2048;
  size_t variables_;
  std::vector<int64_t> table_;  // per pair; empty if there are too many variables
  Relation pairs_;
  std::vector<int64_t> counts_;  // as pairs
};

CausalGraph make_graph(const FlatTask& task, Watch& watch) {
  const size_t n = task.variables.size();
  Arcs arcs(n);
  for (const Operator& op : task.operators) {
    watch(5);
    for (const Effect& effect : op.effects) {
      for (const Fact& fact : op.preconditions) arcs.add(fact.variable, effect.fact.variable);
      for (const Fact& fact : effect.conditions) arcs.add(fact.variable, effect.fact.variable);
    }
  }
  for (const Axiom& axiom : task.axioms)
    for (const Fact& fact : axiom.conditions) arcs.add(fact.variable, axiom.head.variable);

  CausalGraph graph{std::vector<std::vector<int32_t>>(n), std::vector<std::vector<int32_t>>(n),
                    std::vector<std::vector<int64_t>>(n)};
  arcs.for_each([&](int32_t source, int32_t target, int64_t count) {
    graph.successors[source].push_back(target);
    graph.weights[source].push_back(count);
    graph.predecessors[target].push_back(source);
  });
  return graph;
}

// Takes the variable with the least weight of arcs from the others, again and again.
void order_component(const CausalGraph& graph, std::vector<int32_t> component, const std::vector<bool>& goals,
                     std::vector<int32_t>& order) {
  std::vector<int64_t> incoming(graph.successors.size(), -1);
  for (const int32_t v : component) incoming[v] = 0;
  const auto for_arcs = [&](int32_t v, auto&& visit) {
    for (size_t i = 0; i < graph.successors[v].size(); ++i) {
      const int32_t w = graph.successors[v][i];
      if (incoming[w] >= 0) visit(w, graph.weights[v][i] + (goals[w] ? kGoalWeight : 0));
    }
  };
  for (const int32_t v : component) for_arcs(v, [&](int32_t w, int64_t weight) { incoming[w] += weight; });
  std::set<std::pair<int64_t, int32_t>> queue;
  for (const int32_t v : component) queue.emplace(incoming[v], v);
  while (!queue.empty()) {
    const int32_t v = queue.begin()->second;
    queue.erase(queue.begin());
    order.push_back(v);
    incoming[v] = -1;
    for_arcs(v, [&](int32_t w, int64_t weight) {
      queue.erase({incoming[w], w});
      incoming[w] -= weight;
      queue.emplace(incoming[w], w);
    });
  }
}

}  // namespace

std::vector<int32_t> causal_order(const FlatTask& task, bool keep_all, Watch& watch) {
  const CausalGraph graph = make_graph(task, watch);
  const size_t n = task.variables.size();
  std::vector<bool> goals(n, false), important(n, keep_all);
  std::vector<int32_t> stack;
  for (const Fact& fact : task.goal) {
    goals[fact.variable] = true;
    stack.push_back(fact.variable);
    important[fact.variable] = true;
  }
  while (!stack.empty()) {
    const int32_t v = stack.back();
    stack.pop_back();
    for (const int32_t source : graph.predecessors[v]) {
      if (important[source]) continue;
      important[source] = true;
      stack.push_back(source);
    }
  }
  std::vector<std::vector<int32_t>> all = components(graph.successors);
  std::ranges::reverse(all);
  std::vector<int32_t> order;
  for (const std::vector<int32_t>& component : all) {
    watch(100);
    if (component.size() == 1)
      order.push_back(component[0]);
    else
      order_component(graph, component, goals, order);
  }
  std::erase_if(order, [&](int32_t v) { return !important[v]; });
  return order;
}

}  // namespace hstar::pddl
