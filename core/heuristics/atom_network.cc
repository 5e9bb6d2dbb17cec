#include "heuristics/atom_network.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/errors.h"

namespace hstar {

AtomNetwork::AtomNetwork(const PlanningSpace& space, std::shared_ptr<const Network> network,
                         std::vector<int32_t> inputs, bool incremental)
    : space_(space),
      ids_(space.task()),
      network_(std::move(network)),
      inputs_(std::move(inputs)),
      incremental_(incremental) {
  if (inputs_.size() != static_cast<size_t>(ids_.size()))
    throw InputError("the network's inputs are for " + std::to_string(inputs_.size()) +
                     " facts, the task has " + std::to_string(ids_.size()));
  for (const int32_t row : inputs_)
    if (row < -1 || row >= static_cast<int32_t>(network_->atoms()))
      throw InputError("the network has no input " + std::to_string(row));
}

void AtomNetwork::refresh(const Value* values, float* accumulator) const {
  network_->clear(accumulator);
  for (int32_t v = 0; v < space_.variables(); ++v)
    if (const int32_t row = input(v, values[v]); row != -1) network_->add(accumulator, row);
}

int32_t AtomNetwork::changes(const Value* parent, const Value* values) const {
  int32_t count = 0;
  for (int32_t v = 0; v < space_.variables(); ++v) count += parent[v] != values[v];
  return count;
}

void AtomNetwork::update(const Value* parent, const Value* values, float* accumulator) const {
  std::ranges::copy(parent_accumulator_, accumulator);
  for (int32_t v = 0; v < space_.variables(); ++v) {
    if (parent[v] == values[v]) continue;
    if (const int32_t row = input(v, parent[v]); row != -1) network_->subtract(accumulator, row);
    if (const int32_t row = input(v, values[v]); row != -1) network_->add(accumulator, row);
  }
}

void AtomNetwork::run(StateBatch& batch, size_t begin, size_t end, double* raw) {
  const size_t n = end - begin, stride = network_->stride(), numbers = n * network_->outputs();
  if (n == 0) return;
  accumulators_.resize(std::max(accumulators_.size(), n * stride));
  outputs_.resize(std::max(outputs_.size(), numbers));
  const Value* parent = incremental_ ? batch.parent() : nullptr;
  if (parent) {
    parent_accumulator_.resize(stride);
    refresh(parent, parent_accumulator_.data());
  }
  for (size_t i = 0; i < n; ++i) {
    const Value* values = batch.values(begin + i);
    float* accumulator = &accumulators_[i * stride];
    // An update touches two rows a change, a refresh at most one a variable.
    if (parent && 2 * changes(parent, values) < space_.variables())
      update(parent, values, accumulator);
    else
      refresh(values, accumulator);
  }
  network_->run(accumulators_.data(), n, outputs_.data(), scratch_);
  // An overflow is a great number, not a dead end; NaN stays.
  constexpr double kMost = std::numeric_limits<float>::max();
  for (size_t k = 0; k < numbers; ++k) raw[k] = std::clamp<double>(outputs_[k], -kMost, kMost);
}

}  // namespace hstar
