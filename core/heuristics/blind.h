// blind: the cost of the cheapest operator, and 0 at goals. The least that any plan still costs.
#pragma once

#include "heuristics/heuristic.h"
#include "task/planning_space.h"

namespace hstar {

class Blind : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit Blind(const PlanningSpace& space);

  Cost value(const Value* values) override;
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;
  size_t grain() const override { return 1024; }

 private:
  const PlanningSpace& space_;
  Cost min_cost_;
};

}  // namespace hstar
