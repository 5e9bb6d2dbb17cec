// goalcount: the number of goal facts that do not hold.
#include "heuristics/catalogue.h"

namespace hstar {
namespace {

class GoalCount : public SymbolicHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "goalcount",
      .description = "number of goal facts that do not hold",
      .reference = "Fikes and Nilsson, AIJ 1971",
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
  };
  explicit GoalCount(const PlanningSpace& space) : SymbolicHeuristic(info), space_(space) {}

  Cost value(const Value* values) override {
    return open_goals([&](int32_t variable) { return values[variable]; });
  }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i)
      h[i] = open_goals([&](int32_t variable) { return space_.packer().get(batch.packed(i), variable); });
  }
  size_t grain() const override { return 1024; }

 private:
  template <class ValueOf>
  Cost open_goals(const ValueOf& value_of) const {
    Cost open = 0;
    for (const Fact& fact : space_.task().goal) open += value_of(fact.variable) != fact.value;
    return open;
  }

  const PlanningSpace& space_;
};

}  // namespace

const HeuristicEntry goalcount_entry = entry<GoalCount>();

}  // namespace hstar
