#include "sampling/predecessors.h"

#include <algorithm>

namespace hstar {

Predecessors::Predecessors(const PlanningSpace& space)
    : regression_(space), atoms_(space.task()), completion_(regression_, atoms_) {}

bool Predecessors::goal(Random& random, std::vector<Value>& values) const {
  values = regression_.goal().values();
  return completion_.by_variables(values, random);
}

void Predecessors::find(const Value* state, Random& random, std::vector<Value>& states,
                        std::vector<int32_t>& operators) const {
  const PartialState here = regression_.state(state);
  std::vector<int32_t> candidates;
  regression_.applicable(here, candidates);
  for (const int32_t op : candidates) {
    PartialState before = here;
    regression_.apply(before, op);
    std::vector<Value> values = before.values();
    const bool open = std::ranges::find(values, kUnset) != values.end();
    if (open && !completion_.by_variables(values, random, kTries)) continue;
    if (std::ranges::equal(values, here.values())) continue;
    states.insert(states.end(), values.begin(), values.end());
    operators.push_back(op);
  }
}

}  // namespace hstar
