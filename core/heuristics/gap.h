// gap: places where neighbours differ by more than 1. In a stack of pancakes the plate is among them
// (Helmert, SoCS 2010). Admissible and consistent: a flip changes the neighbourhood at one place.
//
// In a ring of tokens a move changes the neighbourhood at two places, so that h is half of the gaps, rounded
// up. A ring without gaps may still be turned: h is at least the places by which tokens are away from theirs,
// all together, by the most that one move can bring them nearer, k k / 2. Both are admissible and consistent,
// and the second one is 0 in the goal alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heuristics/incremental.h"
#include "spaces/pancake.h"
#include "spaces/topspin.h"

namespace hstar {

class Gap {
 public:
  static constexpr const char* kName = "gap";
  using Node = ValueNode;

  explicit Gap(const Pancake& space) : size_(space.size()) {}

  int32_t root(const Pancake::State& state, Node& node) const {
    node.h = 0;
    for (size_t i = 0; i < static_cast<size_t>(size_); ++i)
      node.h += is_gap(state.pancakes[i], state.pancakes[i + 1]);
    return node.h;
  }
  int32_t child(const Node& parent, const Pancake::State& before, Pancake::Action flip, Node& child) const {
    const int below = before.pancakes[flip];
    return child.h = parent.h + is_gap(before.pancakes[0], below) - is_gap(before.pancakes[flip - 1u], below);
  }

 private:
  // Two neighbours are never equal.
  static bool is_gap(int a, int b) { return static_cast<uint32_t>(a - b + 1) > 2; }

  int size_;
};

class RingGap {
 public:
  static constexpr const char* kName = "gap";
  struct Node {
    int32_t h = 0, gaps = 0, away = 0;
  };

  explicit RingGap(const TopSpin& space)
      : space_(space), n_(space.size()), k_(space.turnstile()), most_(k_ * k_ / 2) {
    for (int d = 0; d < n_; ++d) distance_[d] = static_cast<uint8_t>(std::min(d, n_ - d));
  }

  int32_t root(const TopSpin::State& state, Node& node) const {
    node = {};
    for (int place = 0; place < n_; ++place) {
      const int token = state.tokens[place];
      node.gaps += is_gap(token, state.tokens[space_.place(place, 1)]);
      node.away += away(token, place);
    }
    return value(node);
  }
  int32_t child(const Node& parent, const TopSpin::State& before, TopSpin::Action first, Node& child) const {
    const auto token = [&](int behind) { return before.tokens[space_.place(first, behind)]; };
    const int left = token(n_ - 1), right = token(k_), begin = token(0), end = token(k_ - 1);
    child.gaps =
        parent.gaps + is_gap(left, end) + is_gap(begin, right) - is_gap(left, begin) - is_gap(end, right);
    child.away = parent.away;
    space_.for_moved(before, first,
                     [&](int moved, int from, int to) { child.away += away(moved, to) - away(moved, from); });
    return value(child);
  }

 private:
  bool is_gap(int a, int b) const { return distance(a - b) > 1; }
  int away(int token, int place) const { return distance(token - place); }
  int distance(int apart) const { return distance_[apart < 0 ? -apart : apart]; }
  int32_t value(Node& node) const {
    return node.h = std::max((node.gaps + 1) / 2, (node.away + most_ - 1) / most_);
  }

  const TopSpin& space_;
  int n_, k_, most_;
  std::array<uint8_t, TopSpinState::kMost> distance_{};  // round the ring, by the difference
};

}  // namespace hstar
