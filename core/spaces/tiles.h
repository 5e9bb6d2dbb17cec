// tiles: the sliding-tile puzzle of any size, 8-, 15- and 24-puzzle among them. A move exchanges the blank
// with a neighbour.
//
// A state is the number in each cell, row by row; 0 is the blank. The goal has the blank first and tile t in
// cell t, as in the tests of Korf (AIJ 1985) and Korf and Taylor (AAAI 1996). Moves are named by where the
// blank goes, in the order of Korf's program: up, left, right, down. Counts of generated states depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
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

  Tiles(int rows, int columns)
      : NumberedStates(rows * columns, rows * columns - 1), rows_(rows), columns_(columns) {
    if (rows < 2 || columns < 2 || rows > kMaxCells / 2 || columns > kMaxCells / 2 || cells() > kMaxCells)
      throw InputError("tiles needs at least 2 rows and 2 columns and at most " + std::to_string(kMaxCells) +
                       " cells, got " + std::to_string(rows) + " x " + std::to_string(columns));
    step_ = {static_cast<int8_t>(-columns), -1, 1, static_cast<int8_t>(columns)};
    for (int cell = 0; cell < cells(); ++cell) {
      const int row = cell / columns, column = cell % columns;
      const bool possible[] = {row > 0, column > 0, column < columns - 1, row < rows - 1};
      for (Action action = 0; action < kDirections; ++action)
        if (possible[action]) actions_[cell][count_[cell]++] = action;
      goal_.cells[cell] = static_cast<uint8_t>(cell);
    }
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int cells() const { return size(); }
  std::string name() const { return "tiles-" + std::to_string(rows_) + "x" + std::to_string(columns_); }
  // Of two cells, in moves.
  int distance(int a, int b) const {
    return std::abs(a / columns_ - b / columns_) + std::abs(a % columns_ - b % columns_);
  }

  // Throws an InputError for what is no permutation, or cannot reach the goal.
  State checked(const std::vector<int>& values) const {
    const State state = permutation(values);
    if (is_solvable(state)) return state;
    // Seen from the other side of the board the goal with the blank last is the goal with the blank first.
    std::vector<int> turned(values.rbegin(), values.rend());
    for (int& tile : turned) tile = tile == 0 ? 0 : cells() - tile;
    const char* hint = is_solvable(permutation(turned)) ? "; it can reach the one with the blank last" : "";
    throw InputError(std::string("these tiles cannot reach the goal with the blank first, 0 1 2 ...") + hint);
  }
  // The former only.
  State permutation(const std::vector<int>& values) const {
    check_permutation(values, static_cast<size_t>(cells()), "tile");
    State state;
    for (int cell = 0; cell < cells(); ++cell) {
      state.cells[cell] = static_cast<uint8_t>(values[cell]);
      if (values[cell] == 0) state.blank = static_cast<uint8_t>(cell);
    }
    return state;
  }
  // Whether permutation and place of the blank have equal parity (Johnson and Story, 1879).
  bool is_solvable(const State& state) const {
    // A cycle of length m is m - 1 exchanges, and each move is one exchange.
    bool odd = distance(state.blank, 0) % 2 != 0;
    std::array<bool, kMaxCells> seen{};
    for (int first = 0; first < cells(); ++first) {
      seen[first] = true;
      for (int cell = state.cells[first]; !seen[cell]; cell = state.cells[cell]) {
        seen[cell] = true;
        odd = !odd;
      }
    }
    return !odd;
  }

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
    moved(int{before.cells[from]}, from, int{before.blank});
  }
  Action apply(State& state, Action action) const {
    const int to = target(state, action);
    state.cells[state.blank] = state.cells[to];
    state.cells[to] = 0;
    state.blank = static_cast<uint8_t>(to);
    return static_cast<Action>(3 - action);
  }

  State unpack(const uint32_t* words) const {
    State state;
    unpack_into(words, state);
    while (state.blank < cells() - 1 && state.cells[state.blank] != 0) ++state.blank;
    return state;
  }

 private:
  int rows_;
  int columns_;
  std::array<int8_t, kDirections> step_{};
  std::array<std::array<Action, kDirections>, kMaxCells> actions_{};
  std::array<uint8_t, kMaxCells> count_{};
};

}  // namespace hstar
