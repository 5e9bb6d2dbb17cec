// Rows of varying length in one array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hstar {

template <class T>
class RowsOfType {
 public:
  RowsOfType() = default;
  explicit RowsOfType(const std::vector<std::vector<T>>& lists) {
    for (const std::vector<T>& list : lists) push_row(list);
  }
  void push_row(std::span<const T> row) {
    items_.insert(items_.end(), row.begin(), row.end());
    begin_.push_back(static_cast<uint32_t>(items_.size()));
  }
  std::span<const T> operator[](size_t row) const {
    return {items_.data() + begin_[row], items_.data() + begin_[row + 1]};
  }
  size_t size() const { return begin_.size() - 1; }

 private:
  std::vector<uint32_t> begin_{0};
  std::vector<T> items_;
};
using Rows = RowsOfType<int32_t>;

}  // namespace hstar
