// blocks: n blocks in stacks on a table without end; a move takes a clear block onto another clear block or,
// if it is not there, onto the table. It has no hand, so that a move costs what pick-up and put-down cost in
// the planning domain.
//
// A state is what lies under each block, 1..n, 0 for the table. The goal is any such state, given with the
// space; `tower` is the usual one, 1 on the table and i on i - 1. Moves come in the order of the moved block,
// the table before other blocks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "spaces/packing.h"
#include "spaces/puzzle.h"

namespace hstar {

struct BlocksState {
  static constexpr int kMost = 31;
  std::array<uint8_t, kMost + 1> under{};  // by block; [0] is not used
  uint32_t clear = 0;                      // bit b: nothing lies on block b
  bool operator==(const BlocksState&) const = default;
};

class Blocks : public NumberedStates<BlocksState, &BlocksState::under, 1> {
 public:
  static constexpr int kMaxBlocks = BlocksState::kMost;
  using Action = uint16_t;  // block * 32 + where it goes, 0 for the table
  static constexpr Action kNoAction = 0;
  using Buffer = std::array<Action, kMaxBlocks * kMaxBlocks>;

  // Throws an InputError if that is no state.
  explicit Blocks(const std::vector<int>& goal)
      : NumberedStates(static_cast<int>(goal.size()), static_cast<int>(goal.size())) {
    if (goal.empty() || goal.size() > static_cast<size_t>(kMaxBlocks))
      throw InputError("blocks needs 1 to " + std::to_string(kMaxBlocks) + " blocks, got " +
                       std::to_string(goal.size()));
    goal_ = checked(goal);
  }
  static std::vector<int> tower(int n) {
    std::vector<int> under(n < 0 ? 0 : static_cast<size_t>(n));
    std::iota(under.begin(), under.end(), 0);
    return under;
  }

  // With the goal, unless it is the tower.
  std::string name() const {
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
  static int block(Action action) { return action / 32; }
  static int destination(Action action) { return action % 32; }

  // Throws an InputError for numbers out of range, two blocks on one, and blocks that lie on one another in
  // a circle.
  State checked(const std::vector<int>& values) const {
    if (values.size() != static_cast<size_t>(size()))
      throw InputError("expected what lies under each of " + std::to_string(size()) + " blocks, got " +
                       std::to_string(values.size()) + " numbers");
    State state;
    uint32_t covered = 0;
    for (int block = 1; block <= size(); ++block) {
      const int under = values[block - 1];
      const std::string name = "block " + std::to_string(block);
      if (under < 0 || under > size())
        throw InputError(name + " lies on " + std::to_string(under) + ", which is not in 0.." +
                         std::to_string(size()));
      if (under != 0 && (covered >> under & 1) != 0)
        throw InputError(name + " lies on block " + std::to_string(under) + " beside another block");
      covered |= 1u << under;
      state.under[block] = static_cast<uint8_t>(under);
    }
    for (int block = 1; block <= size(); ++block) {
      int steps = 0;
      for (int below = block; below != 0; below = state.under[below])
        if (++steps > size())
          throw InputError("block " + std::to_string(block) + " does not stand on the table");
    }
    set_clear(state);
    return state;
  }

  bool is_goal(const State& state) const { return state.under == goal_.under; }
  std::span<const Action> actions(const State& state, Buffer& buffer) const {
    size_t n = 0;
    for (uint32_t moved = state.clear; moved != 0; moved &= moved - 1) {
      const int block = std::countr_zero(moved);
      const int first = block * 32;
      if (state.under[block] != 0) buffer[n++] = static_cast<Action>(first);
      for (uint32_t onto = state.clear & ~(1u << block); onto != 0; onto &= onto - 1)
        buffer[n++] = static_cast<Action>(first + std::countr_zero(onto));
    }
    return {buffer.data(), n};
  }
  Action apply(State& state, Action action) const {
    uint8_t& under = state.under[block(action)];
    const int from = under, to = destination(action);
    // Bit 0 stands for the table, which is never counted as a clear block.
    state.clear = ((state.clear | 1u << from) & ~(1u << to)) & ~1u;
    under = static_cast<uint8_t>(to);
    return static_cast<Action>(block(action) * 32 + from);
  }

  State unpack(const uint32_t* words) const {
    State state;
    unpack_into(words, state);
    set_clear(state);
    return state;
  }

 private:
  void set_clear(State& state) const {
    state.clear = (size() == 31 ? 0xffffffffu : (2u << size()) - 1) & ~1u;
    for (int block = 1; block <= size(); ++block) state.clear &= ~(1u << state.under[block]);
  }
};

}  // namespace hstar
