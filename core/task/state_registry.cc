#include "task/state_registry.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace hstar {
namespace {

constexpr uint64_t kLow = 0x0101010101010101ULL;
constexpr uint64_t kHigh = 0x8080808080808080ULL;

uint64_t load_group(const uint8_t* tags) {
  uint64_t group;
  std::memcpy(&group, tags, sizeof(group));
  return group;
}

// One bit (the top one of its byte) for each tag that equals `tag`. A byte above a match may be reported
// too, which costs a comparison and never a wrong answer.
uint64_t matches(uint64_t group, uint8_t tag) {
  const uint64_t x = group ^ (kLow * tag);
  return (x - kLow) & ~x & kHigh;
}
uint64_t empties(uint64_t group) { return group & kHigh; }
size_t first(uint64_t bits) { return static_cast<size_t>(std::countr_zero(bits)) / 8; }

// About 64 KiB a segment.
int segment_bits_for(size_t words) { return std::max(4, 14 - static_cast<int>(std::bit_width(words - 1))); }

}  // namespace

static_assert(std::endian::native == std::endian::little, "groups of tags are read as integers");

StateRegistry::StateRegistry(size_t words)
    : words_(words),
      segment_bits_(segment_bits_for(words)),
      segment_mask_((StateId{1} << segment_bits_) - 1) {
  grow();
}

std::pair<StateId, bool> StateRegistry::insert(const uint32_t* packed, uint64_t hash) {
  const uint8_t tag = tag_of(hash);
  for (uint64_t group = hash & group_mask_;; group = (group + 1) & group_mask_) {
    const uint64_t tags = load_group(&tags_[group * kGroup]);
    for (uint64_t bits = matches(tags, tag); bits; bits &= bits - 1) {
      const StateId id = ids_[group * kGroup + first(bits)];
      if (std::memcmp((*this)[id], packed, words_ * sizeof(uint32_t)) == 0) return {id, false};
    }
    if (empties(tags)) break;
  }
  if (size_ >= grow_at_) grow();
  const StateId id = store(packed);
  place(id, hash);
  return {id, true};
}

void StateRegistry::place(StateId id, uint64_t hash) {
  for (uint64_t group = hash & group_mask_;; group = (group + 1) & group_mask_) {
    const uint64_t free = empties(load_group(&tags_[group * kGroup]));
    if (!free) continue;
    const size_t slot = group * kGroup + first(free);
    tags_[slot] = tag_of(hash);
    ids_[slot] = id;
    return;
  }
}

StateId StateRegistry::store(const uint32_t* packed) {
  if (size_ >= kNoState) throw std::bad_alloc();
  const auto id = static_cast<StateId>(size_);
  if ((id & segment_mask_) == 0)
    segments_.push_back(std::make_unique_for_overwrite<uint32_t[]>(words_ << segment_bits_));
  ++size_;
  std::memcpy(segments_.back().get() + (id & segment_mask_) * words_, packed, words_ * sizeof(uint32_t));
  return id;
}

void StateRegistry::grow() {
  const size_t slots = tags_.empty() ? 1024 : tags_.size() * 2;
  // The old index goes before the new one comes: it can be rebuilt from the states.
  std::vector<uint8_t>().swap(tags_);
  std::vector<StateId>().swap(ids_);
  tags_.assign(slots, kEmpty);
  ids_.resize(slots);
  group_mask_ = slots / kGroup - 1;
  grow_at_ = slots / 8 * 7;
  for (size_t id = 0; id < size_; ++id)
    place(static_cast<StateId>(id), hash((*this)[static_cast<StateId>(id)]));
}

size_t StateRegistry::bytes() const {
  return segments_.size() * (words_ << segment_bits_) * sizeof(uint32_t) + tags_.size() * 5;
}

}  // namespace hstar
