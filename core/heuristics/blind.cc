// blind: the cost of the cheapest operator, and 0 at goals. The least that any plan still costs.
#include "heuristics/catalogue.h"

namespace hstar {
namespace {

class Blind : public SymbolicHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "blind",
      .description = "cost of the cheapest operator, 0 at goals",
      .reference = "folklore",
      .admissible = true,
      .consistent = true,
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
  };
  explicit Blind(const PlanningSpace& space)
      : SymbolicHeuristic(info), space_(space), min_cost_(space.task().min_operator_cost()) {}

  Cost value(const Value* values) override { return holds(space_.task().goal, values) ? 0 : min_cost_; }
  // On packed states: a search with this heuristic never unpacks a state it does not expand.
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) h[i] = space_.is_goal(batch.packed(i)) ? 0 : min_cost_;
  }
  size_t grain() const override { return 1024; }

 private:
  const PlanningSpace& space_;
  Cost min_cost_;
};

}  // namespace

const HeuristicEntry blind_entry = entry<Blind>();

}  // namespace hstar
