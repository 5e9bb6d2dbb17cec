// Networks of puzzles as part of the template of a search: sums of the hidden layer that follow moves.
//
// The sums are fixed-point numbers of 32 bits: they are the same whatever way leads to a state, which sums of
// floats are not. A unit has a scale of its own, the largest power of two with which no state can overflow. A
// weight is then off by at most 2^-29 of the sum of all weights of its unit, less than float32 loses in the
// rest. Without vectors of the machine the compiler makes plain loops of the same code.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heuristics/incremental.h"
#include "heuristics/puzzle_network.h"
#include "network/vectors.h"

namespace hstar {

// A network in the numbers of the search, padded to vectors. Units of padding have weights 0.
struct FixedNetwork {
  // A function, as a cubic polynomial between each two neighbouring places of a table.
  struct Table {
    struct Cubic {
      float c0, c1, c2, c3;
    };
    std::vector<Cubic> cubics;
    float lowest = 0, steps_per_unit = 0;

    float operator()(float x) const {
      const float at = (x - lowest) * steps_per_unit;
      const auto step = static_cast<uint32_t>(at);
      const Cubic& c = cubics[step];
      const float part = at - static_cast<float>(step);
      return c.c0 + part * (c.c1 + part * (c.c2 + part * c.c3));
    }
  };
  // The quantile, or the mean, of the standard normal cut off below t: up to the beginning of the table as if
  // nothing were cut off, from `highest` on as if the density fell like exp(-t^2 / 2) without the rest of the
  // tail. In moves, for sigma up to 13, exact to 1e-3.
  struct Truncation {
    Table table;
    float highest = 0, tail = 0;

    float operator()(float t) const {
      return t < highest ? table(std::max(t, table.lowest)) : std::sqrt(t * t + tail);
    }
  };
  enum class Value { kMean, kQuantile, kTruncated };
  static constexpr size_t kWidest = 128;          // hidden units
  static constexpr int32_t kMostMoves = 1000001;  // more than the search allows

  // `divisors` are those of the inputs. Throws an InputError for sizes that do not fit together, numbers that
  // are not finite or too large, alpha outside of (0, 1) and bounds of rho that are not in order.
  FixedNetwork(const PuzzleNetworkConfig& config, std::span<const float> divisors);

  size_t padded = 0;
  std::vector<int32_t> input_rows;  // by input, for one unit of its whole number
  std::vector<int32_t> bias;
  std::vector<float> mu_weights, rho_weights;  // for fixed-point sums; mu in moves
  float mu_bias = 0, rho_bias = 0;
  Value value = Value::kMean;
  float z = 0;
  Table spread;  // by rho: z * sigma, if truncated sigma, in moves; empty if there is no need of it
  float lowest_rho = 0, highest_rho = 0;
  Truncation truncation;
  float sure_below = 0, shift = 0, factor = 1;
  bool bounded = false;  // whether there is a floor
};

// `kBounded`: whether admissible numbers are a floor, or cut off the belief. Apart, since a node of a search
// that knows nothing of them takes less time.
template <class Inputs, size_t kVectors, bool kBounded>
class IncrementalNetwork {
 public:
  using Space = typename Inputs::Space;
  static constexpr size_t kWidth = kVectors * kLanes;
  struct Node {
    typename Inputs::Node inputs;
    int32_t sums[kWidth];
  };

  IncrementalNetwork(std::shared_ptr<const Inputs> inputs, FixedNetwork network)
      : inputs_(std::move(inputs)), network_(std::move(network)) {
    const auto add = [&](size_t row, size_t input, int32_t times) {
      for (size_t unit = 0; unit < network_.padded; ++unit)
        rows_[row * kWidth + unit] += times * network_.input_rows[input * network_.padded + unit];
    };
    size_t rows = inputs_->size();
    if constexpr (requires { inputs_->rows(); }) rows = inputs_->rows();
    rows_.assign(rows * kWidth, 0);
    for (size_t row = 0; row < inputs_->size(); ++row) add(row, row, 1);
    if constexpr (requires { inputs_->rows(); })
      for (size_t row = inputs_->size(); row < rows; ++row)
        inputs_->compose(row, [&](size_t input, int32_t times) { add(row, input, times); });
    std::ranges::copy(network_.bias, bias_);
    std::ranges::copy(network_.mu_weights, mu_weights_);
    std::ranges::copy(network_.rho_weights, rho_weights_);
  }

  const Space& space() const { return inputs_->space(); }

  [[gnu::noinline]] int32_t root(const typename Space::State& state, Node& node) const {
    inputs_->root(state, node.inputs);
    Sums sums(rows_.data(), bias_);
    inputs_->raw(state, [&](size_t input, int32_t value) { sums.add(input, value); });
    sums.store_to(node.sums);
    return value(node.inputs, sums);
  }
  int32_t child(const Node& parent, const typename Space::State& before, typename Space::Action action,
                Node& child) const {
    Sums sums(rows_.data(), parent.sums);
    inputs_->child(parent.inputs, before, action, child.inputs, sums);
    sums.store_to(child.sums);
    return value(child.inputs, sums);
  }

 private:
  // The sums of a node, in registers.
  class Sums {
   public:
    Sums(const int32_t* rows, const int32_t* start) : rows_(rows) {
      for (size_t v = 0; v < kVectors; ++v) sum_[v] = load<Ints>(start + v * kLanes);
    }
    void add(size_t row) {
      for (size_t v = 0; v < kVectors; ++v) sum_[v] += at(row, v);
    }
    void subtract(size_t row) {
      for (size_t v = 0; v < kVectors; ++v) sum_[v] -= at(row, v);
    }
    void add(size_t row, int32_t times) {
      for (size_t v = 0; v < kVectors; ++v) sum_[v] += times * at(row, v);
    }
    void store_to(int32_t* sums) const {
      for (size_t v = 0; v < kVectors; ++v) store(sums + v * kLanes, sum_[v]);
    }
    Floats relu(size_t v) const { return __builtin_convertvector(sum_[v] > 0 ? sum_[v] : Ints{}, Floats); }

   private:
    Ints at(size_t row, size_t v) const { return load<Ints>(rows_ + row * kWidth + v * kLanes); }

    const int32_t* rows_;
    Ints sum_[kVectors];
  };

  int32_t value(const typename Inputs::Node& node, const Sums& sums) const {
    if (inputs_->is_goal(node)) return 0;
    const FixedNetwork& n = network_;
    Floats mu_terms{}, rho_terms{};
    for (size_t v = 0; v < kVectors; ++v) {
      const Floats hidden = sums.relu(v);
      mu_terms += hidden * load<Floats>(mu_weights_ + v * kLanes);
      rho_terms += hidden * load<Floats>(rho_weights_ + v * kLanes);
    }
    // Both outputs at once: lanes are added in halves.
    const Quad mu_half = lower(mu_terms) + upper(mu_terms), rho_half = lower(rho_terms) + upper(rho_terms);
    const Quad pairs = __builtin_shufflevector(mu_half, rho_half, 0, 1, 4, 5) +
                       __builtin_shufflevector(mu_half, rho_half, 2, 3, 6, 7);
    float moves = n.mu_bias + (pairs[0] + pairs[1]);
    if (n.value != FixedNetwork::Value::kMean) {
      const float rho = std::clamp(n.rho_bias + (pairs[2] + pairs[3]), n.lowest_rho, n.highest_rho);
      const bool sure = moves < n.sure_below;
      if (kBounded && n.value == FixedNetwork::Value::kTruncated)
        moves = truncated(moves, sure ? n.spread(rho) : 1, static_cast<float>(inputs_->admissible(node)));
      else
        moves -= sure ? n.spread(rho) : n.z;
    }
    const float rounded = std::rint(moves * n.factor - n.shift);
    const int32_t floor = kBounded ? inputs_->admissible(node) : 0;
    constexpr auto kMost = static_cast<float>(FixedNetwork::kMostMoves);
    return std::max(floor, static_cast<int32_t>(std::clamp(rounded, 0.0f, kMost)));
  }

  float truncated(float mu, float spread, float floor) const {
    const float sigma = std::max(spread, 1e-6f);
    return mu + sigma * network_.truncation((floor - mu) / sigma);
  }

  using Quad = float __attribute__((vector_size(16)));
  static Quad lower(Floats v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3); }
  static Quad upper(Floats v) { return __builtin_shufflevector(v, v, 4, 5, 6, 7); }

  std::shared_ptr<const Inputs> inputs_;
  FixedNetwork network_;
  std::vector<int32_t> rows_;
  alignas(32) int32_t bias_[kWidth] = {};
  alignas(32) float mu_weights_[kWidth] = {};
  alignas(32) float rho_weights_[kWidth] = {};
};

}  // namespace hstar
