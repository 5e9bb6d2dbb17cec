// A table of states seen in one depth-first search, of fixed size: a state that comes where another one lies
// takes its place. It forgets, so it may fail to see a duplicate; since it keeps whole states, it never takes
// one state for another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace hstar {

class TranspositionTable {
 public:
  // As many entries as fit into `bytes`, a power of two, at least one.
  TranspositionTable(size_t words, size_t bytes) : words_(words), stride_(words + 2) {
    const size_t entries = std::bit_floor(std::max<size_t>(bytes / (stride_ * sizeof(uint32_t)), 1));
    mask_ = entries - 1;
    data_.resize(entries * stride_);
  }

  // Forgets all states, without touching them.
  void clear() { ++round_; }

  // Whether the state was seen at depth g or less since `clear`; if not, it is so from now on.
  bool seen(const uint32_t* state, uint32_t g) {
    uint32_t* entry = &data_[(hash_words(state, words_) & mask_) * stride_];
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
  size_t mask_ = 0;
  std::vector<uint32_t> data_;
  uint32_t round_ = 0;
};

}  // namespace hstar
