#include "heuristics/puzzle_network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.h"
#include "estimates/truncated_normal.h"
#include "heuristics/incremental_network.h"

namespace hstar {
namespace {

constexpr double kLargestSum = 1 << 29;  // a sum on its way from one state to another stays below twice that
constexpr double kMost = 1e30;           // float32 holds all that is made of numbers up to this
constexpr int kStepsPerRho = 16;         // cubics are then exact to 1e-8
constexpr double kFarthestRho = 30;      // softplus is 0 or linear there, as far as float32 can tell

void check(bool right, const std::string& what) {
  if (!right) throw InputError("a network of a puzzle " + what);
}

void check_finite(const std::vector<float>& numbers, const char* what) {
  for (const float number : numbers)
    check(std::isfinite(number), std::string("has a number in its ") + what + " that is not finite");
}

void check_config(const PuzzleNetworkConfig& c, size_t inputs) {
  check(c.width <= FixedNetwork::kWidest, "has at most " + std::to_string(FixedNetwork::kWidest) +
                                              " hidden units, not " + std::to_string(c.width));
  check(c.width > 0 && c.hidden_biases.size() == c.width, "needs a bias for each hidden unit");
  check(c.inputs == inputs && c.hidden_weights.size() == inputs * c.width,
        "needs weights for " + std::to_string(inputs) + " inputs, got " + std::to_string(c.inputs));
  check(c.outputs == 1 || c.outputs == 2, "has 1 or 2 outputs, not " + std::to_string(c.outputs));
  check(c.output_weights.size() == c.width * c.outputs && c.output_biases.size() == c.outputs,
        "needs output weights for each hidden unit and a bias for each output");
  check_finite(c.hidden_weights, "hidden weights");
  check_finite(c.hidden_biases, "hidden biases");
  check_finite(c.output_weights, "output weights");
  check_finite(c.output_biases, "output biases");
  for (const double number : {c.scale, c.shift, c.factor, c.lowest_rho, c.highest_rho})
    check(std::isfinite(number), "has a scale, shift, factor or bound of rho that is not finite");
  check(c.scale > 0, "needs a scale above 0");
  check(-kFarthestRho <= c.lowest_rho && c.lowest_rho < c.highest_rho && c.highest_rho <= kFarthestRho,
        "needs -30 <= lowest_rho < highest_rho <= 30");
  check(!c.alpha || (*c.alpha > 0 && *c.alpha < 1), "needs an alpha between 0 and 1");
  check(!std::isnan(c.sure_below), "needs a number to switch at");
  check(!c.truncated || c.outputs == 2, "needs two outputs for a truncated belief");
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double slope(double x) { return 1 / (1 + std::exp(-x)); }

// Cubics that share values and slopes with factor * f where they meet; the last is for the end itself.
template <class Function, class Slope>
FixedNetwork::Table tabulated(double lowest, double highest, size_t steps, double factor, const Function& f,
                              const Slope& f_slope) {
  const double width = (highest - lowest) / static_cast<double>(steps);
  FixedNetwork::Table result{
      {}, static_cast<float>(lowest), static_cast<float>(static_cast<double>(steps) / (highest - lowest))};
  for (size_t i = 0; i <= steps; ++i) {
    const double x0 = lowest + width * static_cast<double>(i), x1 = x0 + width;
    const double y0 = f(x0), y1 = f(x1), s0 = width * f_slope(x0), s1 = width * f_slope(x1);
    const double c2 = 3 * (y1 - y0) - 2 * s0 - s1, c3 = 2 * (y0 - y1) + s0 + s1;
    const auto scaled = [&](double c) { return static_cast<float>(factor * c); };
    result.cubics.push_back({scaled(y0), scaled(s0), scaled(c2), scaled(c3)});
  }
  return result;
}

// Of the standard normal cut off below t the value g that it exceeds with probability alpha, or its mean.
FixedNetwork::Truncation truncation_of(std::optional<double> alpha) {
  constexpr int kBelow = 6, kHighest = 40, kStepsPerUnit = 16;  // farther below than that nothing is cut off
  const auto value = [&](double t) {
    return alpha ? truncated_quantile(0, 1, t, 1 - *alpha) : truncated_mean(0, 1, t);
  };
  // Q(g) = alpha Q(t), so that the slope is alpha phi(t) / phi(g); the mean is phi(t) / Q(t).
  const auto slope_of = [&](double t) {
    const double g = value(t);
    return alpha ? *alpha * std::exp((g - t) * (g + t) / 2) : g * hazard_excess(t);
  };
  const double uncut = alpha ? -normal_quantile(*alpha) : 0;
  const double lowest = std::floor(std::min(uncut, 0.0)) - kBelow;
  const auto steps = static_cast<size_t>((kHighest - lowest) * kStepsPerUnit);
  const double tail = std::pow(value(kHighest), 2) - std::pow(kHighest, 2);
  return {tabulated(lowest, kHighest, steps, 1, value, slope_of), kHighest, static_cast<float>(tail)};
}

}  // namespace

FixedNetwork::FixedNetwork(const PuzzleNetworkConfig& c, std::span<const float> divisors)
    : padded((c.width + kLanes - 1) / kLanes * kLanes) {
  check_config(c, divisors.size());
  input_rows.assign(c.inputs * padded, 0);
  bias.assign(padded, 0);
  mu_weights.assign(padded, 0);
  rho_weights.assign(padded, 0);
  double largest = 0;
  for (size_t unit = 0; unit < c.width; ++unit) {
    // Inputs lie in 0..1, so this is the farthest that a sum can go, with half a unit for each rounding.
    double farthest = std::abs(c.hidden_biases[unit]);
    for (size_t input = 0; input < c.inputs; ++input)
      farthest += std::abs(c.hidden_weights[input * c.width + unit]);
    const double one = farthest == 0 ? 1 : std::exp2(std::floor(std::log2(kLargestSum / farthest)));
    bias[unit] = static_cast<int32_t>(std::rint(c.hidden_biases[unit] * one));
    for (size_t input = 0; input < c.inputs; ++input) {
      const double weight = c.hidden_weights[input * c.width + unit];
      input_rows[input * padded + unit] = static_cast<int32_t>(std::rint(weight * one / divisors[input]));
    }
    const float* out = &c.output_weights[unit * c.outputs];
    mu_weights[unit] = static_cast<float>(out[0] * c.scale / one);
    if (c.outputs == 2) rho_weights[unit] = static_cast<float>(out[1] / one);
    for (size_t i = 0; i < c.outputs; ++i) largest += farthest * std::abs(out[i]) * c.scale;
  }
  mu_bias = static_cast<float>(c.output_biases[0] * c.scale);
  if (c.outputs == 2) rho_bias = c.output_biases[1];
  const double most = (largest + std::abs(mu_bias) + std::abs(rho_bias) + c.scale) * std::max(1.0, c.factor);
  check(std::isfinite(most) && most < kMost && std::abs(c.factor) < kMost && std::abs(c.shift) < kMost,
        "has numbers that are too large");
  if (c.truncated)
    value = Value::kTruncated;
  else if (c.outputs == 2 && c.alpha && *c.alpha != 0.5)
    value = Value::kQuantile;
  if (value != Value::kMean) {
    const double quantile = c.alpha ? normal_quantile(*c.alpha) : 0;
    z = static_cast<float>(quantile);
    const auto steps = static_cast<size_t>(std::ceil((c.highest_rho - c.lowest_rho) * kStepsPerRho));
    const double times = (c.truncated ? 1 : quantile) * c.scale;
    spread = tabulated(c.lowest_rho, c.highest_rho, steps, times, softplus, slope);
    lowest_rho = static_cast<float>(c.lowest_rho);
    highest_rho = static_cast<float>(c.highest_rho);
    if (c.truncated) truncation = truncation_of(c.alpha);
  }
  sure_below = static_cast<float>(c.sure_below);
  shift = static_cast<float>(c.shift);
  factor = static_cast<float>(c.factor);
  bounded = c.floor_admissible || c.truncated;
}

}  // namespace hstar
