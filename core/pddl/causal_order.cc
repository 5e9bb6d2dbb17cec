#include <algorithm>
#include <set>

#include "pddl/relation.h"
#include "pddl/scc.h"
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

CausalGraph make_graph(const FlatTask& task, Watch& watch) {
  Relation arcs(2);
  std::vector<int64_t> weights;
  const auto add = [&](int32_t source, int32_t target) {
    if (source == target) return;
    const int32_t arc[] = {source, target};
    if (arcs.insert(arc))
      weights.push_back(1);
    else
      ++weights[arcs.find(arc)];
  };
  for (const FlatOperator& op : task.operators) {
    watch(5);
    for (const FlatEffect& effect : task.effects_of(op)) {
      for (const Fact& fact : task.preconditions(op)) add(fact.variable, effect.fact.variable);
      for (const Fact& fact : task.conditions(effect)) add(fact.variable, effect.fact.variable);
    }
  }
  for (const Axiom& axiom : task.axioms)
    for (const Fact& fact : axiom.conditions) add(fact.variable, axiom.head.variable);

  const size_t n = task.variables.size();
  CausalGraph graph{std::vector<std::vector<int32_t>>(n), std::vector<std::vector<int32_t>>(n),
                    std::vector<std::vector<int64_t>>(n)};
  std::vector<int32_t> order(arcs.size());
  for (int32_t row = 0; row < arcs.size(); ++row) order[row] = row;
  std::ranges::sort(order, [&](int32_t a, int32_t b) {
    return std::ranges::lexicographical_compare(arcs.row(a), arcs.row(b));
  });
  for (const int32_t row : order) {
    const int32_t source = arcs.row(row)[0], target = arcs.row(row)[1];
    graph.successors[source].push_back(target);
    graph.weights[source].push_back(weights[row]);
    graph.predecessors[target].push_back(source);
  }
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
