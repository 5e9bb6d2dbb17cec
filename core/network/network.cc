#include "network/network.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace hstar {

Network::Network(std::span<const float> rows, std::span<const float> bias, std::vector<Block> blocks,
                 Dense head, bool output_relu)
    : atoms_(bias.empty() ? 0 : rows.size() / bias.size()),
      stride_(padded(bias.size())),
      blocks_(std::move(blocks)),
      head_(std::move(head)),
      output_relu_(output_relu) {
  if (bias.empty() || atoms_ * bias.size() != rows.size())
    throw InputError("the network's first layer has weights and bias that do not fit together");
  size_t width = bias.size();
  for (const Block& block : blocks_) {
    const bool fits = block.first.inputs() == width &&
                      (!block.second ||
                       (block.second->inputs() == block.first.outputs() && block.second->outputs() == width));
    if (!fits) throw InputError("the network has layers whose widths do not fit together");
    if (!block.second) width = block.first.outputs();
  }
  if (head_.inputs() != width) throw InputError("the network's head does not fit its last layer");
  bias_.assign(stride_, 0);
  std::ranges::copy(bias, bias_.begin());
  rows_.assign(atoms_ * stride_, 0);
  for (size_t atom = 0; atom < atoms_; ++atom)
    std::copy_n(&rows[atom * bias.size()], bias.size(), &rows_[atom * stride_]);
}

void Network::clear(float* accumulator) const { std::ranges::copy(bias_, accumulator); }

void Network::add(float* accumulator, int32_t atom) const {
  const float* row = &rows_[static_cast<size_t>(atom) * stride_];
  for (size_t i = 0; i < stride_; ++i) accumulator[i] += row[i];
}

void Network::subtract(float* accumulator, int32_t atom) const {
  const float* row = &rows_[static_cast<size_t>(atom) * stride_];
  for (size_t i = 0; i < stride_; ++i) accumulator[i] -= row[i];
}

template <class Apply>
void Network::forward(float* x, size_t n, float* out, const Apply& apply) {
  size_t widest = stride_;
  for (const Block& block : blocks_) widest = std::max(widest, padded(block.first.outputs()));
  hidden_.resize(n * widest);
  next_.resize(n * widest);
  for (size_t i = 0; i < n * stride_; ++i) x[i] = std::max(x[i], 0.0f);
  const float* current = x;
  // Plain blocks write to the buffer that does not hold their input; residual ones use the other as well.
  std::vector<float>* spare = &next_;
  for (const Block& block : blocks_) {
    std::vector<float>* target = spare;
    if (block.second) {
      std::vector<float> inner(n * padded(block.first.outputs()));
      apply(block.first, current, inner.data(), true, nullptr);
      apply(*block.second, inner.data(), target->data(), true, current);
    } else {
      apply(block.first, current, target->data(), true, nullptr);
    }
    current = target->data();
    spare = target == &next_ ? &hidden_ : &next_;
  }
  std::vector<float>& last = *spare;
  last.resize(std::max(last.size(), n * padded(head_.outputs())));
  apply(head_, current, last.data(), output_relu_, nullptr);
  for (size_t row = 0; row < n; ++row)
    std::copy_n(&last[row * padded(head_.outputs())], head_.outputs(), out + row * head_.outputs());
}

void Network::run(float* accumulators, size_t n, float* out) {
  forward(accumulators, n, out,
          [n](const Dense& dense, const float* x, float* y, bool relu, const float* skip) {
            dense.apply(x, n, y, relu, skip);
          });
}

void Network::reference(float* accumulators, size_t n, float* out) {
  forward(accumulators, n, out,
          [n](const Dense& dense, const float* x, float* y, bool relu, const float* skip) {
            dense.reference(x, n, y, relu, skip);
          });
}

}  // namespace hstar
