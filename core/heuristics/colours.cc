#include "heuristics/colours.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/errors.h"

namespace hstar {

ColourSum::ColourSum(ColourRows rows, std::vector<double> weights, std::vector<double> bias)
    : rows_(std::move(rows)), weights_(std::move(weights)), bias_(std::move(bias)) {
  check_weights(weights_, bias_, rows_.size(), "colours");
}

void ColourSum::run(StateBatch& batch, size_t begin, size_t end, double* raw) {
  const size_t width = bias_.size();
  for (size_t i = begin; i < end; ++i, raw += width) {
    if (width == 1) {  // kept in a register
      double sum = bias_[0];
      rows_.for_each(batch.values(i), [&](int32_t row) { sum += weights_[row]; });
      raw[0] = sum;
      continue;
    }
    std::ranges::copy(bias_, raw);
    rows_.for_each(batch.values(i), [&](int32_t row) {
      const double* weights = &weights_[static_cast<size_t>(row) * width];
      for (size_t k = 0; k < width; ++k) raw[k] += weights[k];
    });
  }
}

ColourNetwork::ColourNetwork(ColourRows rows, std::shared_ptr<const Network> network)
    : rows_(std::move(rows)), network_(std::move(network)) {
  if (network_->atoms() != rows_.size())
    throw InputError("the network has " + std::to_string(network_->atoms()) + " inputs for " +
                     std::to_string(rows_.size()) + " colours");
}

void ColourNetwork::run(StateBatch& batch, size_t begin, size_t end, double* raw) {
  const size_t n = end - begin, stride = network_->stride(), numbers = n * network_->outputs();
  accumulators_.resize(std::max(accumulators_.size(), n * stride));
  outputs_.resize(std::max(outputs_.size(), numbers));
  for (size_t i = 0; i < n; ++i) {
    float* accumulator = &accumulators_[i * stride];
    network_->clear(accumulator);
    rows_.for_each(batch.values(begin + i), [&](int32_t row) { network_->add(accumulator, row); });
  }
  network_->run(accumulators_.data(), n, outputs_.data(), scratch_);
  // An overflow is a great number, not a dead end; NaN stays.
  constexpr double kMost = std::numeric_limits<float>::max();
  for (size_t k = 0; k < numbers; ++k) raw[k] = std::clamp<double>(outputs_[k], -kMost, kMost);
}

}  // namespace hstar
