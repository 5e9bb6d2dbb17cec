// Every state a search has seen, once each: packed states in contiguous segments, numbered from 0, and an
// open-addressing index over them.
//
// The index keeps a one-byte tag (seven bits of the hash) and a four-byte number a slot, eight slots a
// group; a look-up compares eight tags at once and touches a stored state only on a tag match. States
// are re-hashed from storage when the index grows, so no hash is stored.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "base/segmented.h"

namespace hstar {

using StateId = uint32_t;
constexpr StateId kNoState = ~StateId{0};

class StateRegistry {
 public:
  explicit StateRegistry(size_t words);

  size_t size() const { return size_; }
  size_t words() const { return words_; }
  const uint32_t* operator[](StateId id) const {
    return segments_[id >> segment_bits_].get() + (id & segment_mask_) * words_;
  }

  uint64_t hash(const uint32_t* packed) const { return hash_words(packed, words_); }
  void prefetch(uint64_t hash) const {
    const size_t slot = (hash & group_mask_) * kGroup;
    __builtin_prefetch(&tags_[slot]);
    __builtin_prefetch(&ids_[slot]);
  }

  // The number of the state and whether it is new.
  std::pair<StateId, bool> insert(const uint32_t* packed, uint64_t hash);

  size_t bytes() const;
  // What the next growth of the index will allocate, if the next insertion would trigger it; else 0.
  size_t bytes_if_full() const { return size_ < grow_at_ ? 0 : tags_.size() * 2 * 5; }

 private:
  static constexpr size_t kGroup = 8;
  static constexpr uint8_t kEmpty = 0x80;  // a tag has its top bit clear

  static uint8_t tag_of(uint64_t hash) { return static_cast<uint8_t>(hash >> 57); }
  void grow();
  void place(StateId id, uint64_t hash);
  StateId store(const uint32_t* packed);

  size_t words_;
  int segment_bits_;
  StateId segment_mask_;
  std::vector<std::unique_ptr<uint32_t[]>> segments_;
  size_t size_ = 0;
  size_t grow_at_ = 0;
  uint64_t group_mask_ = 0;
  std::vector<uint8_t> tags_;
  std::vector<StateId> ids_;
};

}  // namespace hstar
