// A table of states seen in one depth-first search, of fixed size: a state that comes where another one lies
// takes its place. It forgets, so it may fail to see a duplicate; since it keeps whole states, it never takes
// one state for another.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "base/hash.h"
#include "spaces/tiles.h"

namespace hstar {

// Only states whose f is so far below the bound are looked up. The trees below others are small, and they are
// most of all states: of tiles, looking them up takes several times as long and saves little. Of blocks and
// pancakes it saves much.
template <class Space>
inline constexpr int32_t kLeastSlack = 0;
template <>
inline constexpr int32_t kLeastSlack<Tiles> = 2;

// An array that begins with zeros and is read all over the place: on large pages where the system has them,
// and without touching what is not used.
template <class T>
class LargeArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  // Throws std::bad_alloc if there is no room.
  explicit LargeArray(size_t size) : bytes_(size * sizeof(T)) {
    if (size > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_alloc();
    if (bytes_ == 0) return;
    void* const found = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    madvise(found, bytes_, MADV_HUGEPAGE);  // where it is refused, small pages do
    data_ = static_cast<T*>(found);
  }
  LargeArray(LargeArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  LargeArray& operator=(LargeArray&&) = delete;
  ~LargeArray() {
    if (data_) munmap(data_, bytes_);
  }

  T& operator[](size_t i) { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t bytes_ = 0;
};

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
