// ff (Hoffmann and Nebel, JAIR 2001): the cost of a relaxed plan, extracted backwards from the goal by best
// supporters. Supporters are those of add, as in Keyder and Geffner (ECAI 2008) and Fast Downward; among
// equally cheap ones the first found wins.
// Preferred (helpful) operators: the applicable ones of the relaxed plan.
#pragma once

#include <span>

#include "heuristics/heuristic.h"
#include "heuristics/relaxed_exploration.h"
#include "task/planning_space.h"

namespace hstar {

class FF : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit FF(const PlanningSpace& space, CostType type = CostType::kNormal);

  Cost value(const Value* values) override;
  Cost evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) override;

  // After value(): the operators of the relaxed plan, each once, and the atoms that they delete in all.
  std::span<const int32_t> relaxed_plan() const { return plan_; }
  int64_t ignored_deletes() const;

 private:
  int64_t extract_plan();  // its cost

  const PlanningSpace& space_;
  RelaxedExploration<Combine::kSum> exploration_;
  std::vector<int32_t> deletes_;     // per operator: atoms that it makes false
  std::vector<uint32_t> fact_mark_;  // equal to round_: visited in this extraction
  std::vector<uint32_t> operator_mark_;
  uint32_t round_ = 0;
  std::vector<int32_t> stack_;
  std::vector<int32_t> plan_;
};

}  // namespace hstar
