// From the raw outputs of a model to the number that a search sees: an estimate says what they mean, a rule
// which number of that is taken.
//
//   mu = raw[0] + base;   sigma = floor + range * sigmoid(raw[1]), or given
//   point: mu, without spread;   gaussian: normal;   laplace: with tails that fall exponentially
//   truncated: normal, cut off below lower - margin
//   mean or quantile of that;   truncated: at least lower;   clip: within constants, then at least lower
//   bounded: min(max(h, lower), eps * lower), at the end
//   calibrated: factor * that - shift, rounded up if h* are whole numbers, then at least lower; not of
//   bounded
//
// The numbers are those of hstar.estimates in Python, where there is no upper bound of a state.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace hstar {

struct Estimate {
  enum class Kind { kPoint, kGaussian, kLaplace, kTruncated };

  Kind kind = Kind::kPoint;
  std::optional<double> sigma;  // without one it is learned: the second output
  double floor = 0.1;           // the least sigma that can be learned
  double range = 10;            // how much greater it can become
  double margin = 0.1;          // of truncated: by which the support is greater than the bound

  const char* name() const;
  size_t outputs() const { return kind == Kind::kPoint || sigma ? 1 : 2; }
};

// What makes a promise of a value (hstar.estimates.conformal has the reasons).
struct Calibration {
  double factor = 1;
  double shift = 0;
  bool whole = false;  // h* are whole numbers: what is at most h* may be rounded up

  // Throws InputError for impossible options.
  void check() const;
  double value(double h) const {
    h = h * factor - shift;
    return whole ? std::ceil(h) : h;
  }
};

struct Rule {
  std::optional<double> level;  // of a quantile: P(h* < value); without one the mean is taken
  bool clip = false;
  std::optional<double> lower, upper;        // constants of the clip
  double offset = 0;                         // added at the end, of models that only know an order
  std::optional<double> eps = std::nullopt;  // of bounded; needs a lower bound of each state
  std::optional<Calibration> calibration = std::nullopt;  // of all that
  // Of a quantile of a gaussian: a mean from here on is beyond what was learned, and its spread is 1.
  double sure_below = std::numeric_limits<double>::infinity();
};

class Belief {
 public:
  static constexpr double kNoBound = -std::numeric_limits<double>::infinity();

  // Throws InputError for impossible options, UnsupportedError for a quantile of what has no spread.
  Belief(Estimate estimate, Rule rule);

  const Estimate& estimate() const { return estimate_; }
  // Something is promised of these values, and of all that are less.
  bool makes_promise() const { return rule_.calibration.has_value() || rule_.eps.has_value(); }
  bool is_bounded() const { return rule_.eps.has_value(); }  // by lower bounds, which must be there

  // `raw`: as many numbers as the estimate has outputs; `lower`: a bound on h*, or kNoBound. Infinity stays
  // infinity, unless the clip has an upper constant; NaN comes of NaN, and of infinities that contradict.
  double value(const double* raw, double base, double lower) const;

 private:
  double chosen(const double* raw, double base, double lower) const;  // before the calibration
  double spread(const double* raw) const;

  Estimate estimate_;
  Rule rule_;
  double shift_ = 0;  // of a quantile, for a mu of 0 and a sigma of 1
};

}  // namespace hstar
