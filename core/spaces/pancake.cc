#include "spaces/pancake.h"

#include <numeric>

#include "base/errors.h"

namespace hstar {

Pancake::Pancake(int n) : NumberedStates(n, n - 1) {
  if (n < 1 || n > PancakeState::kMost)
    throw InputError("pancake needs 1 to " + std::to_string(PancakeState::kMost) + " pancakes, got " +
                     std::to_string(n));
  std::iota(flips_.begin(), flips_.end(), Action{2});
  std::iota(goal_.pancakes.begin(), goal_.pancakes.begin() + n + 1, uint8_t{0});
}

Pancake::State Pancake::checked(const std::vector<int>& values) const {
  check_permutation(values, static_cast<size_t>(size()), "pancake");
  State state = goal_;  // for the plate
  std::ranges::copy(values, state.pancakes.begin());
  return state;
}

}  // namespace hstar
