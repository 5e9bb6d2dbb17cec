#include "heuristics/raw_model.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace hstar {

void check_weights(std::span<const double> weights, std::span<const double> bias, size_t inputs,
                   const std::string& inputs_name) {
  if (bias.empty() || weights.size() != inputs * bias.size())
    throw InputError("there are " + std::to_string(weights.size()) + " weights for " +
                     std::to_string(inputs) + " " + inputs_name + " and " + std::to_string(bias.size()) +
                     " outputs");
  const auto fine = [](double weight) { return std::abs(weight) < 1e100; };
  if (!std::ranges::all_of(weights, fine) || !std::ranges::all_of(bias, fine))
    throw InputError("a weight of the " + inputs_name + " is not a finite number");
}

}  // namespace hstar
