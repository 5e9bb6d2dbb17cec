#include "spaces/blocks.h"

#include <numeric>
#include <string>

#include "base/errors.h"
#include "spaces/packing.h"

namespace hstar {

Blocks::Blocks(const std::vector<int>& goal) : n_(static_cast<int>(goal.size())) {
  if (goal.empty() || goal.size() > static_cast<size_t>(kMaxBlocks))
    throw InputError("blocks needs 1 to " + std::to_string(kMaxBlocks) + " blocks, got " +
                     std::to_string(goal.size()));
  bits_ = bits_for(static_cast<uint32_t>(n_));
  goal_ = checked(goal);
}

std::vector<int> Blocks::tower(int n) {
  std::vector<int> under(n < 0 ? 0 : static_cast<size_t>(n));
  std::iota(under.begin(), under.end(), 0);
  return under;
}

Blocks::State Blocks::checked(const std::vector<int>& values) const {
  if (values.size() != static_cast<size_t>(n_))
    throw InputError("expected what lies under each of " + std::to_string(n_) + " blocks, got " +
                     std::to_string(values.size()) + " numbers");
  State state;
  uint32_t covered = 0;
  for (int block = 1; block <= n_; ++block) {
    const int under = values[static_cast<size_t>(block - 1)];
    const std::string name = "block " + std::to_string(block);
    if (under < 0 || under > n_)
      throw InputError(name + " lies on " + std::to_string(under) + ", which is not in 0.." +
                       std::to_string(n_));
    if (under != 0 && (covered >> under & 1) != 0)
      throw InputError(name + " lies on block " + std::to_string(under) + " beside another block");
    covered |= 1u << under;
    state.under[static_cast<size_t>(block)] = static_cast<uint8_t>(under);
  }
  for (int block = 1; block <= n_; ++block) {
    int steps = 0;
    for (int below = block; below != 0; below = state.under[static_cast<size_t>(below)])
      if (++steps > n_) throw InputError("block " + std::to_string(block) + " does not stand on the table");
  }
  set_clear(state);
  return state;
}

void Blocks::set_clear(State& state) const {
  state.clear = (n_ == 31 ? 0xffffffffu : (2u << n_) - 1) & ~1u;
  for (int block = 1; block <= n_; ++block) state.clear &= ~(1u << state.under[static_cast<size_t>(block)]);
}

std::vector<int> Blocks::values(const State& state) const {
  return {state.under.begin() + 1, state.under.begin() + 1 + n_};
}

size_t Blocks::words() const { return packed_words(static_cast<size_t>(n_), bits_); }

void Blocks::pack(const State& state, uint32_t* words) const {
  pack_values(state.under.data() + 1, static_cast<size_t>(n_), bits_, words);
}

Blocks::State Blocks::unpack(const uint32_t* words) const {
  State state;
  unpack_values(words, static_cast<size_t>(n_), bits_, state.under.data() + 1);
  set_clear(state);
  return state;
}

}  // namespace hstar
