#include "estimates/truncated_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace hstar {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kDensityScale = std::sqrt(2 / std::numbers::pi);

double upper_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

// phi / Q, for cut at which neither underflows.
double hazard(double cut) {
  return kDensityScale * std::exp(-cut * cut / 2) / std::erfc(cut / std::numbers::sqrt2);
}

// Where a bound is in the standard normal; a bound that is missing or infinitely far below is at -infinity.
double standard(double mu, double sigma, double a) {
  return a == -kInfinity || mu == kInfinity ? -kInfinity : (a - mu) / sigma;
}

// The s with log Q(cut) - log Q(cut + s) = t, for cut >= 0 and t >= 0. The left side grows with slope
// lambda and is convex: after the first step, which may lead beyond the solution, all come from above.
double advance(double cut, double t) {
  constexpr double kFar = 1e8;    // from here on the tail is exponential to the last digit
  constexpr double kNear = 1e-5;  // up to here two terms of the series are exact to its square
  constexpr int kSteps = 50;      // most need 4
  if (cut > kFar) return t / cut;
  const double excess = hazard_excess(cut), lambda = cut + excess;
  if (t < kNear) return t / lambda * (1 - excess * t / (2 * lambda));
  double s = 2 * t / (lambda + std::sqrt(lambda * lambda + 2 * t));  // as if lambda had the slope 1
  for (int i = 0; i < kSteps; ++i) {
    const double there = hazard_excess(cut + s);
    const double found = s * (cut + s / 2) + std::log1p((s + there - excess) / lambda);
    const double step = (t - found) / (cut + s + there);
    s = std::max(0.0, s + step);
    if (std::abs(step) <= 1e-8 * s) break;  // what is left is of the order of its square
  }
  return s;
}

}  // namespace

double hazard_excess(double cut) {
  constexpr double kTail = 5;  // below, the difference loses two digits at most
  constexpr int kTerms = 24;   // of the continued fraction, exact to 2e-15 from kTail on
  if (cut < kTail) return hazard(cut) - cut;
  double rest = 0;
  for (int k = kTerms; k > 0; --k) rest = k / (cut + rest);
  return rest;
}

double truncated_mean(double mu, double sigma, double a) {
  const double cut = standard(mu, sigma, a);
  if (cut < 0) return std::max(a, mu + sigma * hazard(cut));
  return a + sigma * hazard_excess(cut);
}

double truncated_quantile(double mu, double sigma, double a, double p) {
  const double cut = standard(mu, sigma, a);
  if (cut >= 0) return a + sigma * advance(cut, -std::log1p(-p));
  const double above = upper_tail(cut);
  const double left = (1 - p) * above;
  // From the middle outwards, on the side on which the probability is small.
  const double z = left <= 0.5 ? advance(0, -std::log(2 * left))
                               : -advance(0, -std::log(2 * (upper_tail(-cut) + p * above)));
  return std::max(a, mu + sigma * z);
}

double normal_quantile(double p) {
  return p < 0.5 ? -advance(0, -std::log(2 * p)) : advance(0, -std::log(2 * (1 - p)));
}

}  // namespace hstar
