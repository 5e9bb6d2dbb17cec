// A fully connected layer for batches with integers of 16 bits: y = W x + b, optionally ReLU, x not negative.
//
// Per row s = max x / 8191 and X = floor(x / s + 1/2), so 0 <= X <= 8191. Per output a scale t and
// V = round(w / t); then y = s t (sum of V X) + b, where only the sum is in integers.
//
// Invariant: the sum fits 32 bits, whatever the row. By t = max(max |w| / 32767, sum |w| / (2^31 / 8191 -
// inputs)) an output has |V| <= 32767, and sum |V| <= sum |w| / t + inputs / 2 < 2^31 / 8191.
//
// `reference` is the same in plain scalar code, with sums of 64 bits: the specification. Panels and padding
// are those of `Dense`, except that two inputs make a line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "network/dense.h"

namespace hstar {

class DenseInt16 {
 public:
  static constexpr std::string_view kPrecision = "int16";
  static constexpr size_t kMaxInputs = 1 << 14;  // weights get coarser with the number of inputs

  DenseInt16(std::span<const float> weights, std::span<const float> bias);

  size_t inputs() const { return inputs_; }
  size_t outputs() const { return outputs_; }

  // Rows in integers: memory that a caller keeps between calls.
  struct Rows {
    std::vector<int16_t> values;
    std::vector<float> scales;
  };
  // n rows of padded(inputs()) in, none of them negative, n rows of padded(outputs()) out. If `skip` is
  // given, it is added before the ReLU.
  void apply(const float* x, size_t n, float* y, bool relu, const float* skip, Rows& rows) const;
  void reference(const float* x, size_t n, float* y, bool relu, const float* skip) const;

 private:
  size_t pairs() const { return (inputs_ + 1) / 2; }

  struct alignas(64) Line {  // of two inputs, to the outputs of a panel: a cache line
    int16_t weight[kPanel][2];
  };

  size_t inputs_;
  size_t outputs_;
  std::vector<float> bias_;    // padded
  std::vector<float> scales_;  // t of each output, padded
  std::vector<Line> lines_;    // [panel][pair of inputs]
};

}  // namespace hstar
