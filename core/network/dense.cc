#include "network/dense.h"

#include <algorithm>

#include "base/errors.h"
#include "network/vectors.h"

namespace hstar {
namespace {

constexpr size_t kTile = 6;  // states in registers: 6 x 2 sums, 2 weights, 1 input of 16 registers
constexpr size_t kFew = 3;   // 3 x 4 sums

}  // namespace

Dense::Dense(std::span<const float> weights, std::span<const float> bias)
    : inputs_(bias.empty() ? 0 : weights.size() / bias.size()), outputs_(bias.size()) {
  if (outputs_ == 0 || inputs_ == 0 || inputs_ * outputs_ != weights.size())
    throw InputError("a layer's weights and bias do not fit together");
  bias_.assign(padded(outputs_), 0);
  std::ranges::copy(bias, bias_.begin());
  lines_.assign(padded(outputs_) / kPanel * inputs_, {});
  for (size_t o = 0; o < outputs_; ++o)
    for (size_t k = 0; k < inputs_; ++k)
      lines_[o / kPanel * inputs_ + k].weight[o % kPanel] = weights[o * inputs_ + k];
}

void Dense::apply(const float* x, size_t n, float* y, bool relu, const float* skip) const {
  const size_t x_stride = padded(inputs_), y_stride = padded(outputs_);
  const auto tile = [=, this]<size_t kRows, size_t kPanels>(size_t row, size_t panel) {
    constexpr size_t kVectors = kPanels * kPanel / kLanes;
    Floats sum[kRows][kVectors];
    for (size_t r = 0; r < kRows; ++r)
      for (size_t v = 0; v < kVectors; ++v) sum[r][v] = load<Floats>(&bias_[panel * kPanel + v * kLanes]);
    const float* in = x + row * x_stride;
    const Line* lines = &lines_[panel * inputs_];
    const size_t inputs = inputs_;
    for (size_t k = 0; k < inputs; ++k) {
      Floats w[kVectors];
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        w[v] = load<Floats>(lines[v / 2 * inputs + k].weight + v % 2 * kLanes);
#pragma GCC unroll 6
      for (size_t r = 0; r < kRows; ++r) {
        const float value = in[r * x_stride + k];
#pragma GCC unroll 4
        for (size_t v = 0; v < kVectors; ++v) sum[r][v] += value * w[v];
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < kVectors; ++v) {
        const size_t at = (row + r) * y_stride + panel * kPanel + v * kLanes;
        Floats out = sum[r][v];
        if (skip) out += load<Floats>(skip + at);
        store(y + at, relu ? relu_of(out) : out);
      }
    }
  };
  for_tiles<kTile, kFew>(n, padded(outputs_) / kPanel, tile);
}

void Dense::reference(const float* x, size_t n, float* y, bool relu, const float* skip) const {
  const size_t x_stride = padded(inputs_), y_stride = padded(outputs_);
  for (size_t row = 0; row < n; ++row) {
    for (size_t o = 0; o < y_stride; ++o) {
      float sum = bias_[o];
      for (size_t k = 0; k < inputs_; ++k)
        sum += x[row * x_stride + k] * lines_[o / kPanel * inputs_ + k].weight[o % kPanel];
      if (skip) sum += skip[row * y_stride + o];
      y[row * y_stride + o] = relu ? std::max(sum, 0.0f) : sum;
    }
  }
}

}  // namespace hstar
