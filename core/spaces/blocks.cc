#include "spaces/blocks.h"

#include <numeric>
#include <string>

#include "base/errors.h"

namespace hstar {

Blocks::Blocks(const std::vector<int>& goal)
    : NumberedStates(static_cast<int>(goal.size()), static_cast<int>(goal.size())) {
  if (goal.empty() || goal.size() > static_cast<size_t>(kMaxBlocks))
    throw InputError("blocks needs 1 to " + std::to_string(kMaxBlocks) + " blocks, got " +
                     std::to_string(goal.size()));
  goal_ = checked(goal);
}

std::vector<int> Blocks::tower(int n) {
  std::vector<int> under(n < 0 ? 0 : static_cast<size_t>(n));
  std::iota(under.begin(), under.end(), 0);
  return under;
}

Blocks::State Blocks::checked(const std::vector<int>& values) const {
  if (values.size() != static_cast<size_t>(size()))
    throw InputError("expected what lies under each of " + std::to_string(size()) + " blocks, got " +
                     std::to_string(values.size()) + " numbers");
  State state;
  uint32_t covered = 0;
  for (int block = 1; block <= size(); ++block) {
    const int under = values[static_cast<size_t>(block - 1)];
    const std::string name = "block " + std::to_string(block);
    if (under < 0 || under > size())
      throw InputError(name + " lies on " + std::to_string(under) + ", which is not in 0.." +
                       std::to_string(size()));
    if (under != 0 && (covered >> under & 1) != 0)
      throw InputError(name + " lies on block " + std::to_string(under) + " beside another block");
    covered |= 1u << under;
    state.under[static_cast<size_t>(block)] = static_cast<uint8_t>(under);
  }
  for (int block = 1; block <= size(); ++block) {
    int steps = 0;
    for (int below = block; below != 0; below = state.under[static_cast<size_t>(below)])
      if (++steps > size())
        throw InputError("block " + std::to_string(block) + " does not stand on the table");
  }
  set_clear(state);
  return state;
}

void Blocks::set_clear(State& state) const {
  state.clear = (size() == 31 ? 0xffffffffu : (2u << size()) - 1) & ~1u;
  for (int block = 1; block <= size(); ++block)
    state.clear &= ~(1u << state.under[static_cast<size_t>(block)]);
}

std::string Blocks::name() const {
  const std::vector<int> goal = values(goal_);
  std::string result = "blocks-" + std::to_string(size());
  if (goal == tower(size())) return result;
  char between = '-';
  for (const int under : goal) {
    result += between + std::to_string(under);
    between = '.';
  }
  return result;
}

Blocks::State Blocks::unpack(const uint32_t* words) const {
  State state;
  unpack_into(words, state);
  set_clear(state);
  return state;
}

}  // namespace hstar
