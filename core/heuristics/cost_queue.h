// Priority queue for small integer costs: a stack per cost and a bitmap of the stacks in use; costs from
// kBuckets on go into a heap. Last in, first out within a cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

class CostQueue {
 public:
  CostQueue() : head_(kBuckets, -1), used_(kBuckets / 64, 0) {}

  void clear() {
    for (Cost word = first_word_; word <= last_word_; ++word) {
      for (uint64_t bits = used_[word]; bits; bits &= bits - 1)
        head_[word * 64 + std::countr_zero(bits)] = -1;
      used_[word] = 0;
    }
    first_word_ = kBuckets / 64;
    last_word_ = -1;
    used_entries_ = 0;
    heap_.clear();
  }

  void push(Cost cost, int32_t item) {
    if (cost < kBuckets) [[likely]] {
      if (used_entries_ == pool_.size()) [[unlikely]]
        grow();
      pool_[used_entries_] = {item, head_[cost]};
      head_[cost] = static_cast<int32_t>(used_entries_++);
      const Cost word = cost / 64;
      used_[word] |= uint64_t{1} << (cost % 64);
      first_word_ = std::min(first_word_, word);
      last_word_ = std::max(last_word_, word);
    } else {
      heap_.push_back({cost, item});
      std::push_heap(heap_.begin(), heap_.end(), std::greater{});
    }
  }

  // False if the queue is empty.
  bool pop(Cost& cost, int32_t& item) {
    for (; first_word_ <= last_word_; ++first_word_) {
      if (!used_[first_word_]) continue;
      cost = first_word_ * 64 + std::countr_zero(used_[first_word_]);
      const Entry entry = pool_[head_[cost]];
      item = entry.item;
      head_[cost] = entry.next;
      if (entry.next == -1) used_[first_word_] &= used_[first_word_] - 1;
      return true;
    }
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater{});
    cost = heap_.back().first;
    item = heap_.back().second;
    heap_.pop_back();
    return true;
  }

 private:
  // Out of line, so that callers keep their registers across push().
  [[gnu::noinline]] void grow() { pool_.resize(pool_.size() * 2 + 1024); }

  static constexpr Cost kBuckets = 1 << 14;
  struct Entry {
    int32_t item;
    int32_t next;
  };
  std::vector<int32_t> head_;
  std::vector<uint64_t> used_;
  std::vector<Entry> pool_;
  size_t used_entries_ = 0;
  std::vector<std::pair<Cost, int32_t>> heap_;
  Cost first_word_ = kBuckets / 64;
  Cost last_word_ = -1;
};

}  // namespace hstar
