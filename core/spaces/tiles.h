// tiles: the sliding-tile puzzle of any size, 8-, 15- and 24-puzzle among them. A move exchanges the blank
// with a neighbour.
//
// A state is the number in each cell, row by row; 0 is the blank. The goal has the blank first and tile t in
// cell t, as in the tests of Korf (AIJ 1985) and Korf and Taylor (AAAI 1996). Moves are named by where the
// blank goes, in the order of Korf's program: up, left, right, down. Counts of generated states depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spaces/packing.h"
#include "spaces/puzzle.h"

namespace hstar {

struct TilesState {
  static constexpr int kMost = 36;
  std::array<uint8_t, kMost> cells{};  // 0 behind the last cell
  uint8_t blank = 0;
  bool operator==(const TilesState&) const = default;
};

class Tiles : public NumberedStates<TilesState, &TilesState::cells> {
 public:
  static constexpr int kMaxCells = TilesState::kMost;
  using Action = uint8_t;  // 0 up, 1 left, 2 right, 3 down; 3 - action is its inverse
  static constexpr Action kNoAction = 255;
  static constexpr int kDirections = 4;
  struct Buffer {};

  Tiles(int rows, int columns);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int cells() const { return size(); }
  std::string name() const { return "tiles-" + std::to_string(rows_) + "x" + std::to_string(columns_); }
  int distance(int a, int b) const;  // of two cells, in moves

  // Throws an InputError for what is no permutation, or cannot reach the goal.
  State checked(const std::vector<int>& values) const;
  State permutation(const std::vector<int>& values) const;  // the former only
  // Whether permutation and place of the blank have equal parity (Johnson and Story, 1879).
  bool is_solvable(const State& state) const;

  bool is_goal(const State& state) const { return state.blank == 0 && state.cells == goal_.cells; }
  std::span<const Action> actions(const State& state, Buffer&) const {
    return {actions_[state.blank].data(), count_[state.blank]};
  }
  // The cell that the blank goes to, from which a tile comes.
  int target(const State& state, Action action) const { return state.blank + step_[action]; }
  // Calls `moved(piece, from, to)` for all pieces that a move moves; the blank is none.
  template <class Moved>
  void for_moved(const State& before, Action action, const Moved& moved) const {
    const int from = target(before, action);
    moved(int{before.cells[static_cast<size_t>(from)]}, from, int{before.blank});
  }
  Action apply(State& state, Action action) const {
    const int to = target(state, action);
    state.cells[state.blank] = state.cells[static_cast<size_t>(to)];
    state.cells[static_cast<size_t>(to)] = 0;
    state.blank = static_cast<uint8_t>(to);
    return static_cast<Action>(3 - action);
  }

  State unpack(const uint32_t* words) const;

 private:
  int rows_;
  int columns_;
  std::array<int8_t, kDirections> step_{};
  std::array<std::array<Action, kDirections>, kMaxCells> actions_{};
  std::array<uint8_t, kMaxCells> count_{};
};

static_assert(Puzzle<Tiles>);

}  // namespace hstar
