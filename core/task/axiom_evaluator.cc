#include "task/axiom_evaluator.h"

#include <algorithm>

namespace hstar {

AxiomEvaluator::AxiomEvaluator(const Task& task) : ids_(task) {
  if (!task.has_axioms()) return;
  std::vector<const Axiom*> axioms;
  for (const Axiom& axiom : task.axioms) axioms.push_back(&axiom);
  const auto layer = [&](const Axiom* axiom) { return task.variables[axiom->head.variable].axiom_layer; };
  std::ranges::stable_sort(axioms, {}, layer);

  std::vector<std::vector<int32_t>> watchers(ids_.size());
  // Layers are numbers from a file: renumber them densely.
  std::vector<int32_t> layers;
  for (const Variable& variable : task.variables)
    if (variable.derived()) layers.push_back(variable.axiom_layer);
  std::ranges::sort(layers);
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  const auto dense = [&](int32_t number) {
    return static_cast<int32_t>(std::ranges::lower_bound(layers, number) - layers.begin());
  };
  layer_end_.assign(layers.size(), 0);
  for (const Axiom* axiom : axioms) {
    const auto rule = static_cast<int32_t>(rules_.size());
    for (const Fact& fact : axiom->conditions) watchers[ids_(fact)].push_back(rule);
    rules_.push_back({static_cast<int32_t>(axiom->conditions.size()), dense(layer(axiom)), axiom->head});
    layer_end_[rules_.back().layer] = rule + 1;
  }
  for (size_t i = 1; i < layer_end_.size(); ++i) layer_end_[i] = std::max(layer_end_[i], layer_end_[i - 1]);

  watchers_ = Rows(watchers);
  defaults_by_layer_.resize(layers.size());
  for (int32_t v = 0; v < static_cast<int32_t>(task.variables.size()); ++v) {
    const Fact fact{v, task.initial_values[v]};
    if (task.variables[v].derived()) {
      defaults_.push_back(fact);
      defaults_by_layer_[dense(task.variables[v].axiom_layer)].push_back(fact);
    } else {
      plain_variables_.push_back(v);
    }
  }
}

void AxiomEvaluator::evaluate(Value* values) const {
  if (empty()) return;
  // Scratch memory of the thread, since one space serves searches in several threads; looked up once, since
  // that is a function call in a shared library.
  thread_local std::vector<int32_t> thread_open;
  thread_local std::vector<Fact> thread_queue;
  std::vector<Fact>& queue = thread_queue;
  thread_open.resize(rules_.size());
  int32_t* open = thread_open.data();  // per rule: conditions still to be met
  for (size_t i = 0; i < rules_.size(); ++i) open[i] = rules_[i].conditions;
  for (const Fact& fact : defaults_) values[fact.variable] = fact.value;

  int32_t layer = -1;
  const auto derive = [&](Fact fact) {
    if (values[fact.variable] == fact.value) return;
    values[fact.variable] = fact.value;
    queue.push_back(fact);
  };
  const auto meet = [&](Fact fact) {
    // A rule of a later layer that becomes ready waits for its layer.
    for (const int32_t rule : watchers_[ids_(fact)])
      if (--open[rule] == 0 && rules_[rule].layer == layer) derive(rules_[rule].head);
  };
  for (const int32_t v : plain_variables_) meet({v, values[v]});
  int32_t first = 0;
  for (layer = 0; layer < static_cast<int32_t>(layer_end_.size()); ++layer) {
    queue.clear();
    for (int32_t rule = first; rule < layer_end_[layer]; ++rule)
      if (open[rule] == 0) derive(rules_[rule].head);
    first = layer_end_[layer];
    while (!queue.empty()) {
      const Fact fact = queue.back();
      queue.pop_back();
      meet(fact);
    }
    // Negation as failure: what this layer did not derive is now known to be at its default.
    for (const Fact& fact : defaults_by_layer_[layer])
      if (values[fact.variable] == fact.value) meet(fact);
  }
}

}  // namespace hstar
