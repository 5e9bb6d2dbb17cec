#include "heuristics/heuristic.h"

#include "base/errors.h"

namespace hstar {

void StateBatch::unpack() {
  if (values_.size() < size_ * width_) values_.resize(size_ * width_ * 2);
  for (; unpacked_ < size_; ++unpacked_)
    space_.unpack(packed(unpacked_), values_.data() + unpacked_ * width_);
}

const Value* StateBatch::parent() {
  if (!has_parent_) return nullptr;
  if (!parent_unpacked_) {
    parent_values_.resize(width_);
    space_.unpack(parent_.data(), parent_values_.data());
    parent_unpacked_ = true;
  }
  return parent_values_.data();
}

Cost Heuristic::evaluate_preferred(StateBatch&, size_t, std::vector<int32_t>&) {
  throw UnsupportedError("heuristic '" + name() + "' has no preferred operators; use ff");
}

void SymbolicHeuristic::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  for (size_t i = begin; i < end; ++i) h[i] = value(batch.values(i));
}

}  // namespace hstar
