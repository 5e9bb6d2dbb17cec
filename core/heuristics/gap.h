// gap: places in a stack of pancakes where neighbours differ by more than 1, the plate among them (Helmert,
// SoCS 2010). Admissible and consistent: a flip changes the neighbourhood at one place.
#pragma once

#include <cstdint>

#include "heuristics/incremental.h"
#include "spaces/pancake.h"

namespace hstar {

class Gap {
 public:
  static constexpr const char* kName = "gap";
  struct Node {
    int32_t h = 0;
  };

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

static_assert(IncrementalHeuristic<Gap, Pancake>);

}  // namespace hstar
