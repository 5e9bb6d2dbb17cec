#include "spaces/grid.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "base/errors.h"

namespace hstar {
namespace {

constexpr size_t kMostCells = size_t{1} << 28;
constexpr size_t kCellsPerMicrosecond = 200;
constexpr double kLeastCost = 1e-3, kGreatestCost = 1e6;
constexpr int kRowSteps[] = {-1, -1, 0, 1, 1, 1, 0, -1};
constexpr int kColumnSteps[] = {0, 1, 1, 1, 0, -1, -1, -1};

std::string pair_text(int64_t row, int64_t column) {
  return std::string("(") + std::to_string(row) + ", " + std::to_string(column) + ")";
}

void check_cost(double cost, size_t row, size_t column) {
  if (cost >= kLeastCost && cost <= kGreatestCost) return;
  std::ostringstream text;
  text << "cell " << pair_text(static_cast<int64_t>(row), static_cast<int64_t>(column)) << " costs " << cost
       << "; costs are numbers from " << kLeastCost << " to " << kGreatestCost;
  throw InputError(text.str());
}

}  // namespace

GridMap::GridMap(size_t rows, size_t columns, std::span<const uint8_t> blocked, std::span<const double> costs,
                 int neighbours, bool cut_corners, Poll poll)
    : rows_(rows), columns_(columns), stride_(static_cast<uint32_t>(columns + 2)), neighbours_(neighbours) {
  if (rows < 1 || columns < 1 || rows > kMostCells || columns > kMostCells ||
      (rows + 2) * (columns + 2) > kMostCells)
    throw InputError("a map has at least 1 and at most " + std::to_string(kMostCells) +
                     " cells with its border, got " + std::to_string(rows) + " x " + std::to_string(columns));
  if (neighbours != 4 && neighbours != 8)
    throw InputError("a cell has 4 or 8 neighbours, got " + std::to_string(neighbours));
  if (blocked.size() != rows * columns || (!costs.empty() && costs.size() != blocked.size()))
    throw InputError("obstacles and costs must have a number for each cell");
  for (size_t d = 0; d < kDirections; ++d)
    offset_[d] = kRowSteps[d] * static_cast<int32_t>(stride_) + kColumnSteps[d];

  // 1. Cells with a border, and their prices.
  const size_t padded = (rows + 2) * (columns + 2);
  free_.assign(padded, 0);
  moves_.assign(padded, 0);
  if (!costs.empty()) {
    price_.assign(padded, {0, 0});
    least_ = {kMostUnits, kMostUnits};
  }
  const auto work_of_row = static_cast<uint32_t>(columns / kCellsPerMicrosecond + 1);
  double total = 0;
  for (size_t row = 0; row < rows; ++row) {
    poll(work_of_row);
    const size_t first = cell({static_cast<int32_t>(row), 0});
    size_t free_cells = 0;
    for (size_t column = 0; column < columns; ++column)
      free_cells += free_[first + column] = blocked[row * columns + column] == 0;
    if (costs.empty()) total += static_cast<double>(free_cells * kDiagonal);
    for (size_t column = 0; column < columns && !costs.empty(); ++column) {
      if (!free_[first + column]) continue;
      const double cost = costs[row * columns + column];
      check_cost(cost, row, column);
      auto& price = price_[first + column];
      price = {std::llround(cost * kStraight), std::llround(cost * kDiagonal)};
      least_[0] = std::min(least_[0], price[0]);
      least_[1] = std::min(least_[1], price[1]);
      total += static_cast<double>(price[1]);
    }
  }
  if (total > static_cast<double>(kMostUnits))
    throw InputError("the costs of all cells together are above 1.8e10, the most that a path may cost");
  all_cells_ = static_cast<Units>(total);

  // 2. Which steps are possible, a row and a direction at a time.
  for (size_t row = 0; row < rows; ++row) {
    poll(work_of_row);
    const uint32_t first = cell({static_cast<int32_t>(row), 0});
    const uint8_t* here = &free_[first];
    uint8_t* moves = &moves_[first];
    for (size_t d = 0; d < kDirections; d += neighbours == 8 ? 1 : 2) {
      const uint8_t* there = here + offset_[d];
      const uint8_t* left = here + offset_[(d + 7) % kDirections];
      const uint8_t* right = here + offset_[(d + 1) % kDirections];
      const auto bit = static_cast<uint8_t>(1u << d);
      const uint8_t straight = d % 2 == 0 || cut_corners;
      for (size_t column = 0; column < columns; ++column) {
        const int possible = here[column] & there[column] & (straight | (left[column] & right[column]));
        moves[column] |= static_cast<uint8_t>(possible * bit);
      }
    }
  }
}

uint32_t GridMap::checked(int64_t row, int64_t column, const char* what) const {
  const std::string name = std::string(what) + " " + pair_text(row, column);
  if (row < 0 || column < 0 || row >= static_cast<int64_t>(rows_) || column >= static_cast<int64_t>(columns_))
    throw InputError(name + " is outside of the map of " + std::to_string(rows_) + " x " +
                     std::to_string(columns_) + " cells");
  const uint32_t at = cell({static_cast<int32_t>(row), static_cast<int32_t>(column)});
  if (!is_free(at)) throw InputError(name + " is an obstacle");
  return at;
}

uint32_t Grid::checked(std::span<const int64_t> numbers, const char* what) const {
  if (numbers.size() != kNumbers)
    throw InputError(std::string(what) + " must be a row and a column, got " +
                     std::to_string(numbers.size()) + " numbers");
  return map_->checked(numbers[0], numbers[1], what);
}

}  // namespace hstar
