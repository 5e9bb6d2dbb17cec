#include "heuristics/heuristic.h"

#include "base/errors.h"

namespace hstar {

void StateBatch::unpack() {
  const size_t width = space_.variables();
  if (values_.size() < size_ * width) values_.resize(size_ * width * 2);
  for (; unpacked_ < size_; ++unpacked_)
    space_.packer().unpack(packed(unpacked_), values_.data() + unpacked_ * width);
}

Cost Heuristic::evaluate_preferred(StateBatch&, size_t, std::vector<int32_t>&) {
  throw UnsupportedError("heuristic '" + name() + "' has no preferred operators; use ff");
}

void SymbolicHeuristic::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  for (size_t i = begin; i < end; ++i) h[i] = value(batch.values(i));
}

}  // namespace hstar
