// Inputs of networks by pattern databases, those of Marom and Rosman (ICAPS 2020): costs of all patterns,
// sums of additive sets, and a few numbers more. Only what a move changes is looked up again.
//
//   tiles    costs, sums, misplaced tiles, Manhattan distance, cell of the blank
//   pancake  costs, sums, whether the middle pancake is in its place, the largest pancake that is not
//   blocks   costs, blocks that do not lie on what they lie on in the goal, stacks
//
// A cost is scaled by the largest one of its database, a sum by the sum of these.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "heuristics/additive_databases.h"
#include "heuristics/block_databases.h"
#include "heuristics/manhattan.h"
#include "heuristics/misplaced.h"

namespace hstar {

// What tiles and pancakes share: costs, then sums. A row for each database, of its cost and its sum, follows
// those of single inputs.
template <class Space_>
class AdditiveInputs {
 public:
  using Space = Space_;
  using Databases = AdditiveDatabases<Space>;
  struct Costs {
    typename Databases::Node databases;
    std::array<uint8_t, Databases::kMostDatabases> cost;
  };

  explicit AdditiveInputs(Databases databases) : databases_(std::move(databases)) {
    std::vector<float> sums;
    for (const auto& set : databases_.sets()) {
      float sum = 0;
      for (const auto& database : set) {
        const auto largest = static_cast<float>(std::max(1, database->largest()));
        divisors_.push_back(largest);
        set_.push_back(sums.size());
        sum += largest;
      }
      sums.push_back(std::max(1.0f, sum));
    }
    divisors_.insert(divisors_.end(), sums.begin(), sums.end());
    first_other_ = divisors_.size();
  }
  AdditiveInputs(const AdditiveInputs&) = delete;

  const Space& space() const { return databases_.space(); }
  size_t size() const { return divisors_.size(); }
  float divisor(size_t input) const { return divisors_[input]; }

 protected:
  void add_inputs(std::initializer_list<int> divisors) {
    divisors_.insert(divisors_.end(), divisors.begin(), divisors.end());
  }
  size_t first_other() const { return first_other_; }
  size_t first_row() const { return size(); }
  size_t rows_of_costs() const { return set_.size(); }

  template <class Put>
  void raw_costs(const typename Space::State& state, const Put& put) const {
    Costs costs;
    root_costs(state, costs);
    std::array<int32_t, Databases::kMostDatabases> sums{};
    for (size_t i = 0; i < set_.size(); ++i) {
      put(i, costs.cost[i]);
      sums[set_[i]] += costs.cost[i];
    }
    for (size_t set = 0; set < databases_.sets().size(); ++set) put(set_.size() + set, sums[set]);
  }
  void root_costs(const typename Space::State& state, Costs& costs) const {
    databases_.root(state, costs.databases);
    for (size_t i = 0; i < set_.size(); ++i) costs.cost[i] = databases_.cost(costs.databases, i);
  }
  template <class Sums>
  void child_costs(const Costs& parent, const typename Space::State& before, typename Space::Action action,
                   Costs& child, Sums& sums) const {
    child = parent;
    databases_.follow(before, action, child.databases, [&](size_t i) {
      child.cost[i] = databases_.cost(child.databases, i);
      sums.add(first_row() + i, child.cost[i] - parent.cost[i]);
    });
  }
  template <class Put>
  void compose_cost(size_t database, const Put& put) const {
    put(database, 1);
    put(set_.size() + set_[database], 1);
  }
  int32_t greatest_sum(const Costs& costs) const {
    int32_t greatest = 0;
    for (size_t i = 0; i < set_.size();) {
      int32_t sum = 0;
      for (const size_t set = set_[i]; i < set_.size() && set_[i] == set; ++i) sum += costs.cost[i];
      greatest = std::max(greatest, sum);
    }
    return greatest;
  }

 private:
  Databases databases_;
  size_t first_other_ = 0;  // behind costs and sums
  std::vector<float> divisors_;
  std::vector<size_t> set_;  // by database
};

class TilesDatabaseInputs : public AdditiveInputs<Tiles> {
 public:
  struct Node : Costs {
    Manhattan::Node manhattan;
  };

  explicit TilesDatabaseInputs(Databases databases)
      : AdditiveInputs(std::move(databases)), manhattan_(space()) {
    const Tiles& tiles = space();
    const int cells = tiles.cells();
    int farthest = 0;
    for (int tile = 1; tile < cells; ++tile) {
      int far = 0;
      for (int cell = 0; cell < cells; ++cell) far = std::max(far, tiles.distance(tile, cell));
      farthest += far;
    }
    // The paper's number for the 24-puzzle is 168; on small boards that formula would be too little.
    farthest = std::max(farthest, (cells - 1) * (tiles.rows() + tiles.columns() - 3));
    add_inputs({cells, farthest, cells});
  }

  template <class Put>
  void raw(const Tiles::State& state, const Put& put) const {
    raw_costs(state, put);
    int32_t misplaced = 0;
    for (int cell = 0; cell < space().cells(); ++cell) {
      const int tile = state.cells[cell];
      misplaced += tile != 0 && tile != cell;
    }
    Manhattan::Node node;
    put(first_other(), misplaced);
    put(first_other() + 1, manhattan_.root(state, node));
    put(first_other() + 2, state.blank);
  }
  void root(const Tiles::State& state, Node& node) const {
    root_costs(state, node);
    manhattan_.root(state, node.manhattan);
  }
  template <class Sums>
  void child(const Node& parent, const Tiles::State& before, Tiles::Action action, Node& child,
             Sums& sums) const {
    child_costs(parent, before, action, child, sums);
    manhattan_.child(parent.manhattan, before, action, child.manhattan);
    const size_t tile = before.cells[space().target(before, action)];
    sums.add(first_move() + (tile * Tiles::kMaxCells + before.blank) * Tiles::kDirections + action);
  }
  bool is_goal(const Node& node) const { return node.manhattan.h == 0; }
  int32_t admissible(const Node& node) const { return std::max(greatest_sum(node), node.manhattan.h); }

  size_t rows() const {
    return first_move() + static_cast<size_t>(space().cells()) * Tiles::kMaxCells * Tiles::kDirections;
  }
  template <class Put>
  void compose(size_t row, const Put& put) const {
    if (row < first_move()) return compose_cost(row - first_row(), put);
    // All that changes, costs apart, when a tile moves into the cell of the blank.
    const auto action = static_cast<int>((row - first_move()) % Tiles::kDirections);
    const auto blank = static_cast<int>((row - first_move()) / Tiles::kDirections % Tiles::kMaxCells);
    const auto tile = static_cast<int>((row - first_move()) / Tiles::kDirections / Tiles::kMaxCells);
    const int columns = space().columns();
    const int from = blank + std::array{-columns, -1, 1, columns}[action];
    if (blank >= space().cells() || from < 0 || from >= space().cells() || space().distance(blank, from) != 1)
      return;  // no such move
    put(first_other(), int{tile != blank} - int{tile != from});
    put(first_other() + 1, space().distance(tile, blank) - space().distance(tile, from));
    put(first_other() + 2, from - blank);
  }

 private:
  size_t first_move() const { return first_row() + rows_of_costs(); }

  Manhattan manhattan_;
};

class PancakeDatabaseInputs : public AdditiveInputs<Pancake> {
 public:
  struct Node : Costs {
    int32_t largest;  // pancake that is not in its place, 0 if all are
  };

  explicit PancakeDatabaseInputs(Databases databases) : AdditiveInputs(std::move(databases)) {
    add_inputs({1, space().size()});
  }

  template <class Put>
  void raw(const Pancake::State& state, const Put& put) const {
    raw_costs(state, put);
    put(first_other(), state.pancakes[middle()] == middle());
    put(first_other() + 1, largest_below(space().size(), [&](int p) { return state.pancakes[at(p)]; }));
  }
  void root(const Pancake::State& state, Node& node) const {
    root_costs(state, node);
    node.largest = largest_below(space().size(), [&](int p) { return state.pancakes[at(p)]; });
  }
  template <class Sums>
  void child(const Node& parent, const Pancake::State& before, Pancake::Action flip, Node& child,
             Sums& sums) const {
    child_costs(parent, before, flip, child, sums);
    // Places from `flip` on stay as they are.
    const auto after = [&](int place) { return before.pancakes[at(flip - 1 - place)]; };
    child.largest = parent.largest >= flip ? parent.largest : largest_below(flip, after);
    sums.add(first_other() + 1, child.largest - parent.largest);
    if (flip > middle()) {
      const bool is_there = after(static_cast<int>(middle())) == middle();
      const bool was_there = before.pancakes[middle()] == middle();
      sums.add(first_other(), int{is_there} - int{was_there});
    }
  }
  bool is_goal(const Node& node) const { return node.largest == 0; }
  int32_t admissible(const Node& node) const { return greatest_sum(node); }

  size_t rows() const { return first_row() + rows_of_costs(); }
  template <class Put>
  void compose(size_t row, const Put& put) const {
    compose_cost(row - first_row(), put);
  }

 private:
  static size_t at(int place) { return static_cast<size_t>(place); }
  size_t middle() const { return static_cast<size_t>(space().size() / 2); }
  // The largest pancake below a number that is not in its place.
  template <class Pancakes>
  static int32_t largest_below(int end, const Pancakes& pancake_in) {
    while (end > 0 && pancake_in(end - 1) == end - 1) --end;
    return std::max(0, end - 1);
  }
};

class BlockDatabaseInputs {
 public:
  using Space = Blocks;
  struct Node {
    BlockDatabases::Node databases;
    MisplacedBlocks::Node misplaced;
    int32_t admissible;
  };

  explicit BlockDatabaseInputs(BlockDatabases databases)
      : databases_(std::move(databases)), misplaced_(databases_.space()) {
    for (const auto& database : databases_.databases())
      divisors_.push_back(static_cast<float>(std::max(1, database->largest())));
    divisors_.resize(size(), static_cast<float>(space().size()));
  }

  const Blocks& space() const { return databases_.space(); }
  size_t size() const { return costs() + 2; }
  float divisor(size_t input) const { return divisors_[input]; }
  template <class Put>
  void raw(const Blocks::State& state, const Put& put) const {
    Node node;
    root(state, node);
    for (size_t i = 0; i < costs(); ++i) put(i, node.databases.cost[i]);
    put(costs(), node.misplaced.h);
    put(costs() + 1, node.databases.stacks());
  }
  void root(const Blocks::State& state, Node& node) const {
    const int32_t greatest = databases_.root(state, node.databases);
    node.admissible = std::max(greatest, misplaced_.root(state, node.misplaced));
  }
  template <class Sums>
  void child(const Node& parent, const Blocks::State& before, Blocks::Action action, Node& child,
             Sums& sums) const {
    const int32_t greatest = databases_.child(parent.databases, before, action, child.databases);
    child.admissible =
        std::max(greatest, misplaced_.child(parent.misplaced, before, action, child.misplaced));
    for (size_t i = 0; i < costs(); ++i) sums.add(i, child.databases.cost[i] - parent.databases.cost[i]);
    sums.add(costs(), child.misplaced.h - parent.misplaced.h);
    sums.add(costs() + 1, child.databases.stacks() - parent.databases.stacks());
  }
  bool is_goal(const Node& node) const { return node.misplaced.h == 0; }
  int32_t admissible(const Node& node) const { return node.admissible; }

 private:
  size_t costs() const { return databases_.databases().size(); }

  BlockDatabases databases_;
  MisplacedBlocks misplaced_;
  std::vector<float> divisors_;
};

}  // namespace hstar
