#include "network/network.h"

#include <algorithm>
#include <type_traits>

#include "base/errors.h"

namespace hstar {
namespace {

size_t inputs(const Network::Layer& layer) {
  return std::visit([](const auto& dense) { return dense.inputs(); }, layer);
}
size_t outputs(const Network::Layer& layer) {
  return std::visit([](const auto& dense) { return dense.outputs(); }, layer);
}

}  // namespace

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
    const size_t inner = hstar::outputs(block.first);
    const bool fits =
        inputs(block.first) == width &&
        (!block.second || (inputs(*block.second) == inner && hstar::outputs(*block.second) == width));
    if (!fits) throw InputError("the network has layers whose widths do not fit together");
    if (!block.second) width = inner;
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
void Network::forward(float* x, size_t n, float* out, Scratch& scratch, const Apply& apply) const {
  const auto room = [n](std::vector<float>& buffer, size_t width) {
    buffer.resize(std::max(buffer.size(), n * padded(width)));
    return buffer.data();
  };
  const auto layer = [&](const Layer& layer, const float* in, std::vector<float>& buffer, const float* skip) {
    float* target = room(buffer, hstar::outputs(layer));
    std::visit([&](const auto& dense) { apply(dense, in, target, true, skip); }, layer);
    return target;
  };
  for (size_t i = 0; i < n * stride_; ++i) x[i] = std::max(x[i], 0.0f);
  const float* current = x;
  int turn = 0;
  for (const Block& block : blocks_) {
    std::vector<float>& target = scratch.layer[turn];
    if (block.second)
      current = layer(*block.second, layer(block.first, current, scratch.inner, nullptr), target, current);
    else
      current = layer(block.first, current, target, nullptr);
    turn ^= 1;
  }
  const size_t width = head_.outputs();
  float* last = room(scratch.layer[turn], width);
  apply(head_, current, last, output_relu_, nullptr);
  for (size_t row = 0; row < n; ++row) std::copy_n(last + row * padded(width), width, out + row * width);
}

void Network::run(float* accumulators, size_t n, float* out, Scratch& scratch) const {
  forward(accumulators, n, out, scratch,
          [&]<class Dense>(const Dense& dense, const float* x, float* y, bool relu, const float* skip) {
            if constexpr (std::is_same_v<Dense, DenseInt16>)
              dense.apply(x, n, y, relu, skip, scratch.rows);
            else
              dense.apply(x, n, y, relu, skip);
          });
}

void Network::reference(float* accumulators, size_t n, float* out, Scratch& scratch) const {
  forward(accumulators, n, out, scratch,
          [n](const auto& dense, const float* x, float* y, bool relu, const float* skip) {
            dense.reference(x, n, y, relu, skip);
          });
}

}  // namespace hstar
