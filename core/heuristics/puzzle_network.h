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
//
// What a network of a puzzle sees of a state: whole numbers that follow moves, as `incremental.h` has it for
// values. Each input divided by its divisor lies in 0..1.
//
// A network keeps weighted sums of its inputs. A move adds rows to them: the first rows are the weights of
// single inputs, further ones are combinations that a move changes at once and that are added up beforehand.
//
// An `Inputs` has, besides `Space` and a `Node` for each level of a search:
//   size(), divisor(input)               how many there are, and their scale
//   raw(state, put)                      put(input, value) for all that are not 0
//   root(state, node)
//   child(parent, before, action, child, sums)   sums.add(row), sums.subtract(row), sums.add(row, times)
//   rows(), compose(row, put)            put(input, times) for the parts of a row that is no single input, if
//                                        there are any
//   is_goal(node), admissible(node)      the latter is a number that never exceeds the cost
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "heuristics/puzzle_parts.h"

namespace hstar {

// Inputs of either kind; those of a puzzle without databases are one-hot all the same.
template <class Space>
using AnyInputs = std::variant<std::shared_ptr<const typename Parts<Space>::OneHot>,
                               std::shared_ptr<const typename Parts<Space>::Inputs>>;

template <class Space>
const Space& space_of(const AnyInputs<Space>& inputs) {
  return std::visit([](const auto& one) -> const Space& { return one->space(); }, inputs);
}

template <class Space>
size_t count_of(const AnyInputs<Space>& inputs) {
  return std::visit([](const auto& one) { return one->size(); }, inputs);
}

// In 0..1, state by state.
template <class Space>
std::vector<float> scaled_inputs(const AnyInputs<Space>& inputs,
                                 const std::vector<typename Space::State>& states) {
  const size_t size = count_of<Space>(inputs);
  std::vector<float> result(states.size() * size, 0);
  const auto fill = [&](const auto& one) {
    float* row = result.data();
    for (const typename Space::State& state : states) {
      one->raw(state, [&](size_t input, int32_t value) {
        row[input] = static_cast<float>(value) / one->divisor(input);
      });
      row += size;
    }
  };
  std::visit(fill, inputs);
  return result;
}

template <class Space>
std::vector<int32_t> admissible_inputs(const AnyInputs<Space>& inputs,
                                       const std::vector<typename Space::State>& states) {
  std::vector<int32_t> result;
  const auto fill = [&]<class Inputs>(const std::shared_ptr<const Inputs>& one) {
    typename Inputs::Node node;
    for (const typename Space::State& state : states) {
      one->root(state, node);
      result.push_back(one->admissible(node));
    }
  };
  std::visit(fill, inputs);
  return result;
}

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

}  // namespace hstar
