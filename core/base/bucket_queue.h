// Open list for costs that are large integers: a ring of buckets, each as wide as a small part of a step, and
// a front that holds what is due now.
//
// Only the front is in order. It is a heap by f and then by the tie; where all its entries have the same f,
// as with 4 neighbours and equal costs, it is a stack, which is faster. What is pushed below the front goes
// into it, so f need not be monotone. What is beyond the ring waits in a list. So pushing is an append, and
// popping a step in a heap of few entries.
//
// Measured on maps of 1500 x 1500 cells against one heap of all entries: 1.4 to 3 times as many expansions a
// second with 4 neighbours, 0.8 to 2.6 times with 8.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace hstar {

class BucketQueue {
 public:
  // `step` is what a step costs at least: the width of buckets is a power of two below. Unless `ordered`, one
  // just below: Dijkstra's algorithm may take entries of such a bucket in any order (Denardo and Fox, 1979).
  explicit BucketQueue(int64_t step, bool ordered = true)
      : ordered_(ordered),
        shift_(std::max(
            0, static_cast<int>(std::bit_width(static_cast<uint64_t>(step))) - (ordered ? kBitsPerStep : 1))),
        ring_(kBuckets) {}

  bool empty() const { return size_ == 0; }

  // f must not be negative. Of equal f the smaller tie comes first, but in a stack the last one.
  void push(int64_t f, uint32_t tie, uint32_t id) {
    ++size_;
    const int64_t bucket = f >> shift_;
    const Entry entry{f, tie, id};
    if (bucket <= current_)
      push_front(entry);
    else if (bucket - current_ < kBuckets)
      append(bucket, entry);
    else
      push_far(bucket, entry);
  }

  // The queue must not be empty.
  uint32_t pop() {
    --size_;
    if (front_.empty()) advance();
    if (!is_stack_) std::pop_heap(front_.begin(), front_.end(), later);
    const uint32_t id = front_.back().id;
    front_.pop_back();
    return id;
  }

 private:
  struct Entry {
    int64_t f;
    uint32_t tie;
    uint32_t id;
  };
  static_assert(sizeof(Entry) == 16);
  static constexpr int64_t kBuckets = 4096;
  static constexpr int kBitsPerStep = 6;
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  static bool later(const Entry& a, const Entry& b) { return a.f != b.f ? a.f > b.f : a.tie > b.tie; }
  static size_t slot(int64_t bucket) { return static_cast<size_t>(bucket & (kBuckets - 1)); }

  void push_front(const Entry& entry) {
    if (is_stack_ && !front_.empty() && front_.back().f != entry.f) {
      std::make_heap(front_.begin(), front_.end(), later);
      is_stack_ = false;
    } else if (front_.empty()) {
      is_stack_ = true;
    }
    front_.push_back(entry);
    if (!is_stack_) std::push_heap(front_.begin(), front_.end(), later);
  }
  void append(int64_t bucket, const Entry& entry) {
    ring_[slot(bucket)].push_back(entry);
    used_[slot(bucket) / 64] |= uint64_t{1} << (slot(bucket) % 64);
  }
  void push_far(int64_t bucket, const Entry& entry) {
    far_.push_back(entry);
    far_least_ = std::min(far_least_, bucket);
  }

  // Makes the next bucket the front.
  void advance() {
    int64_t next = next_bucket();
    if (far_least_ <= next && !far_.empty()) {
      current_ = far_least_ - 1;
      recall();
      next = next_bucket();
    }
    current_ = next;
    front_.swap(ring_[slot(next)]);
    used_[slot(next) / 64] &= ~(uint64_t{1} << (slot(next) % 64));
    const int64_t f = front_[0].f;
    is_stack_ = !ordered_ ||
                std::all_of(front_.begin(), front_.end(), [f](const Entry& entry) { return entry.f == f; });
    if (!is_stack_) std::make_heap(front_.begin(), front_.end(), later);
  }

  // Of the ring, after the current one; kNone without any.
  int64_t next_bucket() const {
    const size_t first = slot(current_ + 1);
    uint64_t word = used_[first / 64] & (~uint64_t{0} << (first % 64));
    for (size_t i = 0; i <= used_.size(); ++i) {
      if (word != 0) {
        const size_t found =
            (first / 64 + i) % used_.size() * 64 + static_cast<size_t>(std::countr_zero(word));
        return current_ + 1 + static_cast<int64_t>((found - first) & (kBuckets - 1));
      }
      word = used_[(first / 64 + i + 1) % used_.size()];
    }
    return kNone;
  }

  // What has come within the ring leaves the list of far entries.
  void recall() {
    far_least_ = kNone;
    size_t kept = 0;
    for (const Entry& entry : far_) {
      const int64_t bucket = entry.f >> shift_;
      if (bucket - current_ < kBuckets) {
        append(bucket, entry);
      } else {
        far_[kept++] = entry;
        far_least_ = std::min(far_least_, bucket);
      }
    }
    far_.resize(kept);
  }

  bool ordered_;
  int shift_;
  size_t size_ = 0;
  int64_t current_ = -1;  // all entries up to this bucket are in the front
  bool is_stack_ = true;
  std::vector<Entry> front_;
  std::vector<std::vector<Entry>> ring_;
  std::array<uint64_t, kBuckets / 64> used_{};  // bits of buckets that are not empty
  std::vector<Entry> far_;
  int64_t far_least_ = kNone;  // bucket
};

}  // namespace hstar
