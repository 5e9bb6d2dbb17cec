#include "task/operators.h"

#include <algorithm>

namespace hstar {
namespace {

constexpr size_t kBlock = size_t{1} << 17;  // cells: 1 MB

}  // namespace

Operators::Operators(const Operators& other) : words_(other.words_), numbers_(other.numbers_) {
  cells_.reserve(other.size());
  for (const Operator& op : other) {
    const size_t words = static_cast<size_t>(op.cells_[0].value);
    size_t cells = 2 + (words + 1) / 2 + op.preconditions.size();
    for (const Effect& effect : op.effects)
      cells += op.effects.may_have_conditions() ? 2 + effect.conditions.size() : 1;
    cells_.push_back(room(cells));
    std::copy_n(op.cells_, cells, cells_.back());
  }
}

std::string Operators::name(const Operator& op) const {
  std::string text;
  for (int32_t i = 0; i < op.cells_[0].value; ++i) {
    const Fact& two = op.cells_[2 + i / 2];
    if (i > 0) text += ' ';
    text += words_[i % 2 == 0 ? two.variable : two.value];
  }
  return text;
}

int32_t Operators::word(std::string_view text) {
  if (const auto at = numbers_.find(text); at != numbers_.end()) return at->second;
  const auto number = static_cast<int32_t>(words_.size());
  words_.emplace_back(text);
  numbers_.emplace(text, number);
  return number;
}

std::vector<int32_t> Operators::words_of(std::string_view name) {
  std::vector<int32_t> words;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find(' ', begin), name.size());
    words.push_back(word(name.substr(begin, end - begin)));
    begin = end + 1;
  }
  return words;
}

Fact* Operators::room(size_t cells) {
  if (cells > left_) {
    left_ = std::max(cells, kBlock);
    blocks_.push_back(std::make_unique_for_overwrite<Fact[]>(left_));
    free_ = blocks_.back().get();
  }
  left_ -= cells;
  return std::exchange(free_, free_ + cells);
}

}  // namespace hstar
