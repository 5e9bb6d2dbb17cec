// A network as a heuristic of a puzzle: inputs, one hidden layer with relu, and an output mu or two, mu and
// rho, of which the value of a state is made (Marom and Rosman, ICAPS 2020):
//
//   sigma = log(1 + exp(rho)), rho cut off at both ends; y = mu - z * sigma, in units of `scale` moves
//   h = max(floor, y * factor - shift to the nearest whole number, halves to even); 0 in the goal
//
// where z is the alpha-quantile of the standard normal distribution, so that h is at most the cost with
// probability alpha if the cost is as the network believes. Not admissible.
//
// Truncated, the belief is the same normal distribution without what is below the greatest admissible number
// a of the state, which the cost cannot be: y is the value that it exceeds with probability alpha, its mean
// if there is no alpha. With t = (a - mu) / sigma, y = mu + sigma * G(t), and G is a table.
//
// The part of it that searches are made with is `incremental_network.h`.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "heuristics/puzzle_inputs.h"

namespace hstar {

struct PuzzleBelief {
  double scale = 1;
  double lowest_rho = -5, highest_rho = 1;
  std::optional<double> alpha;  // without it y = mu
  // From this mu * scale on sigma is 1 move: far from all that has been learned, rho means nothing.
  double sure_below = std::numeric_limits<double>::infinity();
  double shift = 0;
  double factor = 1;
  bool floor_admissible = false;  // the floor is the greatest admissible number of a state, not 0
  bool truncated = false;         // needs two outputs; the floor is as if that were said, too
};

struct PuzzleNetworkConfig : PuzzleBelief {
  size_t inputs = 0, width = 0, outputs = 0;  // outputs: mu, or mu and rho
  std::vector<float> hidden_weights;          // by input, then unit
  std::vector<float> hidden_biases;
  std::vector<float> output_weights;  // by unit, then output
  std::vector<float> output_biases;
};

// A network of any kind of inputs and any width. Defined for all puzzles.
template <class Space>
class PuzzleNetwork {
 public:
  static constexpr size_t kWidest = 128;  // hidden units

  // Throws an InputError for sizes that do not fit together, numbers that are not finite or too large, alpha
  // outside of (0, 1) and bounds of rho that are not in order.
  PuzzleNetwork(const AnyInputs<Space>& inputs, const PuzzleNetworkConfig& config);

  const Space& space() const { return space_; }

  struct Kinds;
  const Kinds& kinds() const { return *kinds_; }

 private:
  Space space_;
  std::shared_ptr<const Kinds> kinds_;
};

}  // namespace hstar
