// Pattern databases of puzzles: for each way that the pieces of a pattern can lie, the least cost of bringing
// them home. Of tiles and pancakes only moves of the pattern count, so that costs of disjoint patterns can be
// added (Korf and Felner, AIJ 2002; for pancakes Yang et al., JAIR 2008).
//
// tiles: a move costs 1 if it moves a tile of the pattern, else 0. The search knows where the blank is, the
// table has the least cost over its places. pancake, by location: a flip costs 1 for the pattern that has the
// pancake on top, in the state that the flip starts from. One pancake lies there, so sums are admissible;
// charging every flip to every pattern would not be. blocks: the others look alike but stay, and every move
// costs 1 (see block_patterns.h), so that only the greatest of several costs is admissible, not their sum.
//
// Invariant: admissible. Of pancakes and blocks also consistent; of tiles not, since a move can bring the
// blank from a place where the pattern is cheap to one where it is dear, and the table does not tell them
// apart.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spaces/blocks.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"

namespace hstar {

struct PatternDatabase {
  static constexpr uint8_t kImpossible = 255;  // two pieces in one place

  std::string space;              // its name: "tiles-5x5", "pancake-24", "blocks-15"
  std::vector<int> pattern;       // pieces: tiles, pancakes or blocks
  std::vector<uint32_t> step;     // by piece of the pattern: how far the index goes when it moves one place
  std::span<const uint8_t> cost;  // by the sum of step * place; of blocks by the index of BlockPatterns
  std::shared_ptr<const void> owner;  // of this memory

  // Throws an InputError unless it is for the space of this name.
  void check_space(const std::string& name) const;
  size_t entries() const;  // without impossible ones
  int largest() const;
  double mean() const;
};

using DatabaseSets = std::vector<std::vector<std::shared_ptr<const PatternDatabase>>>;

// `poll` is called some times a second and may throw to end the work. Throws an InputError for pieces that
// the puzzle does not have, twice the same piece, and tables of more than 2^30 entries.
using BuildPoll = std::function<void()>;
PatternDatabase build_database(const Tiles& space, const std::vector<int>& pattern, const BuildPoll& poll);
PatternDatabase build_database(const Pancake& space, const std::vector<int>& pattern, const BuildPoll& poll);
PatternDatabase build_database(const Blocks& space, const std::vector<int>& pattern, const BuildPoll& poll);

// A database whose costs lie in a file from `offset` to its end; nobody looks whether they are right. Throws
// an InputError if their number is wrong. Defined for the same spaces.
template <class Space>
PatternDatabase map_database(const Space& space, const std::vector<int>& pattern, const std::string& path,
                             size_t offset);

}  // namespace hstar
