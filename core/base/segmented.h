// A growing array in fixed-size segments. Unlike std::vector it never copies what it holds, so a table
// of a hundred million nodes has no doubling spike and never needs twice its memory.
#pragma once

#include <memory>
#include <vector>

namespace hstar {

template <class T, size_t SegmentBits = 14>
class Segmented {
 public:
  static constexpr size_t kSegment = size_t{1} << SegmentBits;

  T& operator[](size_t i) { return segments_[i >> SegmentBits][i & (kSegment - 1)]; }
  const T& operator[](size_t i) const { return segments_[i >> SegmentBits][i & (kSegment - 1)]; }

  // Appends a value-less slot (left uninitialised for trivial T) and returns its index.
  size_t grow() {
    if (size_ == segments_.size() << SegmentBits)
      segments_.push_back(std::make_unique_for_overwrite<T[]>(kSegment));
    return size_++;
  }
  void push_back(const T& value) {
    const size_t i = grow();
    (*this)[i] = value;
  }

  size_t size() const { return size_; }
  size_t bytes() const { return segments_.size() * kSegment * sizeof(T); }

 private:
  std::vector<std::unique_ptr<T[]>> segments_;
  size_t size_ = 0;
};

}  // namespace hstar
