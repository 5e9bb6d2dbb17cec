// add (Bonet and Geffner, AIJ 2001): the cost of the goal in the delete relaxation, where a set of
// preconditions costs the sum of its members. Not admissible: what members share is counted twice.
#include "heuristics/catalogue.h"
#include "heuristics/relaxed_exploration.h"

namespace hstar {
namespace {

class Add : public SymbolicHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "add",
      .description = "summed cost of the goal facts in the delete relaxation",
      .reference = "Bonet and Geffner, AIJ 2001",
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
  };
  explicit Add(const PlanningSpace& space, CostType type = CostType::kNormal)
      : SymbolicHeuristic(info), exploration_(space.task(), type) {}

  Cost value(const Value* values) override { return exploration_.run(values); }

 private:
  RelaxedExploration<Combine::kSum> exploration_;
  static_assert(decltype(exploration_)::kUnreached == kDeadEnd);
};

}  // namespace

const HeuristicEntry add_entry = entry<Add>();

}  // namespace hstar
