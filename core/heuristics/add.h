// add (Bonet and Geffner, AIJ 2001): the cost of the goal in the delete relaxation, where a set of
// preconditions costs the sum of its members. Not admissible: what members share is counted twice.
#pragma once

#include "heuristics/heuristic.h"
#include "heuristics/relaxed_exploration.h"
#include "task/planning_space.h"

namespace hstar {

class Add : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit Add(const PlanningSpace& space, CostType type = CostType::kNormal)
      : SymbolicHeuristic(info), exploration_(space.task(), type) {}

  // kUnreached and kDeadEnd are the same number.
  Cost value(const Value* values) override { return exploration_.run(values); }

 private:
  RelaxedExploration<Combine::kSum> exploration_;
};

}  // namespace hstar
