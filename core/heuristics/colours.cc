// Models over the colours of a state's graph, which colour refinement gives (features/colour_refinement.h):
// each colour has a row, and the rows of all colours of a state are summed up, as often as the colours occur.
// Colours without a row count nothing.
//
// Sums follow the changes from one state to another (features/colour_rows.h). They are sums of integers, the
// weights in a small unit: the sum for a state is exactly the same whatever was evaluated before it.
#include <bit>
#include <cmath>

#include "base/errors.h"
#include "features/colour_rows.h"
#include "heuristics/raw_model.h"

namespace hstar {
namespace {

// Sums of rows of weights (rows, width) as integers of a type that has room for `terms` of them.
template <class Integer>
class RowSums {
 public:
  template <class Number>
  RowSums(std::span<const Number> weights, size_t width, size_t terms)
      : width_(width), reference_(width), sums_(width) {
    Number greatest = 0;
    for (const Number weight : weights) greatest = std::max(greatest, std::abs(weight));
    int exponent;  // the greatest is below 2 to the power of it
    std::frexp(static_cast<double>(greatest), &exponent);
    // A bit for the sign, and one because rows are added before others are removed.
    const int room = static_cast<int>(8 * sizeof(Integer)) - 2 - std::bit_width(terms);
    const int shift = std::min(kMostBits, room) - std::max(exponent, kLeastExponent);
    unit_ = std::ldexp(1.0, -shift);
    for (const Number weight : weights)
      weights_.push_back(static_cast<Integer>(std::rint(std::ldexp(static_cast<double>(weight), shift))));
  }

  void follow(const ColourRows::Rows& rows) {
    if (rows.from_reference)
      sums_ = reference_;
    else
      std::ranges::fill(sums_, 0);
    if (width_ == 1) {  // kept in a register
      Integer sum = sums_[0];
      for (const int32_t row : rows.added) sum += weights_[row];
      for (const int32_t row : rows.removed) sum -= weights_[row];
      sums_[0] = sum;
    } else {
      for (const int32_t row : rows.added)
        for (size_t k = 0; k < width_; ++k) sums_[k] += weights_[row * width_ + k];
      for (const int32_t row : rows.removed)
        for (size_t k = 0; k < width_; ++k) sums_[k] -= weights_[row * width_ + k];
    }
    if (rows.is_reference) reference_ = sums_;
  }
  double operator[](size_t k) const { return static_cast<double>(sums_[k]) * unit_; }

 private:
  // A double has 53; weights down to a hundred-millionth of the greatest one keep all of theirs.
  static constexpr int kMostBits = 80;
  static constexpr int kLeastExponent = -900;  // so that the unit is a number

  size_t width_;
  double unit_;  // a power of 2
  std::vector<Integer> weights_;
  std::vector<Integer> reference_, sums_;
};

template <class Integer>
class ColourModel : public RawModel {
 public:
  bool safe() const override { return true; }  // it never says dead end
  size_t grain() const override { return 8; }

 protected:
  template <class Number>
  ColourModel(ColourRefinement refinement, ColourTable table, std::span<const Number> weights, size_t width)
      : rows_(std::move(refinement), std::move(table)), sums_(weights, width, rows_.most_colours()) {}

  // Before the first state of a part of a batch: several successors of one state are compared with it, other
  // states with the one before them.
  void approach(StateBatch& batch) {
    const Value* parent = batch.size() > 1 ? batch.parent() : nullptr;
    has_parent_ = parent != nullptr;
    if (has_parent_) sums_.follow(rows_.approach(parent));
  }
  const RowSums<Integer>& sums(const Value* values) {
    sums_.follow(rows_.rows(values, !has_parent_));
    return sums_;
  }

 private:
  ColourRows rows_;
  RowSums<Integer> sums_;
  bool has_parent_ = false;
};

// The outputs are bias + sum of rows.
class ColourSum : public ColourModel<__int128> {
 public:
  ColourSum(ColourRefinement refinement, ColourTable table, const Weights& weights, Weights bias)
      : ColourModel(std::move(refinement), std::move(table), std::span(weights), bias.size()),
        bias_(std::move(bias)) {}

  size_t outputs() const override { return bias_.size(); }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
    approach(batch);
    for (size_t i = begin; i < end; ++i) {
      const RowSums<__int128>& found = sums(batch.values(i));
      for (size_t k = 0; k < bias_.size(); ++k) *raw++ = bias_[k] + found[k];
    }
  }

 private:
  Weights bias_;
};

// The sum of rows is the first layer of a network.
class ColourNetwork : public ColourModel<int64_t> {
 public:
  ColourNetwork(ColourRefinement refinement, ColourTable table, std::shared_ptr<const Network> network)
      : ColourModel(std::move(refinement), std::move(table), network->rows(), network->stride()),
        network_(std::move(network)) {}

  size_t outputs() const override { return network_->outputs(); }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
    approach(batch);
    network_.run(end - begin, raw, [&](size_t i, float* accumulator) {
      const RowSums<int64_t>& found = sums(batch.values(begin + i));
      network_->clear(accumulator);
      for (size_t k = 0; k < network_->stride(); ++k)
        accumulator[k] = static_cast<float>(accumulator[k] + found[k]);
    });
  }

 private:
  BatchNetwork network_;
};

}  // namespace

std::unique_ptr<RawModel> colour_sum(ColourRefinement refinement, ColourTable rows, Weights weights,
                                     Weights bias) {
  check_weights(weights, bias, rows.size(), "colours");
  return std::make_unique<ColourSum>(std::move(refinement), std::move(rows), weights, std::move(bias));
}
std::unique_ptr<RawModel> colour_network(ColourRefinement refinement, ColourTable rows,
                                         std::shared_ptr<const Network> network) {
  if (network->atoms() != static_cast<size_t>(rows.size()))
    throw InputError("the network has " + std::to_string(network->atoms()) + " inputs for " +
                     std::to_string(rows.size()) + " colours");
  const auto is_finite = [](float weight) { return std::isfinite(weight); };
  if (!std::ranges::all_of(network->rows(), is_finite))
    throw InputError("a weight of the colours is not a finite number");
  return std::make_unique<ColourNetwork>(std::move(refinement), std::move(rows), std::move(network));
}

}  // namespace hstar
