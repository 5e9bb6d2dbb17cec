#include "estimates/belief.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "base/errors.h"
#include "estimates/truncated_normal.h"

namespace hstar {
namespace {

std::string text(double number) {
  std::ostringstream stream;
  stream << number;
  return stream.str();
}

// Of mu = 0 and sigma = 1. The tail that p is in has a logarithm without loss of digits.
double laplace_quantile(double p) {
  const double depth = std::log(2 * std::min(p, 1 - p)) / std::numbers::sqrt2;
  return p < 0.5 ? depth : -depth;
}

}  // namespace

const char* Estimate::name() const {
  static constexpr const char* kNames[] = {"point", "gaussian", "laplace", "truncated"};
  return kNames[static_cast<size_t>(kind)];
}

void Calibration::check() const {
  if (!(factor > 0 && std::isfinite(factor)) || !std::isfinite(shift))
    throw InputError("calibrated: needs a finite factor greater than 0 and a finite shift, got " +
                     text(factor) + " and " + text(shift));
}

Belief::Belief(Estimate estimate, Rule rule) : estimate_(estimate), rule_(rule) {
  const auto check = [&](const char* option, double value) {
    if (!(value > 0 && std::isfinite(value)))
      throw InputError(std::string(estimate_.name()) + ": " + option +
                       " must be greater than 0 and finite, got " + text(value));
  };
  if (estimate_.sigma) check("sigma", *estimate_.sigma);
  check("floor", estimate_.floor);
  check("range", estimate_.range);
  check("margin", estimate_.margin);
  if (rule_.level) {
    if (!(*rule_.level > 0 && *rule_.level < 1))
      throw InputError("a quantile needs a level between 0 and 1, got " + text(*rule_.level));
    if (estimate_.kind == Estimate::Kind::kPoint)
      throw UnsupportedError("a point estimate has no quantile " + text(*rule_.level) +
                             "; use the rule 'mean'");
    shift_ = estimate_.kind == Estimate::Kind::kLaplace ? laplace_quantile(*rule_.level)
                                                        : normal_quantile(*rule_.level);
  }
  if (std::isnan(rule_.sure_below)) throw InputError("sure_below must be a number");
  if (rule_.sure_below < std::numeric_limits<double>::infinity() &&
      (!rule_.level || estimate_.kind != Estimate::Kind::kGaussian))
    throw InputError("sure_below is for quantiles of a gaussian estimate");
  if (rule_.eps) {
    if (!(*rule_.eps >= 1 && std::isfinite(*rule_.eps)))
      throw InputError("bounded: eps must be 1 or more and finite, got " + text(*rule_.eps));
    if (rule_.clip || rule_.offset != 0)
      throw InputError("bounded takes a mean or a quantile, neither a clip nor an order");
  }
  if (!std::isfinite(rule_.offset)) throw InputError("the offset of a rule must be finite");
  if (!rule_.clip && (rule_.lower || rule_.upper)) throw InputError("bounds of a clip, but no clip");
  for (const auto& [side, bound] : {std::pair{"lower", rule_.lower}, std::pair{"upper", rule_.upper}})
    if (bound && std::isnan(*bound)) throw InputError(std::string("clip: the ") + side + " bound is NaN");
  if (rule_.lower && rule_.upper && *rule_.lower > *rule_.upper)
    throw InputError("clip: the lower bound " + text(*rule_.lower) + " is above the upper one " +
                     text(*rule_.upper));
  if (rule_.calibration) rule_.calibration->check();
}

double Belief::spread(const double* raw) const {
  return estimate_.sigma ? *estimate_.sigma : estimate_.floor + estimate_.range / (1 + std::exp(-raw[1]));
}

double Belief::value(const double* raw, double base, double lower) const {
  const double h = chosen(raw, base, lower);
  return rule_.calibration ? std::max(rule_.calibration->value(h), lower) : h;
}

double Belief::chosen(const double* raw, double base, double lower) const {
  double h = raw[0] + base;
  switch (estimate_.kind) {
    case Estimate::Kind::kPoint:
      break;
    case Estimate::Kind::kGaussian:
    case Estimate::Kind::kLaplace:
      if (rule_.level) h += shift_ * (h < rule_.sure_below ? spread(raw) : 1);
      break;
    case Estimate::Kind::kTruncated: {
      if (std::isnan(h)) return h;
      // That h* itself is infinite is for the maximum to say.
      const double a = std::isfinite(lower) ? lower - estimate_.margin : kNoBound, sigma = spread(raw);
      h = rule_.level ? truncated_quantile(h, sigma, a, *rule_.level) : truncated_mean(h, sigma, a);
      h = std::max(h, lower);
    }
  }
  if (rule_.eps) return std::isnan(h) ? h : std::min(std::max(h, lower), *rule_.eps * lower);
  if (!rule_.clip) return h + rule_.offset;
  if (rule_.lower) h = std::max(h, *rule_.lower);
  if (rule_.upper) h = std::min(h, *rule_.upper);
  return std::max(h, lower) + rule_.offset;
}

}  // namespace hstar
