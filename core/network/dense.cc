#include "network/dense.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"

namespace hstar {
namespace {

// Eight floats; the compiler maps it to what the machine has.
using Vec = float __attribute__((vector_size(32)));
constexpr size_t kLanes = 8;
constexpr size_t kTile = 6;  // states in registers: 6 x 2 accumulators, 2 weights, 1 input of 16 registers

Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
void store(float* p, Vec v) { std::memcpy(p, &v, sizeof(v)); }
Vec broadcast(float f) { return Vec{f, f, f, f, f, f, f, f}; }
Vec relu_of(Vec v) { return v > 0 ? v : Vec{}; }

template <size_t kRows>
void tile(const float* x, size_t x_stride, size_t inputs, const float* panel, const float* bias, float* y,
          size_t y_stride, bool relu, const float* skip) {
  Vec sum[kRows][2];
  for (size_t r = 0; r < kRows; ++r) {
    sum[r][0] = load(bias);
    sum[r][1] = load(bias + kLanes);
  }
  for (size_t k = 0; k < inputs; ++k) {
    const Vec w0 = load(panel + k * kPanel);
    const Vec w1 = load(panel + k * kPanel + kLanes);
#pragma GCC unroll 6
    for (size_t r = 0; r < kRows; ++r) {
      const Vec in = broadcast(x[r * x_stride + k]);
      sum[r][0] += in * w0;
      sum[r][1] += in * w1;
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t half = 0; half < 2; ++half) {
      Vec out = sum[r][half];
      if (skip) out += load(skip + r * y_stride + half * kLanes);
      store(y + r * y_stride + half * kLanes, relu ? relu_of(out) : out);
    }
  }
}

}  // namespace

Dense::Dense(std::span<const float> weights, std::span<const float> bias)
    : inputs_(bias.empty() ? 0 : weights.size() / bias.size()), outputs_(bias.size()) {
  if (outputs_ == 0 || inputs_ == 0 || inputs_ * outputs_ != weights.size())
    throw InputError("a layer's weights and bias do not fit together");
  bias_.assign(padded(outputs_), 0);
  std::ranges::copy(bias, bias_.begin());
  panels_.assign(padded(outputs_) * inputs_, 0);
  for (size_t o = 0; o < outputs_; ++o)
    for (size_t k = 0; k < inputs_; ++k)
      panels_[(o / kPanel * inputs_ + k) * kPanel + o % kPanel] = weights[o * inputs_ + k];
}

void Dense::apply(const float* x, size_t n, float* y, bool relu, const float* skip) const {
  const size_t x_stride = padded(inputs_), y_stride = padded(outputs_);
  const auto rows = [&]<size_t kRows>(size_t row) {
    for (size_t panel = 0; panel * kPanel < y_stride; ++panel)
      tile<kRows>(x + row * x_stride, x_stride, inputs_, &panels_[panel * inputs_ * kPanel],
                  &bias_[panel * kPanel], y + row * y_stride + panel * kPanel, y_stride, relu,
                  skip ? skip + row * y_stride + panel * kPanel : nullptr);
  };
  size_t row = 0;
  for (; row + kTile <= n; row += kTile) rows.operator()<kTile>(row);
  switch (n - row) {
    case 5:
      return rows.operator()<5>(row);
    case 4:
      return rows.operator()<4>(row);
    case 3:
      return rows.operator()<3>(row);
    case 2:
      return rows.operator()<2>(row);
    case 1:
      return rows.operator()<1>(row);
    default:
      return;
  }
}

void Dense::reference(const float* x, size_t n, float* y, bool relu, const float* skip) const {
  const size_t x_stride = padded(inputs_), y_stride = padded(outputs_);
  for (size_t row = 0; row < n; ++row) {
    for (size_t o = 0; o < y_stride; ++o) {
      float sum = bias_[o];
      for (size_t k = 0; k < inputs_; ++k)
        sum += x[row * x_stride + k] * panels_[(o / kPanel * inputs_ + k) * kPanel + o % kPanel];
      if (skip) sum += skip[row * y_stride + o];
      y[row * y_stride + o] = relu ? std::max(sum, 0.0f) : sum;
    }
  }
}

}  // namespace hstar
