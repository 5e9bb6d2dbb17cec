// pancake: a stack of n pancakes; a move turns the first k of them over, k = 2..n.
//
// A state is the pancakes from the top, 0..n-1; the goal is in order with 0 on top. The number n behind the
// last one is the plate, which never moves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "spaces/packing.h"
#include "spaces/puzzle.h"

namespace hstar {

struct PancakeState {
  static constexpr int kMost = 63;
  std::array<uint8_t, kMost + 1> pancakes{};  // with the plate; 0 behind it
  bool operator==(const PancakeState&) const = default;
};

class Pancake : public NumberedStates<PancakeState, &PancakeState::pancakes> {
 public:
  using Action = uint8_t;  // how many are turned over; its own inverse
  static constexpr Action kNoAction = 0;
  struct Buffer {};

  explicit Pancake(int n) : NumberedStates(n, n - 1) {
    if (n < 1 || n > PancakeState::kMost)
      throw InputError("pancake needs 1 to " + std::to_string(PancakeState::kMost) + " pancakes, got " +
                       std::to_string(n));
    std::iota(flips_.begin(), flips_.end(), Action{2});
    std::iota(goal_.pancakes.begin(), goal_.pancakes.begin() + n + 1, uint8_t{0});
  }

  std::string name() const { return "pancake-" + std::to_string(size()); }

  // Throws an InputError for what is no permutation.
  State checked(const std::vector<int>& values) const {
    check_permutation(values, size(), "pancake");
    State state = goal_;  // for the plate
    std::ranges::copy(values, state.pancakes.begin());
    return state;
  }

  bool is_goal(const State& state) const { return state == goal_; }
  std::span<const Action> actions(const State&, Buffer&) const {
    return {flips_.data(), static_cast<size_t>(size() - 1)};
  }
  int place_after(Action flip, int place) const { return place < flip ? flip - 1 - place : place; }
  // Calls `moved(pancake, from, to)` for all that a flip moves.
  template <class Moved>
  void for_moved(const State& before, Action flip, const Moved& moved) const {
    for (int from = 0; from < flip; ++from)
      if (const int to = flip - 1 - from; to != from) moved(int{before.pancakes[from]}, from, to);
  }
  Action apply(State& state, Action flip) const {
    std::reverse(state.pancakes.begin(), state.pancakes.begin() + flip);
    return flip;
  }

  State unpack(const uint32_t* words) const {
    State state = goal_;  // for the plate
    unpack_into(words, state);
    return state;
  }

 private:
  std::array<Action, PancakeState::kMost> flips_{};  // 2, 3, ...
};

}  // namespace hstar
