#include "network/dense_int16.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/errors.h"
#include "network/vectors.h"

namespace hstar {
namespace {

using HalfInts = int16_t __attribute__((vector_size(16)));

constexpr size_t kTile = 6;   // states in registers: 6 x 2 sums, 2 weights, 1 pair of inputs, 1 product
constexpr size_t kFew = 2;    // 2 x 4 sums; a third state was no faster this way
constexpr float kTop = 8191;  // the greatest input
constexpr float kMaxWeight = 32767;
constexpr float kLeast = 1e-30f;  // so that a row of zeros has a scale, too

// The lanes are pairs of integers of 16 bits: the sum of the two products. Neither the product nor the sum
// overflows for inputs and weights of a layer.
Ints pair_product(Ints a, Ints b) {
#ifdef __AVX2__
  return reinterpret_cast<Ints>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  const auto low = [](Ints v) { return (v << 16) >> 16; };
  return low(a) * low(b) + (a >> 16) * (b >> 16);
#endif
}

// How the floats of a row become integers. First the sum, then the product: in this order no compiler fuses
// the two, and all code rounds alike.
struct Quantiser {
  explicit Quantiser(float top) : scale(top / kTop), inverse(kTop / top), half(scale / 2) {}

  template <class Number>
  Number operator()(Number x) const {
    const Number v = (x + half) * inverse;
    return v < kTop ? v : kTop + Number{};  // a row with an infinity must not leave the range
  }

  float scale, inverse, half;
};

void quantise(const float* x, size_t n, size_t stride, DenseInt16::Rows& rows) {
  rows.values.resize(std::max(rows.values.size(), n * stride));
  rows.scales.resize(std::max(rows.scales.size(), n));
  for (size_t row = 0; row < n; ++row, x += stride) {
    Floats most = kLeast + Floats{};
    for (size_t i = 0; i < stride; i += kLanes) {
      const Floats v = load<Floats>(x + i);
      most = v > most ? v : most;
    }
    float top = most[0];
    for (size_t lane = 1; lane < kLanes; ++lane) top = std::max(top, most[lane]);
    const Quantiser integers(top);
    rows.scales[row] = integers.scale;
    for (size_t i = 0; i < stride; i += kLanes) {
      const Ints wide = __builtin_convertvector(integers(load<Floats>(x + i)), Ints);
      store(&rows.values[row * stride + i], __builtin_convertvector(wide, HalfInts));
    }
  }
}

}  // namespace

DenseInt16::DenseInt16(std::span<const float> weights, std::span<const float> bias)
    : inputs_(bias.empty() ? 0 : weights.size() / bias.size()), outputs_(bias.size()) {
  if (outputs_ == 0 || inputs_ == 0 || inputs_ * outputs_ != weights.size())
    throw InputError("a layer's weights and bias do not fit together");
  if (inputs_ > kMaxInputs)
    throw InputError("a layer of " + std::to_string(inputs_) + " inputs is too wide for int16, use float32");
  bias_.assign(padded(outputs_), 0);
  std::ranges::copy(bias, bias_.begin());
  scales_.assign(padded(outputs_), 0);
  lines_.assign(padded(outputs_) / kPanel * pairs(), {});
  const double room = 0x1p31 / kTop - static_cast<double>(inputs_);
  for (size_t o = 0; o < outputs_; ++o) {
    const std::span<const float> row = weights.subspan(o * inputs_, inputs_);
    double most = 0, sum = 0;
    for (const double w : row) {
      most = std::max(most, std::fabs(w));
      sum += std::fabs(w);
    }
    const auto scale = static_cast<float>(std::max(most / kMaxWeight, sum / room));
    if (scale < std::numeric_limits<float>::min()) continue;  // too small to matter, or to divide by
    scales_[o] = scale;
    for (size_t k = 0; k < inputs_; ++k)
      lines_[o / kPanel * pairs() + k / 2].weight[o % kPanel][k % 2] =
          static_cast<int16_t>(std::lrint(static_cast<double>(row[k]) / scale));
  }
}

void DenseInt16::apply(const float* x, size_t n, float* y, bool relu, const float* skip, Rows& rows) const {
  quantise(x, n, padded(inputs_), rows);
  const size_t x_stride = padded(inputs_), y_stride = padded(outputs_), pairs = this->pairs();
  const int16_t* values = rows.values.data();
  const float* scales = rows.scales.data();
  const auto tile = [=, this]<size_t kRows, size_t kPanels>(size_t row, size_t panel) {
    constexpr size_t kVectors = kPanels * kPanel / kLanes;
    Ints sum[kRows][kVectors] = {};
    const int16_t* in = values + row * x_stride;
    const Line* lines = &lines_[panel * pairs];
#pragma GCC unroll 2
    for (size_t k = 0; k < pairs; ++k) {
      Ints w[kVectors];
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        w[v] = load<Ints>(lines[v / 2 * pairs + k].weight[v % 2 * kLanes]);
#pragma GCC unroll 6
      for (size_t r = 0; r < kRows; ++r) {
        const Ints pair = load<int32_t>(in + r * x_stride + 2 * k) + Ints{};
#pragma GCC unroll 4
        for (size_t v = 0; v < kVectors; ++v) sum[r][v] += pair_product(pair, w[v]);
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < kVectors; ++v) {
        const size_t o = panel * kPanel + v * kLanes, at = (row + r) * y_stride + o;
        const Floats scale = scales[row + r] * load<Floats>(&scales_[o]);
        Floats out = __builtin_convertvector(sum[r][v], Floats) * scale + load<Floats>(&bias_[o]);
        if (skip) out += load<Floats>(skip + at);
        store(y + at, relu ? relu_of(out) : out);
      }
    }
  };
  for_tiles<kTile, kFew>(n, padded(outputs_) / kPanel, tile);
}

void DenseInt16::reference(const float* x, size_t n, float* y, bool relu, const float* skip) const {
  const size_t x_stride = padded(inputs_), y_stride = padded(outputs_);
  for (size_t row = 0; row < n; ++row, x += x_stride) {
    const Quantiser integers(std::max(kLeast, *std::max_element(x, x + inputs_)));
    for (size_t o = 0; o < y_stride; ++o) {
      int64_t sum = 0;
      for (size_t k = 0; k < inputs_; ++k)
        sum += static_cast<int64_t>(integers(x[k])) *
               lines_[o / kPanel * pairs() + k / 2].weight[o % kPanel][k % 2];
      float out = static_cast<float>(sum) * (integers.scale * scales_[o]) + bias_[o];
      if (skip) out += skip[row * y_stride + o];
      y[row * y_stride + o] = relu ? std::max(out, 0.0f) : out;
    }
  }
}

}  // namespace hstar
