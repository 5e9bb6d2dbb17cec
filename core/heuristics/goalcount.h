// goalcount: the number of goal facts that do not hold.
#pragma once

#include "heuristics/heuristic.h"
#include "task/planning_space.h"

namespace hstar {

class GoalCount : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit GoalCount(const PlanningSpace& space) : SymbolicHeuristic(info), space_(space) {}

  Cost value(const Value* values) override;
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;
  size_t grain() const override { return 1024; }

 private:
  const PlanningSpace& space_;
};

}  // namespace hstar
