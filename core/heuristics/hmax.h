// hmax (Bonet and Geffner, AIJ 2001): the cost of the most expensive goal fact in the delete relaxation,
// where a set of preconditions costs as much as its most expensive member.
// Invariant: admissible and consistent, since it is the exact cost in a relaxation.
#pragma once

#include "heuristics/heuristic.h"
#include "heuristics/relaxed_exploration.h"
#include "task/planning_space.h"

namespace hstar {

class HMax : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit HMax(const PlanningSpace& space) : SymbolicHeuristic(info), exploration_(space.task()) {}

  // kUnreached and kDeadEnd are the same number.
  Cost value(const Value* values) override { return exploration_.run(values); }

 private:
  RelaxedExploration<Combine::kMax> exploration_;
};

static_assert(RelaxedExploration<Combine::kMax>::kUnreached == kDeadEnd);

}  // namespace hstar
