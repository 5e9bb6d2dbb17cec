// The contract of a model in the search: raw numbers for states, before an estimate says what they mean.
//
// A heuristic calls `run` once for the states of a batch. Models keep scratch memory and serve one heuristic
// at a time.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "features/colour_refinement.h"
#include "heuristics/heuristic.h"
#include "network/network.h"
#include "task/planning_space.h"

namespace hstar {

class RawModel {
 public:
  static constexpr size_t kWholeBatch = size_t{1} << 30;

  virtual ~RawModel() = default;

  virtual size_t outputs() const = 0;

  // Writes outputs() numbers for each of the states begin <= i < end, those of the first to raw[0] and on. An
  // infinite first output says that the state is a dead end.
  virtual void run(StateBatch& batch, size_t begin, size_t end, double* raw) = 0;

  // Dead ends are only states from which no goal can be reached.
  virtual bool safe() const = 0;

  // As many states as may be evaluated between two looks at the clock; kWholeBatch: a batch is not divided.
  virtual size_t grain() const = 0;
};

// Throws InputError unless there are (inputs, outputs) weights and a bias for each output, all of them
// numbers of which no sum is infinite. `inputs_name`: what the inputs are.
void check_weights(std::span<const double> weights, std::span<const double> bias, size_t inputs,
                   const std::string& inputs_name);

// A network whose first layer sums up rows of a state, for a batch of states. An overflow is a great number,
// not a dead end; NaN stays.
class BatchNetwork {
 public:
  explicit BatchNetwork(std::shared_ptr<const Network> network) : network_(std::move(network)) {}
  const Network& operator*() const { return *network_; }
  const Network* operator->() const { return network_.get(); }

  // `fill(i, accumulator)` for each of n states, then the rest of the network.
  template <class Fill>
  void run(size_t n, double* raw, const Fill& fill) {
    const size_t stride = network_->stride(), numbers = n * network_->outputs();
    accumulators_.resize(std::max(accumulators_.size(), n * stride));
    outputs_.resize(std::max(outputs_.size(), numbers));
    for (size_t i = 0; i < n; ++i) fill(i, &accumulators_[i * stride]);
    network_->run(accumulators_.data(), n, outputs_.data(), scratch_);
    constexpr double kMost = std::numeric_limits<float>::max();
    for (size_t k = 0; k < numbers; ++k) raw[k] = std::clamp<double>(outputs_[k], -kMost, kMost);
  }

 private:
  std::shared_ptr<const Network> network_;
  std::vector<float> accumulators_, outputs_;
  Network::Scratch scratch_;
};

// Models, each with its explanation in its own file. `weights` are (inputs, outputs) row-major, of
// `relaxed_plan_model` (outputs, inputs); there are as many outputs as the bias has.
using Weights = std::vector<double>;
std::unique_ptr<RawModel> colour_sum(ColourRefinement refinement, ColourTable rows, Weights weights,
                                     Weights bias);
std::unique_ptr<RawModel> colour_network(ColourRefinement refinement, ColourTable rows,
                                         std::shared_ptr<const Network> network);
// `inputs`: per fact of the task (variables in order, then values) its row of the network, -1 for none.
std::unique_ptr<RawModel> atom_network(const PlanningSpace& space, std::shared_ptr<const Network> network,
                                       std::vector<int32_t> inputs, bool incremental);
// Plans are cheapest by the costs of this space, whose states must be those that are evaluated.
std::unique_ptr<RawModel> relaxed_plan_model(const PlanningSpace& space, Weights weights, Weights bias);

}  // namespace hstar
