// A native puzzle as best-first searches see it: packed states, of which each expansion makes one state with
// apply and undo. Iterative deepening works on the puzzle itself and never packs a state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "spaces/puzzle.h"
#include "spaces/search_space.h"

namespace hstar {

template <Puzzle Space>
class PuzzleSpace final : public SearchSpace {
 public:
  using State = typename Space::State;
  using Action = typename Space::Action;

  explicit PuzzleSpace(const Space& puzzle)
      : puzzle_(puzzle), goal_(puzzle.words()), width_(puzzle.values(puzzle.goal()).size()) {
    puzzle_.pack(puzzle_.goal(), goal_.data());
  }

  const Space& puzzle() const { return puzzle_; }
  size_t words() const override { return goal_.size(); }
  size_t width() const override { return width_; }
  void pack(const Value* values, uint32_t* packed) const override {
    puzzle_.pack(puzzle_.checked(std::vector<int>(values, values + width_)), packed);
  }
  void unpack(const uint32_t* packed, Value* values) const override {
    std::ranges::copy(puzzle_.values(puzzle_.unpack(packed)), values);
  }

  void expand(const uint32_t* packed, size_t n, Expansion& expansion) const override {
    [[maybe_unused]] typename Space::Buffer buffer;
    expansion.clear();
    for (size_t i = 0; i < n; ++i) {
      State state = puzzle_.unpack(packed + i * words());
      const auto actions = puzzle_.actions(state, buffer);
      const size_t most = (expansion.size() + actions.size()) * words();
      if (expansion.states.size() < most) expansion.states.resize(2 * most);
      for (const Action action : actions) {
        const Action back = puzzle_.apply(state, action);
        puzzle_.pack(state, &expansion.states[expansion.size() * words()]);
        puzzle_.apply(state, back);
        expansion.operators.push_back(action);
      }
      expansion.ends.push_back(static_cast<uint32_t>(expansion.size()));
    }
    expansion.costs.assign(expansion.size(), 1);
  }
  void goals(const uint32_t* packed, size_t n, char* is_goal) const override {
    for (size_t i = 0; i < n; ++i) is_goal[i] = std::equal(goal_.begin(), goal_.end(), packed + i * words());
  }
  Cost apply(const uint32_t* packed, int32_t op, uint32_t* result, Expansion&) const override {
    State state = puzzle_.unpack(packed);
    puzzle_.apply(state, static_cast<Action>(op));
    puzzle_.pack(state, result);
    return 1;
  }

 private:
  Space puzzle_;
  std::vector<uint32_t> goal_;
  size_t width_;
};

}  // namespace hstar
