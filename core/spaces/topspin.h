// topspin: n tokens in a ring and a turnstile of k places (Chen and Skiena, Discrete Applied Mathematics
// 1996). A move turns the turnstile round at one place of the ring: k neighbouring tokens are reversed.
//
// A state is the token in each place, 0..n-1; in the goal token i lies in place i. A move is the first place
// of the turnstile, from which it reaches k - 1 places on, beyond the last one to the first. The encoding is
// that of Yang et al. (JAIR 2008), where the ring stands still: turning it as a whole is no move, and a ring
// in order but turned is not the goal.
//
// Which states can be reached: with 2 <= k <= n - 2 all permutations, but for two invariants. A move is k / 2
// exchanges, so that with an even number of them only even permutations come up. With odd k every token moves
// an even number of places: if n is even, too, even and odd places keep their tokens, and the parities of the
// two halves follow those of the moves. (tests/spaces/test_topspin.py counts the states of small rings.)
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

struct TopSpinState {
  static constexpr int kMost = 63;
  std::array<uint8_t, kMost> tokens{};  // 0 behind the last one
  bool operator==(const TopSpinState&) const = default;
};

class TopSpin : public NumberedStates<TopSpinState, &TopSpinState::tokens> {
 public:
  using Action = uint8_t;  // the first place of the turnstile; its own inverse
  static constexpr Action kNoAction = 255;
  struct Buffer {};

  TopSpin(int tokens, int turnstile) : NumberedStates(tokens, tokens - 1), k_(turnstile) {
    if (tokens > TopSpinState::kMost || turnstile < 2 || turnstile > tokens - 2)
      throw InputError("topspin needs at most " + std::to_string(TopSpinState::kMost) +
                       " tokens and a turnstile of 2 places to 2 less than there are tokens, got " +
                       std::to_string(tokens) + " and " + std::to_string(turnstile));
    std::iota(moves_.begin(), moves_.end(), Action{0});
    std::iota(goal_.tokens.begin(), goal_.tokens.begin() + tokens, uint8_t{0});
    for (int place = 0; place < 2 * tokens; ++place) wrapped_[place] = static_cast<uint8_t>(place % tokens);
  }

  int turnstile() const { return k_; }
  std::string name() const { return "topspin-" + std::to_string(size()) + "x" + std::to_string(k_); }

  // Of a permutation: whether it can reach the goal.
  bool is_solvable(const std::vector<int>& tokens) const {
    const int exchanges = k_ / 2;
    std::array<int, 2> odd{};  // exchanges of cycles among even and among odd places, or all in the first
    std::array<bool, TopSpinState::kMost> seen{};
    const bool halves = k_ % 2 != 0 && size() % 2 == 0;
    for (int first = 0; first < size(); ++first) {
      if (halves && (tokens[first] - first) % 2 != 0) return false;
      seen[first] = true;
      for (int at = tokens[first]; !seen[at]; at = tokens[at]) {
        seen[at] = true;
        odd[halves ? static_cast<size_t>(first % 2) : 0] ^= 1;
      }
    }
    if (!halves) return exchanges % 2 != 0 || odd[0] == 0;
    // A move has one half of its exchanges, rounded up, in the places like its first and the rest in the
    // others.
    const int like = (exchanges + 1) / 2 % 2, other = exchanges / 2 % 2;
    if (like == other) return odd[0] == odd[1] && (like != 0 || odd[0] == 0);
    return true;
  }
  // Throws an InputError for what is no permutation, or cannot reach the goal.
  State checked(const std::vector<int>& values) const {
    check_permutation(values, static_cast<size_t>(size()), "token");
    if (!is_solvable(values)) throw InputError("these tokens cannot reach the goal, 0 1 2 ...");
    State state;
    std::ranges::copy(values, state.tokens.begin());
    return state;
  }

  bool is_goal(const State& state) const { return state == goal_; }
  std::span<const Action> actions(const State&, Buffer&) const {
    return {moves_.data(), static_cast<size_t>(size())};
  }
  // The place of the ring so many places behind another one, at most a whole ring.
  size_t place(int first, int behind) const { return wrapped_[first + behind]; }
  // Calls `moved(token, from, to)` for all that a move moves.
  template <class Moved>
  void for_moved(const State& before, Action first, const Moved& moved) const {
    for (int i = 0, j = k_ - 1; i < k_; ++i, --j) {
      const size_t from = place(first, i);
      if (i != j) moved(int{before.tokens[from]}, static_cast<int>(from), static_cast<int>(place(first, j)));
    }
  }
  Action apply(State& state, Action first) const {
    for (int i = 0, j = k_ - 1; i < j; ++i, --j)
      std::swap(state.tokens[place(first, i)], state.tokens[place(first, j)]);
    return first;
  }
  State unpack(const uint32_t* words) const {
    State state;
    unpack_into(words, state);
    return state;
  }

 private:
  int k_;
  std::array<Action, TopSpinState::kMost> moves_{};
  std::array<uint8_t, 2 * TopSpinState::kMost> wrapped_{};
};

}  // namespace hstar
