// An array that begins with zeros and is read all over the place: on large pages where the system has them,
// and without touching what is not used.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace hstar {

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

}  // namespace hstar
