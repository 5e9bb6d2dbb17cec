#include "sampling/preimage.h"

#include <algorithm>

namespace hstar {

namespace {

// Preconditions that are atoms and not seen yet.
int32_t novelty(const Operator& op, const Atoms& atoms, const std::vector<BitWord>& seen) {
  int32_t count = 0;
  for (const Fact& fact : op.preconditions) {
    const int32_t atom = atoms.atom(fact);
    count += atom != -1 && !test_bit(seen.data(), atom);
  }
  return count;
}

// -1 if none regresses `state`. `operators` is scratch.
int32_t choose(const Regression& regression, const PartialState& state, const Atoms& atoms,
               const std::vector<BitWord>& seen, RolloutChoice choice, Random& random,
               std::vector<int32_t>& operators) {
  if (choice == RolloutChoice::kUniform) return regression.draw(state, random);
  operators.clear();
  regression.applicable(state, operators);
  int32_t best = -1, chosen = -1;
  uint32_t ties = 0;
  for (const int32_t op : operators) {
    const int32_t value = novelty(regression.space().task().operators[op], atoms, seen);
    if (value < best) continue;
    if (value > best) {
      best = value;
      ties = 0;
    }
    if (random.below(++ties) == 0) chosen = op;  // each of the best is kept with equal probability
  }
  return chosen;
}

}  // namespace

int32_t adaptive_length(const Task& task, const Atoms& atoms) {
  size_t effects = 0;
  for (const Operator& op : task.operators) effects += op.effects.size();
  if (effects == 0) return 1;
  const size_t scaled = static_cast<size_t>(atoms.size()) * task.operators.size();
  return std::max(1, static_cast<int32_t>((scaled + effects - 1) / effects));
}

PreImages sample_rollouts(const Regression& regression, const Atoms& atoms, const RolloutConfig& config,
                          Random& random, Poll& poll) {
  PreImages result{{0}, {regression.goal().values()}};
  std::vector<int32_t> operators;
  const int32_t most = config.rollouts > 0 ? config.rollouts : kMostRollouts;
  const size_t enough = config.rollouts > 0 ? SIZE_MAX : kEnoughPreImages;
  for (int32_t rollout = 0; rollout < most && result.size() < enough; ++rollout) {
    PartialState state = regression.goal();
    std::vector<BitWord> seen(atoms.words(), 0);
    for (int32_t depth = 1; depth <= config.length; ++depth) {
      poll(50);
      const int32_t op = choose(regression, state, atoms, seen, config.choice, random, operators);
      if (op == -1) break;
      regression.apply(state, op);
      result.depth.push_back(depth);
      result.values.push_back(state.values());
      for (int32_t v = 0; v < regression.space().variables(); ++v)
        if (const int32_t atom = state[v] == kUnset ? -1 : atoms.atom({v, state[v]}); atom != -1)
          set_bit(seen.data(), atom);
    }
  }
  return result;
}

}  // namespace hstar
