// A table of states seen in one depth-first search, of fixed size: a state that comes where another one lies
// takes its place. It forgets, so it may fail to see a duplicate; since it keeps whole states, it never takes
// one state for another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "base/large_array.h"
#include "spaces/tiles.h"

namespace hstar {

// Only states whose f is so far below the bound are looked up. The trees below others are small, and they are
// most of all states: of tiles, looking them up takes several times as long and saves little. Of blocks and
// pancakes it saves much.
template <class Space>
inline constexpr int32_t kLeastSlack = 0;
template <>
inline constexpr int32_t kLeastSlack<Tiles> = 2;

class TranspositionTable {
 public:
  // As many entries as fit into `bytes`, a power of two, at least one.
  TranspositionTable(size_t words, size_t bytes)
      : words_(words),
        stride_(words + 2),
        entries_(std::bit_floor(std::max<size_t>(bytes / (stride_ * sizeof(uint32_t)), 1))),
        data_(entries_ * stride_) {}

  // Forgets all states, without touching them.
  void clear() { ++round_; }

  // Whether the state was seen at depth g or less since `clear`; if not, it is so from now on.
  bool seen(const uint32_t* state, uint32_t g) {
    uint32_t* entry = &data_[(hash_words(state, words_) & (entries_ - 1)) * stride_];
    uint32_t& round = entry[words_];
    uint32_t& depth = entry[words_ + 1];
    if (round == round_ && depth <= g && std::equal(state, state + words_, entry)) return true;
    std::copy_n(state, words_, entry);
    round = round_;
    depth = g;
    return false;
  }

 private:
  size_t words_;
  size_t stride_;  // state, round, depth
  size_t entries_;
  LargeArray<uint32_t> data_;
  uint32_t round_ = 0;
};

}  // namespace hstar
