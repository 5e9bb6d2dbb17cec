// A fully connected layer for batches: y = W x + b, optionally ReLU, in float32.
//
// Weights are packed into panels of 16 outputs. A panel stays in the nearest cache while all rows pass by it,
// in tiles of up to 6 states by 16 outputs that are held in registers. `Dense::reference` is the same in
// plain scalar code: the specification. Rows of inputs and outputs are padded to a multiple of 16 floats;
// padding holds zeros.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hstar {

constexpr size_t kPanel = 16;
constexpr size_t padded(size_t width) { return (width + kPanel - 1) / kPanel * kPanel; }

class Dense {
 public:
  static constexpr std::string_view kPrecision = "float32";

  // `weights` is row-major (outputs, inputs), as in PyTorch.
  Dense(std::span<const float> weights, std::span<const float> bias);

  size_t inputs() const { return inputs_; }
  size_t outputs() const { return outputs_; }

  // n rows of padded(inputs()) in, n rows of padded(outputs()) out. If `skip` is given, it is added before
  // the ReLU.
  void apply(const float* x, size_t n, float* y, bool relu, const float* skip = nullptr) const;
  void reference(const float* x, size_t n, float* y, bool relu, const float* skip = nullptr) const;

 private:
  struct alignas(64) Line {  // of one input, to the outputs of a panel: a cache line
    float weight[kPanel];
  };

  size_t inputs_;
  size_t outputs_;
  std::vector<float> bias_;  // padded
  std::vector<Line> lines_;  // [panel][input]
};

}  // namespace hstar
