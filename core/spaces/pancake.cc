#include "spaces/pancake.h"

#include <numeric>
#include <string>

#include "base/errors.h"
#include "spaces/packing.h"

namespace hstar {

Pancake::Pancake(int n) : n_(n) {
  if (n < 1 || n > kMaxPancakes)
    throw InputError("pancake needs 1 to " + std::to_string(kMaxPancakes) + " pancakes, got " +
                     std::to_string(n));
  bits_ = bits_for(static_cast<uint32_t>(n - 1));
  std::iota(flips_.begin(), flips_.end(), Action{2});
  std::iota(goal_.pancakes.begin(), goal_.pancakes.begin() + n + 1, uint8_t{0});
}

Pancake::State Pancake::checked(const std::vector<int>& values) const {
  check_permutation(values, static_cast<size_t>(n_), "pancake");
  State state = goal_;  // for the plate
  std::transform(values.begin(), values.end(), state.pancakes.begin(),
                 [](int pancake) { return static_cast<uint8_t>(pancake); });
  return state;
}

std::vector<int> Pancake::values(const State& state) const {
  return {state.pancakes.begin(), state.pancakes.begin() + n_};
}

size_t Pancake::words() const { return packed_words(static_cast<size_t>(n_), bits_); }

void Pancake::pack(const State& state, uint32_t* words) const {
  pack_values(state.pancakes.data(), static_cast<size_t>(n_), bits_, words);
}

Pancake::State Pancake::unpack(const uint32_t* words) const {
  State state = goal_;  // for the plate
  unpack_values(words, static_cast<size_t>(n_), bits_, state.pancakes.data());
  return state;
}

}  // namespace hstar
