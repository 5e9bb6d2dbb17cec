// Open list of a best-first search: entries ordered by a pair of integers, ties first in first out, last in
// first out, or at random.
//
// Entries with equal keys share a bucket, a chain of 64-byte chunks from one pool; a heap holds the keys of
// the buckets in use, of which there are few. Pushing costs a look-up in a small hash table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "base/segmented.h"

namespace hstar {

enum class TieBreaking { kFifo, kLifo, kRandom };

template <class Entry>
class OpenList {
 public:
  OpenList(TieBreaking ties, uint64_t seed) : ties_(ties), random_(seed), index_(64, kNone) {}

  bool empty() const { return heap_.empty(); }
  size_t size() const { return size_; }

  // What `pop` would return, and its first key; of a list that is not empty.
  Entry front() const {
    const Bucket& bucket = buckets_[heap_.front()];
    return chunks_[bucket.head]
        .entries[ties_ == TieBreaking::kLifo ? bucket.head_used - 1 : bucket.head_used];
  }
  int64_t front_key() const { return buckets_[heap_.front()].key.first; }

  void push(int64_t first, int32_t second, const Entry& entry) {
    // A random third key makes ties random; it costs a bucket an entry.
    const uint32_t third = ties_ == TieBreaking::kRandom ? static_cast<uint32_t>(random_.next()) : 0;
    const uint32_t bucket = find_bucket({first, second, third});
    if (buckets_[bucket].head == kNone) {
      heap_.push_back(bucket);
      std::push_heap(heap_.begin(), heap_.end(), later());
    }
    append(buckets_[bucket], entry);
    ++size_;
  }

  // The list must not be empty.
  Entry pop() {
    Bucket& bucket = buckets_[heap_.front()];
    const Entry entry = ties_ == TieBreaking::kLifo ? take_last(bucket) : take_first(bucket);
    if (bucket.head == kNone) {
      std::pop_heap(heap_.begin(), heap_.end(), later());
      heap_.pop_back();
    }
    --size_;
    return entry;
  }

  size_t bytes() const {
    return chunks_.bytes() + buckets_.bytes() + (heap_.capacity() + index_.capacity()) * 4;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kPerChunk = (64 - 4) / sizeof(Entry);

  struct Key {
    int64_t first;
    int32_t second;
    uint32_t third;
    bool operator==(const Key&) const = default;
    auto operator<=>(const Key&) const = default;
  };
  struct Chunk {
    Entry entries[kPerChunk];
    uint32_t link;  // fifo: the next chunk; lifo: the one below
  };
  static_assert(sizeof(Chunk) <= 64);
  struct Bucket {
    Key key;
    uint32_t head = kNone;  // fifo: where entries leave; lifo: the top
    uint32_t tail = kNone;
    uint16_t head_used = 0;  // fifo: entries taken from the head chunk; lifo: entries in the top chunk
    uint16_t tail_used = 0;
  };

  auto later() {
    return [this](uint32_t a, uint32_t b) { return buckets_[a].key > buckets_[b].key; };
  }

  uint32_t find_bucket(const Key& key) {
    const size_t mask = index_.size() - 1;
    size_t slot = slot_of(key) & mask;
    for (; index_[slot] != kNone; slot = (slot + 1) & mask)
      if (buckets_[index_[slot]].key == key) return index_[slot];
    const auto bucket = static_cast<uint32_t>(buckets_.size());
    buckets_.push_back(Bucket{key});
    index_[slot] = bucket;
    if (buckets_.size() * 2 > index_.size()) rehash();
    return bucket;
  }
  static size_t slot_of(const Key& key) {
    return fold_multiply(
        static_cast<uint64_t>(key.first) ^ 0x8bb84b93962eacc9ULL,
        (static_cast<uint64_t>(static_cast<uint32_t>(key.second)) << 32 | key.third) ^ 0x9e3779b97f4a7c15ULL);
  }
  void rehash() {
    index_.assign(index_.size() * 2, kNone);
    const size_t mask = index_.size() - 1;
    for (uint32_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      size_t slot = slot_of(buckets_[bucket].key) & mask;
      while (index_[slot] != kNone) slot = (slot + 1) & mask;
      index_[slot] = bucket;
    }
  }

  uint32_t new_chunk() {
    if (free_ == kNone) return static_cast<uint32_t>(chunks_.grow());
    const uint32_t chunk = free_;
    free_ = chunks_[chunk].link;
    return chunk;
  }
  void release(uint32_t chunk) {
    chunks_[chunk].link = free_;
    free_ = chunk;
  }

  void append(Bucket& bucket, const Entry& entry) {
    if (ties_ == TieBreaking::kLifo) {
      if (bucket.head == kNone || bucket.head_used == kPerChunk) {
        const uint32_t chunk = new_chunk();
        chunks_[chunk].link = bucket.head;
        bucket.head = chunk;
        bucket.head_used = 0;
      }
      chunks_[bucket.head].entries[bucket.head_used++] = entry;
      return;
    }
    if (bucket.head == kNone) {
      bucket.head = bucket.tail = new_chunk();
      bucket.head_used = bucket.tail_used = 0;
    } else if (bucket.tail_used == kPerChunk) {
      const uint32_t chunk = new_chunk();
      chunks_[bucket.tail].link = chunk;
      bucket.tail = chunk;
      bucket.tail_used = 0;
    }
    chunks_[bucket.tail].entries[bucket.tail_used++] = entry;
  }
  Entry take_first(Bucket& bucket) {
    const Entry entry = chunks_[bucket.head].entries[bucket.head_used++];
    const uint32_t head = bucket.head;
    if (head == bucket.tail && bucket.head_used == bucket.tail_used) {
      bucket.head = kNone;
      release(head);
    } else if (bucket.head_used == kPerChunk) {
      bucket.head = chunks_[head].link;
      bucket.head_used = 0;
      release(head);
    }
    return entry;
  }
  Entry take_last(Bucket& bucket) {
    const Entry entry = chunks_[bucket.head].entries[--bucket.head_used];
    if (bucket.head_used == 0) {
      const uint32_t head = bucket.head;
      bucket.head = chunks_[head].link;
      bucket.head_used = kPerChunk;
      release(head);
    }
    return entry;
  }

  TieBreaking ties_;
  Random random_;
  std::vector<uint32_t> index_;  // hash table of bucket numbers
  Segmented<Bucket, 8> buckets_;
  std::vector<uint32_t> heap_;  // buckets with entries, smallest key on top
  Segmented<Chunk, 10> chunks_;
  uint32_t free_ = kNone;
  size_t size_ = 0;
};

// One list a heuristic, and one more for preferred successors; the list that was asked least is asked
// next, and progress makes up for a thousand askings of a preferred list (Richter and Helmert, ICAPS 2009).
template <class Entry>
class AlternationOpenList {
 public:
  AlternationOpenList(size_t heuristics, bool preferred, int32_t boost, TieBreaking ties, uint64_t seed)
      : preferred_(preferred), boost_(boost) {
    const size_t n = heuristics * (preferred ? 2 : 1);
    for (size_t i = 0; i < n; ++i) lists_.emplace_back(ties, seed + i);
    asked_.assign(n, 0);
  }

  bool empty() const {
    return std::ranges::all_of(lists_, [](const auto& list) { return list.empty(); });
  }
  void push(size_t heuristic, int64_t first, int32_t second, bool is_preferred, const Entry& entry) {
    const size_t list = preferred_ ? heuristic * 2 : heuristic;
    lists_[list].push(first, second, entry);
    if (preferred_ && is_preferred) lists_[list + 1].push(first, second, entry);
  }
  Entry pop() {
    size_t best = lists_.size();
    for (size_t i = 0; i < lists_.size(); ++i)
      if (!lists_[i].empty() && (best == lists_.size() || asked_[i] < asked_[best])) best = i;
    ++asked_[best];
    return lists_[best].pop();
  }
  // Of the first list, which must not be empty.
  int64_t front_key() const { return lists_[0].front_key(); }
  void reward_progress() {
    if (!preferred_) return;
    for (size_t i = 1; i < lists_.size(); i += 2) asked_[i] -= boost_;
  }
  size_t bytes() const {
    size_t total = 0;
    for (const auto& list : lists_) total += list.bytes();
    return total;
  }

 private:
  bool preferred_;
  int32_t boost_;
  std::vector<OpenList<Entry>> lists_;
  std::vector<int64_t> asked_;
};

}  // namespace hstar
