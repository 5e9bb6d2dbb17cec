// Pattern databases of blocks as a heuristic: the greatest cost of several patterns. Admissible and
// consistent.
//
// A node knows the stacks. A move changes two of them, and with them what every pattern sees: each index is
// made anew, of the places of the few named blocks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#ifdef __BMI2__
#include <immintrin.h>
#endif

#include "base/errors.h"
#include "heuristics/block_patterns.h"
#include "heuristics/incremental.h"
#include "heuristics/pattern_database.h"

namespace hstar {

// The bits of a word at the places of a mask, side by side.
inline uint32_t extract_bits(uint32_t word, uint32_t mask) {
#ifdef __BMI2__
  return _pext_u32(word, mask);
#else
  uint32_t result = 0;
  for (uint32_t bit = 1; mask != 0; mask &= mask - 1, bit <<= 1)
    if ((word & mask & -mask) != 0) result |= bit;
  return result;
#endif
}

class BlockDatabases {
 public:
  using Database = std::shared_ptr<const PatternDatabase>;
  using Sets = DatabaseSets;
  static constexpr size_t kMostDatabases = 16;
  static constexpr size_t kPlaces = Blocks::kMaxBlocks + 1;
  struct Node {
    std::array<uint32_t, kPlaces> below;  // by block: all blocks below it, as bits
    std::array<uint8_t, kPlaces> stack;   // by block
    std::array<uint8_t, kPlaces> level;   // by block, from 0
    std::array<uint8_t, kPlaces> height;  // by stack
    uint32_t used;                        // stacks, as bits
    uint32_t key;                         // of all stacks
    std::array<uint8_t, kMostDatabases> cost;

    int stacks() const { return std::popcount(used); }
  };

  // Throws an InputError if a database is for another space, or there are none or too many.
  BlockDatabases(const Blocks& space, Sets sets) : space_(space), sets_(std::move(sets)) {
    for (const std::vector<Database>& set : sets_)
      databases_.insert(databases_.end(), set.begin(), set.end());
    if (databases_.empty() || databases_.size() > kMostDatabases)
      throw InputError("there are 1 to " + std::to_string(kMostDatabases) + " databases, got " +
                       std::to_string(databases_.size()));
    for (const Database& database : databases_) {
      database->check_space(space.name());
      const size_t named = database->pattern.size();
      auto& patterns = patterns_[named];
      if (!patterns) patterns = std::make_shared<const BlockPatterns>(space.size(), named);
      Table& table = tables_.emplace_back();
      table.patterns = patterns.get();
      table.cost = database->cost.data();
      // In the order of bits, which is that of blocks: databases are made with sorted patterns.
      for (size_t i = 0; i < named; ++i) {
        table.blocks[i] = static_cast<uint8_t>(database->pattern[i]);
        table.mask |= 1u << database->pattern[i];
        if (i > 0 && database->pattern[i] < database->pattern[i - 1])
          throw InputError("a pattern of blocks must be in order");
      }
    }
  }

  const Blocks& space() const { return space_; }
  const Sets& sets() const { return sets_; }
  const std::vector<Database>& databases() const { return databases_; }

  int32_t root(const Blocks::State& state, Node& node) const {
    node = {};
    const auto blocks = static_cast<size_t>(space_.size());
    for (size_t block = 1; block <= blocks; ++block) {
      size_t bottom = block;
      for (size_t at = state.under[block]; at != 0; at = state.under[at]) {
        node.below[block] |= 1u << at;
        bottom = at;
      }
      node.level[block] = static_cast<uint8_t>(std::popcount(node.below[block]));
      node.stack[block] = static_cast<uint8_t>(bottom - 1);
      uint8_t& height = node.height[bottom - 1];
      height = std::max(height, static_cast<uint8_t>(node.level[block] + 1));
      node.used |= 1u << (bottom - 1);
    }
    for (const uint8_t height : node.height) node.key += kStackKeys[height];
    return look_up(node);
  }
  int32_t child(const Node& parent, const Blocks::State& before, Blocks::Action action, Node& child) const {
    child = parent;
    const auto block = static_cast<size_t>(Blocks::block(action));
    const auto onto = static_cast<size_t>(Blocks::destination(action));
    const size_t from = parent.stack[block];
    const size_t to = onto == 0 ? static_cast<size_t>(std::countr_one(parent.used)) : parent.stack[onto];
    child.below[block] = onto == 0 ? 0 : parent.below[onto] | 1u << onto;
    child.stack[block] = static_cast<uint8_t>(to);
    child.level[block] = parent.height[to];
    const uint8_t lower = --child.height[from], higher = ++child.height[to];
    child.key += kStackKeys[lower] - kStackKeys[lower + size_t{1}] + kStackKeys[higher] -
                 kStackKeys[higher - size_t{1}];
    child.used = (parent.used | 1u << to) & ~(uint32_t{lower == 0} << from);
    return look_up(child);
  }

 private:
  struct Table {
    const BlockPatterns* patterns = nullptr;
    const uint8_t* cost = nullptr;
    std::array<uint8_t, BlockPatterns::kMostNamed> blocks{};
    uint32_t mask = 0;
  };

  int32_t look_up(Node& node) const {
    std::array<uint32_t, kMostDatabases> index;
    for (size_t i = 0; i < tables_.size(); ++i) index[i] = index_of(tables_[i], node);
    int32_t greatest = 0;
    for (size_t i = 0; i < tables_.size(); ++i) {
      node.cost[i] = tables_[i].cost[index[i]];
      greatest = std::max<int32_t>(greatest, node.cost[i]);
    }
    return greatest;
  }
  // Names that a pattern does not have belong to block 0, which lies below all and on nothing.
  static uint32_t index_of(const Table& table, const Node& node) {
    constexpr size_t kNamed = BlockPatterns::kMostNamed;
    const BlockPatterns& patterns = *table.patterns;
    std::array<int, kNamed + 1> level, height;
    level[BlockPatterns::kNone] = -1;
    height[BlockPatterns::kNone] = 0;
    uint32_t code = 0;
    for (size_t i = 0; i < kNamed; ++i) {
      const size_t block = table.blocks[i];
      level[i] = node.level[block];
      height[i] = node.height[node.stack[block]];
      code |= extract_bits(node.below[block], table.mask) << (i * kNamed);
    }
    const BlockPatterns::Arrangement& arrangement = patterns.arrangement(code);
    BlockPatterns::Parts parts{};
    for (size_t i = 0; i < kNamed; ++i)
      parts[i] = static_cast<uint8_t>(level[i] - level[arrangement.on[i]] - 1);
    uint32_t key = node.key;
    for (size_t i = 0; i < kNamed; ++i) {
      const size_t top = arrangement.tops[i];
      parts[patterns.named() + i] = static_cast<uint8_t>(height[top] - level[top] - 1);
      key -= kStackKeys[height[top]];
    }
    return patterns.index(arrangement, parts, key);
  }

  Blocks space_;
  Sets sets_;
  std::vector<Database> databases_;                                                           // of all sets
  std::array<std::shared_ptr<const BlockPatterns>, BlockPatterns::kMostNamed + 1> patterns_;  // by names
  std::vector<Table> tables_;
};

}  // namespace hstar
