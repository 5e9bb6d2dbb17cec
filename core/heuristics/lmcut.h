// lmcut, the landmark-cut heuristic (Helmert and Domshlak, ICAPS 2009): cuts of the justification graph of
// hmax are disjunctive action landmarks; each pays for its cheapest operator and reduces the costs of all
// its operators by that, until the goal costs nothing.
//
// Invariant: the summed cut costs never exceed h+. Admissible, not consistent. No axioms, no conditional
// effects.
//
// Which precondition of an operator supports it matters only where several have the same hmax, and there
// the quality of the cuts depends on it. Choices, the same as in Fast Downward, so that both planners compute
// the same numbers (as long as its queue stays bucket-based, that is, for small costs):
// 1. first the precondition that left the queue last (last in, first out among equal costs);
// 2. while the goal zone is marked, for an operator of cost 0 the first precondition that no operator of
//    cost 0 achieves (the border of the zone) or that is in the zone already (Lauer and Fickert, ICAPS 2020);
// 3. when the supporter becomes cheaper, it stays if no other precondition is more expensive.
#pragma once

#include "heuristics/cost_queue.h"
#include "heuristics/heuristic.h"
#include "heuristics/relaxed_task.h"
#include "task/planning_space.h"

namespace hstar {

class LMCut : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit LMCut(const PlanningSpace& space);

  Cost value(const Value* values) override;

 private:
  enum class Zone : uint8_t { kNone, kGoal, kBefore };
  void compute_hmax(const Value* values);
  void update_hmax();
  void mark_goal_zone();
  void find_cut(const Value* values);
  Cost pay_for_cut();
  void choose_supporter(int32_t op);
  void break_ties_for_goal_zone(int32_t op);
  void reach(int32_t fact, Cost cost) {
    if (cost >= hmax_[fact]) return;
    hmax_[fact] = cost;
    queue_.push(cost, fact);
  }
  void mark(int32_t fact, Zone zone) {
    zone_[fact] = zone;
    marked_.push_back(fact);
  }

  RelaxedTask relaxed_;
  int32_t true_fact_;  // precondition of operators that have none
  int32_t goal_fact_;  // effect of the artificial goal operator, the last one
  Rows preconditions_;
  Rows effects_;
  Rows precondition_of_;
  Rows effect_of_;
  std::vector<Cost> initial_cost_;
  std::vector<uint16_t> initial_waiting_;
  std::vector<int32_t> initial_free_achievers_;

  // What changes during an evaluation. Per operator, in arrays of their own because the inner loops touch
  // one of them for most operators and the others for few.
  std::vector<Cost> cost_;            // what the cuts have left of it
  std::vector<int32_t> supporter_;    // precondition of greatest hmax, -1 while unreached
  std::vector<Cost> supporter_cost_;  // its hmax when it was chosen
  std::vector<uint16_t> waiting_;     // preconditions not yet reached in the first exploration
  // Per fact.
  std::vector<Cost> hmax_;
  std::vector<int32_t> free_achievers_;  // per fact: operators of cost 0 that achieve it
  std::vector<Zone> zone_;
  std::vector<int32_t> marked_;  // facts in a zone
  struct Visit {
    int32_t fact;
    uint32_t next;  // position in effect_of_
  };
  std::vector<Visit> visits_;
  std::vector<int32_t> stack_;
  std::vector<int32_t> cut_;
  CostQueue queue_;
};

}  // namespace hstar
