#include "heuristics/pattern_database.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/errors.h"
#include "heuristics/block_patterns.h"

namespace hstar {
namespace {

constexpr size_t kMostEntries = size_t{1} << 30;
constexpr size_t kStatesPerPoll = 100000;
constexpr size_t kMostPieces = 8;

void check_pattern(int first, int last, const std::vector<int>& pattern) {
  if (pattern.empty()) throw InputError("a pattern needs at least one piece");
  for (const int piece : pattern) {
    if (piece < first || piece > last)
      throw InputError("a pattern has pieces " + std::to_string(first) + ".." + std::to_string(last) +
                       ", got " + std::to_string(piece));
    if (std::count(pattern.begin(), pattern.end(), piece) > 1)
      throw InputError("piece " + std::to_string(piece) + " is twice in the pattern");
  }
}

// A database without its costs, and how many of them it has to have.
template <class Space>
std::pair<PatternDatabase, size_t> without_costs(const Space& space, const std::vector<int>& pattern) {
  const int places = space.size();
  PatternDatabase database{space.name(), pattern, {}, {}, {}};
  if constexpr (std::is_same_v<Space, Blocks>) {
    check_pattern(1, places, pattern);
    return {std::move(database), BlockPatterns(space.size(), pattern.size()).size()};
  } else {
    check_pattern(std::is_same_v<Space, Tiles> ? 1 : 0, places - 1, pattern);
    size_t size = 1;
    for (size_t i = 0; i < pattern.size(); ++i) {
      database.step.push_back(static_cast<uint32_t>(size));
      size *= static_cast<size_t>(places);
      if (size > kMostEntries || pattern.size() > kMostPieces)
        throw InputError("a pattern of " + std::to_string(pattern.size()) + " pieces in " +
                         std::to_string(places) + " places is too large");
    }
    return {std::move(database), size};
  }
}

// Costs to be filled, which the database owns.
std::vector<uint8_t>& own_costs(PatternDatabase& database, size_t size) {
  const auto costs = std::make_shared<std::vector<uint8_t>>(size, PatternDatabase::kImpossible);
  database.cost = *costs;
  database.owner = costs;
  return *costs;
}

uint32_t goal_index(const PatternDatabase& database) {
  uint32_t index = 0;
  for (size_t i = 0; i < database.pattern.size(); ++i)
    index += database.step[i] * static_cast<uint32_t>(database.pattern[i]);
  return index;
}

// A file as read-only memory, which its owner keeps: pages are read when first touched, and shared by
// processes. Throws an InputError that names the file.
std::pair<std::span<const uint8_t>, std::shared_ptr<const void>> map_file(const std::string& path) {
  const auto fail = [&] { throw InputError(path + ": cannot read: " + std::strerror(errno)); };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail();
  struct stat status{};
  const bool known = fstat(file, &status) == 0;
  const auto size = static_cast<size_t>(status.st_size);
  void* data = known && size > 0 ? mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  close(file);  // the mapping stays
  if (!known || data == MAP_FAILED) fail();
  const auto unmap = [size](void* mapped) {
    if (mapped != nullptr) munmap(mapped, size);
  };
  return {{static_cast<const uint8_t*>(data), size}, std::shared_ptr<void>(data, unmap)};
}

using Places = std::array<int, kMostPieces>;

Places places_of(uint32_t index, size_t pieces, int places) {
  Places result{};
  for (size_t i = 0; i < pieces; ++i) {
    result[i] = static_cast<int>(index % static_cast<uint32_t>(places));
    index /= static_cast<uint32_t>(places);
  }
  return result;
}

// The cells of a board as bits.
class Board {
 public:
  using Cells = uint64_t;

  explicit Board(const Tiles& space) {
    for (int cell = 0; cell < space.cells(); ++cell) {
      all_ |= Cells{1} << cell;
      for (int other = 0; other < space.cells(); ++other)
        if (space.distance(cell, other) == 1) beside_[cell] |= Cells{1} << other;
      if (cell % space.columns() != 0) not_left_ |= Cells{1} << cell;
      if (cell % space.columns() != space.columns() - 1) not_right_ |= Cells{1} << cell;
    }
    columns_ = space.columns();
  }

  Cells beside(int cell) const { return beside_[cell]; }
  // Where the blank can go from a cell without moving a tile that lies in `taken`.
  Cells region(int blank, Cells taken) const {
    const Cells open = all_ & ~taken;
    Cells region = Cells{1} << blank, before = 0;
    while (region != before) {
      before = region;
      region |=
          (region & not_left_) >> 1 | (region & not_right_) << 1 | region >> columns_ | region << columns_;
      region &= open;
    }
    return region;
  }

 private:
  Cells all_ = 0, not_left_ = 0, not_right_ = 0;
  int columns_ = 0;
  std::array<Cells, Tiles::kMaxCells> beside_{};
};

// From the goal backwards, breadth first by cost; moves that cost nothing stay in the same round.
// `neighbours(index, put)` calls put(index, whether it costs 1) for all states one move away.
template <class Neighbours>
void fill_costs(std::vector<uint8_t>& costs, uint32_t goal, const BuildPoll& poll, size_t states_per_poll,
                const Neighbours& neighbours) {
  std::vector<uint32_t> round{goal}, next;
  costs[goal] = 0;
  size_t seen = 0;
  for (int cost = 0; !round.empty(); ++cost) {
    next.clear();
    while (!round.empty()) {
      if (seen++ % states_per_poll == 0) poll();
      const uint32_t index = round.back();
      round.pop_back();
      if (costs[index] != cost) continue;  // reached for less since
      neighbours(index, [&](uint32_t after, bool counts) {
        const int reached = cost + counts;
        if (reached >= costs[after]) return;
        costs[after] = static_cast<uint8_t>(reached);
        (counts ? next : round).push_back(after);
      });
    }
    round.swap(next);
  }
}

}  // namespace

void PatternDatabase::check_space(const std::string& name) const {
  if (space != name) throw InputError("a database for " + space + " does not fit " + name);
}

size_t PatternDatabase::entries() const {
  return cost.size() - static_cast<size_t>(std::count(cost.begin(), cost.end(), kImpossible));
}

int PatternDatabase::largest() const {
  int result = 0;
  for (const uint8_t one : cost)
    if (one != kImpossible) result = std::max<int>(result, one);
  return result;
}

double PatternDatabase::mean() const {
  uint64_t sum = 0;
  for (const uint8_t one : cost) sum += one == kImpossible ? 0 : one;
  return static_cast<double>(sum) / static_cast<double>(entries());
}

// Breadth first by cost; moves that cost nothing are one step: the blank spreads over its region at once.
PatternDatabase build_database(const Tiles& space, const std::vector<int>& pattern, const BuildPoll& poll) {
  auto [database, size] = without_costs(space, pattern);
  std::vector<uint8_t>& costs = own_costs(database, size);
  const size_t pieces = pattern.size();
  const Board board(space);
  std::vector<Board::Cells> visited(size, 0);  // by index: where the blank has been
  std::vector<std::pair<uint32_t, int>> frontier{{goal_index(database), 0}}, next;  // index and blank
  for (int cost = 0; !frontier.empty(); ++cost) {
    if (cost == PatternDatabase::kImpossible)
      throw InputError("a pattern whose costs do not fit into a byte");
    next.clear();
    for (size_t i = 0; i < frontier.size(); ++i) {
      if (i % kStatesPerPoll == 0) poll();
      const auto [index, blank] = frontier[i];
      if ((visited[index] >> blank & 1) != 0) continue;
      costs[index] = std::min(costs[index], static_cast<uint8_t>(cost));
      const Places place = places_of(index, pieces, space.cells());
      Board::Cells taken = 0;
      for (size_t piece = 0; piece < pieces; ++piece) taken |= Board::Cells{1} << place[piece];
      const Board::Cells region = board.region(blank, taken);
      visited[index] |= region;
      for (size_t piece = 0; piece < pieces; ++piece) {
        const int from = place[piece];
        for (Board::Cells into = board.beside(from) & region; into != 0; into &= into - 1) {
          const int to = std::countr_zero(into);
          const uint32_t after = index + database.step[piece] * static_cast<uint32_t>(to - from);
          if ((visited[after] >> from & 1) == 0) next.emplace_back(after, from);
        }
      }
    }
    frontier.swap(next);
  }
  return std::move(database);
}

PatternDatabase build_database(const Pancake& space, const std::vector<int>& pattern, const BuildPoll& poll) {
  auto [database, size] = without_costs(space, pattern);
  const auto neighbours = [&](uint32_t index, const auto& put) {
    const Places place = places_of(index, pattern.size(), space.size());
    for (int flip = 2; flip <= space.size(); ++flip) {
      uint32_t after = index;
      bool on_top = false;
      for (size_t piece = 0; piece < pattern.size(); ++piece) {
        const int to = space.place_after(static_cast<Pancake::Action>(flip), place[piece]);
        after += database.step[piece] * static_cast<uint32_t>(to - place[piece]);
        on_top |= to == 0;
      }
      put(after, on_top);
    }
  };
  fill_costs(own_costs(database, size), goal_index(database), poll, kStatesPerPoll, neighbours);
  return std::move(database);
}

PatternDatabase build_database(const Blocks& space, const std::vector<int>& pattern, const BuildPoll& poll) {
  auto [database, size] = without_costs(space, pattern);
  const BlockPatterns patterns(space.size(), pattern.size());
  const auto neighbours = [&](uint32_t index, const auto& put) {
    patterns.neighbours(patterns.form(index),
                        [&](const BlockPatterns::Form& form) { put(patterns.index(form), true); });
  };
  // A state has dozens of neighbours. 2 moves for each block do, so that costs fit into a byte.
  fill_costs(own_costs(database, size), patterns.index(patterns.form(space, space.goal(), pattern)), poll,
             kStatesPerPoll / 10, neighbours);
  return std::move(database);
}

template <class Space>
PatternDatabase map_database(const Space& space, const std::vector<int>& pattern, const std::string& path,
                             size_t offset) {
  auto [database, size] = without_costs(space, pattern);
  const auto [bytes, owner] = map_file(path);
  if (bytes.size() < offset || bytes.size() - offset != size)
    throw InputError(path + ": expected " + std::to_string(size) + " costs from byte " +
                     std::to_string(offset) + " on, in a file of " + std::to_string(bytes.size()) + " bytes");
  database.cost = bytes.subspan(offset);
  database.owner = owner;
  return std::move(database);
}

template PatternDatabase map_database(const Tiles&, const std::vector<int>&, const std::string&, size_t);
template PatternDatabase map_database(const Pancake&, const std::vector<int>&, const std::string&, size_t);
template PatternDatabase map_database(const Blocks&, const std::vector<int>&, const std::string&, size_t);

}  // namespace hstar
