// The delete relaxation of a task: operators keep only what they make true (Bonet and Geffner, AIJ 2001).
//
// A relaxed operator is an operator, one set of effect conditions of it, or an axiom (cost 0). Its effects
// stay together: one precondition counter serves all of them. Simplified without changing any value of
// hmax, add, ff or lmcut: facts that no goal depends on are dropped with the effects that make them
// true. How derived variables get back to their defaults: default_axioms.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rows.h"
#include "task/task.h"

namespace hstar {

// Rules for the defaults of derived variables that some operator, axiom or goal asks for.
std::vector<Axiom> default_axioms(const Task& task);

// What operators cost for a heuristic: as the task says, all 1, or 1 more than that unless all costs are 1
// (Richter and Westphal, JAIR 2010, for heuristics that look for short plans and cheap ones).
enum class CostType { kNormal, kOne, kPlusOne };

struct RelaxedTask {
  explicit RelaxedTask(const Task& task, CostType type = CostType::kNormal);

  FactIds ids;
  int32_t facts;                 // fact numbers are those of `ids`
  std::vector<int32_t> goal;     // facts
  Rows preconditions;            // per relaxed operator: facts
  Rows effects;                  // per relaxed operator: facts
  std::vector<Cost> costs;       // per relaxed operator
  std::vector<int32_t> sources;  // per relaxed operator: its operator, -1 for an axiom
  std::vector<char> relevant;    // per fact: some goal may depend on it

  // Drops effects that another relaxed operator achieves as cheaply from the same or fewer preconditions, and
  // operators that have none left. Keeps hmax, add and the cost of best supporters; not for lmcut, whose cuts
  // depend on every operator.
  void remove_dominated();

  int32_t variables() const { return variables_; }
  int32_t operators() const { return static_cast<int32_t>(costs.size()); }

 private:
  int32_t variables_;
  struct Draft;
  std::vector<Draft> drafts(const Task& task, CostType type) const;
  void rebuild(const std::vector<Draft>& drafts);
  void find_relevant(const std::vector<Draft>& drafts);
};

}  // namespace hstar
