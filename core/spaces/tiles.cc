#include "spaces/tiles.h"

#include <cstdlib>
#include <string>

#include "base/errors.h"

namespace hstar {

Tiles::Tiles(int rows, int columns)
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

int Tiles::distance(int a, int b) const {
  return std::abs(a / columns_ - b / columns_) + std::abs(a % columns_ - b % columns_);
}

Tiles::State Tiles::permutation(const std::vector<int>& values) const {
  check_permutation(values, static_cast<size_t>(cells()), "tile");
  State state;
  for (int cell = 0; cell < cells(); ++cell) {
    state.cells[cell] = static_cast<uint8_t>(values[cell]);
    if (values[cell] == 0) state.blank = static_cast<uint8_t>(cell);
  }
  return state;
}

Tiles::State Tiles::checked(const std::vector<int>& values) const {
  const State state = permutation(values);
  if (is_solvable(state)) return state;
  // Seen from the other side of the board the goal with the blank last is the goal with the blank first.
  std::vector<int> turned(values.rbegin(), values.rend());
  for (int& tile : turned) tile = tile == 0 ? 0 : cells() - tile;
  const char* hint = is_solvable(permutation(turned)) ? "; it can reach the one with the blank last" : "";
  throw InputError(std::string("these tiles cannot reach the goal with the blank first, 0 1 2 ...") + hint);
}

bool Tiles::is_solvable(const State& state) const {
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

Tiles::State Tiles::unpack(const uint32_t* words) const {
  State state;
  unpack_into(words, state);
  while (state.blank < cells() - 1 && state.cells[state.blank] != 0) ++state.blank;
  return state;
}

}  // namespace hstar
