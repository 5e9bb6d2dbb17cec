// hmax (Bonet and Geffner, AIJ 2001): the cost of the most expensive goal fact in the delete relaxation,
// where a set of preconditions costs as much as its most expensive member.
// Invariant: admissible and consistent, since it is the exact cost in a relaxation.
#include "heuristics/catalogue.h"
#include "heuristics/relaxed_exploration.h"

namespace hstar {
namespace {

class HMax : public SymbolicHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "hmax",
      .description = "cost of the most expensive goal fact in the delete relaxation",
      .reference = "Bonet and Geffner, AIJ 2001",
      .admissible = true,
      .consistent = true,
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
  };
  explicit HMax(const PlanningSpace& space) : SymbolicHeuristic(info), exploration_(space.task()) {}

  Cost value(const Value* values) override { return exploration_.run(values); }

 private:
  RelaxedExploration<Combine::kMax> exploration_;
  static_assert(decltype(exploration_)::kUnreached == kDeadEnd);
};

}  // namespace

const HeuristicEntry hmax_entry = entry<HMax>();

}  // namespace hstar
