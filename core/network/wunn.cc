#include "network/wunn.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/errors.h"

namespace hstar {
namespace {

constexpr float kLeastSigma = 1e-6f;  // of a weight; the square of less would soon be 0 in float32
constexpr float kDecayFirst = 0.9f, kDecaySecond = 0.999f, kEpsilon = 1e-8f;  // of Adam, as in PyTorch

float softplus(float rho) { return rho > 20 ? rho : std::log1p(std::exp(rho)); }
float sigmoid(float rho) { return 1 / (1 + std::exp(-rho)); }

// Rows by weight, none of them twice: one that is drawn again is left out and another one drawn. Where a few
// rows have nearly all the weight that could go on for ever; then the rest is drawn by Gumbel keys: the
// largest of log(weight) - log(E), with E from the exponential distribution, are such a draw, too, and
// nothing in it overflows (Vieira, "Gumbel-max trick and weighted reservoir sampling", 2014).
class Draw {
 public:
  Draw(const std::vector<float>& weights, const std::vector<float>& logarithms)
      : logarithms_(logarithms), taken_(weights.size(), 0) {
    double sum = 0;
    for (const float weight : weights) sums_.push_back(sum += weight);
  }

  void operator()(uint32_t count, Random& random, Poll& poll, std::vector<uint32_t>& rows) {
    ++round_;
    rows.clear();
    uint64_t rejections = std::isfinite(sums_.back()) ? uint64_t{kRejections} * count : 0;
    while (rows.size() < count && rejections > 0) {
      const double at = uniform(random) * sums_.back();
      const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, at);
      const auto row = static_cast<uint32_t>(found - sums_.begin());
      if (taken_[row] == round_) {
        --rejections;
        poll();
        continue;
      }
      taken_[row] = round_;
      rows.push_back(row);
    }
    if (rows.size() < count) draw_rest(count - rows.size(), random, rows);
  }

 private:
  static constexpr uint32_t kRejections =
      100;  // for each row; of 116 states, nearly a batch, trainings need 8

  static double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

  void draw_rest(size_t count, Random& random, std::vector<uint32_t>& rows) {
    keys_.clear();
    for (uint32_t row = 0; row < taken_.size(); ++row) {
      if (taken_[row] == round_) continue;
      const double exponential = -std::log1p(-uniform(random));
      keys_.emplace_back(logarithms_[row] - std::log(exponential), row);
    }
    const auto end = keys_.begin() + count;
    std::partial_sort(keys_.begin(), end, keys_.end(), std::greater<>());
    for (auto key = keys_.begin(); key != end; ++key) rows.push_back(key->second);
  }

  const std::vector<float>& logarithms_;
  std::vector<double> sums_;
  std::vector<uint32_t> taken_;  // the round in which it was
  std::vector<std::pair<double, uint32_t>> keys_;
  uint32_t round_ = 0;
};

class Wunn {
 public:
  explicit Wunn(const WunnWeights& weights)
      : inputs_(weights.inputs),
        width_(weights.width),
        learned_(weights.arrays),
        steps_(weights.steps_before) {
    for (size_t i = 0; i < kArrays; ++i) {
      gradient_[i].assign(learned_[i].size, 0);
      variance_[i].assign(i % 2 == 0 ? 0 : learned_[i].size, 0);
    }
    for (auto* values : {&mean_, &spread_, &first_, &second_, &below_, &density_}) values->assign(width_, 0);
  }

  WunnFit fit(const SparseRows& x, const float* y, const WunnConfig& config, Random& random, Poll& poll) {
    std::vector<float> variance(x.size()), weights(x.size()), logarithms(x.size());
    std::vector<uint32_t> rows(x.size());
    for (size_t row = 0; row < x.size(); ++row) rows[row] = static_cast<uint32_t>(row);
    const bool drawn = x.size() > config.batch;
    float largest = 0;
    for (uint32_t done = 0; done < config.steps; done += config.sweep_every) {
      variances(x, variance.data());
      for (const float one : variance)
        if (!std::isfinite(one))
          throw InputError("variances are not finite: known_learning_rate is too large");
      largest = *std::max_element(variance.begin(), variance.end());
      if (config.stop_early && largest < config.threshold) return {done, largest, true};
      for (size_t row = 0; row < x.size(); ++row) {
        const bool known = variance[row] < config.threshold;
        const float spread = std::sqrt(variance[row]);
        weights[row] = known ? config.already_known : std::exp(spread);
        logarithms[row] = known ? std::log(config.already_known) : spread;
      }
      Draw draw(weights, logarithms);
      for (uint32_t i = 0; i < std::min(config.sweep_every, config.steps - done); ++i) {
        if (drawn) draw(config.batch, random, poll, rows);
        step(x, y, rows, config);
        poll(500);
      }
    }
    return {config.steps, largest, false};
  }

 private:
  static constexpr size_t kArrays = WunnWeights::kArrays;
  enum Array { kHidden, kHiddenRho, kBias, kBiasRho, kOutput, kOutputRho, kOutputBias, kOutputBiasRho };

  // Of weights, from their rho.
  void refresh_variances() {
    for (size_t i = 1; i < kArrays; i += 2) {
      for (size_t k = 0; k < learned_[i].size; ++k) {
        const float sigma = std::max(softplus(learned_[i].values[k]), kLeastSigma);  // NaN stays NaN
        variance_[i][k] = sigma * sigma;
      }
    }
  }

  void forward(const SparseRows& x, size_t row) {
    std::copy_n(learned_[kBias].values, width_, mean_.data());
    std::copy_n(variance_[kBiasRho].data(), width_, spread_.data());
    for (const auto [place, value] : x[row]) {
      const float square = value * value;
      const float* means = learned_[kHidden].values + place * width_;
      const float* variances = variance_[kHiddenRho].data() + place * width_;
      for (size_t j = 0; j < width_; ++j) {
        mean_[j] += value * means[j];
        spread_[j] += square * variances[j];
      }
    }
    float output_mean = learned_[kOutputBias].values[0], output_variance = variance_[kOutputBiasRho][0];
    for (size_t j = 0; j < width_; ++j) {
      const float sigma = std::sqrt(spread_[j]), z = mean_[j] / sigma;
      below_[j] = 0.5f * std::erfc(-z * std::numbers::sqrt2_v<float> / 2);
      density_[j] = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi_v<float> / std::numbers::sqrt2_v<float>;
      first_[j] = mean_[j] * below_[j] + sigma * density_[j];
      second_[j] = (mean_[j] * mean_[j] + spread_[j]) * below_[j] + mean_[j] * sigma * density_[j];
      const float weight = learned_[kOutput].values[j], square = weight * weight;
      output_mean += first_[j] * weight;
      output_variance += second_[j] * (square + variance_[kOutputRho][j]) - first_[j] * first_[j] * square;
      spread_[j] = sigma;
    }
    output_mean_ = output_mean;
    output_variance_ = std::max(output_variance, 0.0f);
  }

  // The variance of the output for each state.
  void variances(const SparseRows& x, float* result) {
    refresh_variances();
    for (size_t row = 0; row < x.size(); ++row) {
      forward(x, row);
      result[row] = output_variance_;
    }
  }

  // One step of Adam on these states.
  void step(const SparseRows& x, const float* y, std::span<const uint32_t> rows, const WunnConfig& config) {
    refresh_variances();
    for (auto& gradient : gradient_) std::fill(gradient.begin(), gradient.end(), 0.0f);
    const float share = 1 / static_cast<float>(rows.size());
    float* hidden = gradient_[kHidden].data();
    float* hidden_variance = gradient_[kHiddenRho].data();
    std::vector<float>&d_mean = mean_, &d_spread = spread_;  // what is there is not needed any more
    for (const uint32_t row : rows) {
      forward(x, row);
      const float d_output = (output_mean_ - y[row]) * share, d_variance = share / 2;
      gradient_[kOutputBias][0] += d_output;
      gradient_[kOutputBiasRho][0] += d_variance;
      for (size_t j = 0; j < width_; ++j) {
        const float weight = learned_[kOutput].values[j], square = weight * weight;
        const float first = first_[j], second = second_[j], sigma = spread_[j];
        gradient_[kOutput][j] += d_output * first + 2 * d_variance * weight * (second - first * first);
        gradient_[kOutputRho][j] += d_variance * second;
        const float d_first = d_output * weight - 2 * d_variance * first * square;
        const float d_second = d_variance * (square + variance_[kOutputRho][j]);
        d_mean[j] = d_first * below_[j] + d_second * 2 * first;
        d_spread[j] = d_first * density_[j] / (2 * sigma) + d_second * below_[j];
        gradient_[kBias][j] += d_mean[j];
        gradient_[kBiasRho][j] += d_spread[j];
      }
      for (const auto [place, value] : x[row]) {
        const float square = value * value;
        float* means = hidden + place * width_;
        float* variances = hidden_variance + place * width_;
        for (size_t j = 0; j < width_; ++j) {
          means[j] += value * d_mean[j];
          variances[j] += square * d_spread[j];
        }
      }
    }
    // The prior, and from variances to rho.
    ++steps_;
    for (size_t i = 0; i < kArrays; i += 2) {
      const Learned &means = learned_[i], &rhos = learned_[i + 1];
      for (size_t k = 0; k < means.size; ++k) {
        const float variance = variance_[i + 1][k], rho = rhos.values[k];
        gradient_[i][k] += config.beta * means.values[k] / config.prior_variance;
        const float d = gradient_[i + 1][k] + config.beta * (1 / config.prior_variance - 1 / variance) / 2;
        gradient_[i + 1][k] = d * 2 * std::sqrt(variance) * sigmoid(rho);
      }
      adam(static_cast<Array>(i), gradient_[i], config);
      adam(static_cast<Array>(i + 1), gradient_[i + 1], config);
    }
  }

  void adam(Array array, const std::vector<float>& gradient, const WunnConfig& config) {
    const auto steps = static_cast<double>(steps_);
    const auto rate = static_cast<float>(config.learning_rate / (1 - std::pow(0.9, steps)));
    const auto root = static_cast<float>(1 / std::sqrt(1 - std::pow(0.999, steps)));
    const Learned& learned = learned_[array];
    for (size_t k = 0; k < learned.size; ++k) {
      const float g = gradient[k];
      learned.first[k] = kDecayFirst * learned.first[k] + (1 - kDecayFirst) * g;
      learned.second[k] = kDecaySecond * learned.second[k] + (1 - kDecaySecond) * g * g;
      learned.values[k] -= rate * learned.first[k] / (std::sqrt(learned.second[k]) * root + kEpsilon);
    }
  }

  size_t inputs_, width_;
  std::array<Learned, kArrays> learned_;
  std::array<std::vector<float>, kArrays> gradient_;  // of the variance where the array has rho
  std::array<std::vector<float>, kArrays> variance_;  // of arrays of rho
  uint64_t steps_;
  // Of the state that was looked at last: moments of its hidden units, and those of its output.
  std::vector<float> mean_, spread_, first_, second_, below_, density_;
  float output_mean_ = 0, output_variance_ = 0;
};

}  // namespace

SparseRows sparse_rows(const float* dense, size_t rows, size_t columns) {
  SparseRows result;
  std::vector<SparseInput> inputs;
  for (size_t row = 0; row < rows; ++row) {
    inputs.clear();
    for (size_t place = 0; place < columns; ++place)
      if (const float value = dense[row * columns + place]; value != 0)
        inputs.push_back({static_cast<uint32_t>(place), value});
    result.push_row(inputs);
  }
  return result;
}

WunnFit fit_wunn(const WunnWeights& weights, const SparseRows& x, const float* y, const WunnConfig& config,
                 Random& random, Poll& poll) {
  return Wunn(weights).fit(x, y, config, random, poll);
}

}  // namespace hstar
