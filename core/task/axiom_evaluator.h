// Values of the derived variables of a state: stratified axioms, layer by layer, each layer a fixpoint of
// forward chaining with counters (Dowling and Gallier, 1984); what no axiom derives keeps its default.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rows.h"
#include "task/task.h"

namespace hstar {

class AxiomEvaluator {
 public:
  explicit AxiomEvaluator(const Task& task);

  bool empty() const { return rules_.empty(); }

  // Overwrites the derived variables in `values`.
  void evaluate(Value* values) const;

 private:
  struct Rule {
    int32_t conditions;
    int32_t layer;
    Fact head;
  };
  FactIds ids_;
  std::vector<Rule> rules_;  // by layer
  std::vector<int32_t> layer_end_;
  Rows watchers_;               // per fact: the rules whose condition it is
  std::vector<Fact> defaults_;  // of the derived variables
  std::vector<std::vector<Fact>> defaults_by_layer_;
  std::vector<int32_t> plain_variables_;
};

}  // namespace hstar
