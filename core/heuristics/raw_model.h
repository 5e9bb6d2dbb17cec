// The contract of a model in the search: raw numbers for states, before an estimate says what they mean.
//
// A heuristic calls `run` once for the states of a batch. Models keep scratch memory and serve one heuristic
// at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "heuristics/heuristic.h"

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

}  // namespace hstar
