// pancake: a stack of n pancakes; a move turns the first k of them over, k = 2..n.
//
// A state is the pancakes from the top, 0..n-1; the goal is in order with 0 on top. The number n behind the
// last one is the plate, which never moves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "spaces/puzzle.h"

namespace hstar {

class Pancake {
 public:
  static constexpr int kMaxPancakes = 63;
  using Action = uint8_t;  // how many are turned over; its own inverse
  static constexpr Action kNoAction = 0;
  struct Buffer {};
  struct State {
    std::array<uint8_t, kMaxPancakes + 1> pancakes{};  // with the plate; 0 behind it
    bool operator==(const State&) const = default;
  };

  explicit Pancake(int n);

  int size() const { return n_; }

  // Throws an InputError for what is no permutation.
  State checked(const std::vector<int>& values) const;
  std::vector<int> values(const State& state) const;
  State goal() const { return goal_; }

  bool is_goal(const State& state) const { return state == goal_; }
  std::span<const Action> actions(const State&, Buffer&) const {
    return {flips_.data(), static_cast<size_t>(n_ - 1)};
  }
  Action apply(State& state, Action flip) const {
    std::reverse(state.pancakes.begin(), state.pancakes.begin() + flip);
    return flip;
  }

  size_t words() const;
  void pack(const State& state, uint32_t* words) const;
  State unpack(const uint32_t* words) const;

 private:
  int n_;
  int bits_;
  std::array<Action, kMaxPancakes> flips_{};  // 2, 3, ...
  State goal_;
};

static_assert(Puzzle<Pancake>);

}  // namespace hstar
