// Models over the colours of a state's graph, which colour refinement gives (features/colour_refinement.h):
// each colour has a row, and the rows of all colours of a state are summed up, as often as the colours occur.
// Colours without a row count nothing.
#include "base/errors.h"
#include "heuristics/raw_model.h"

namespace hstar {
namespace {

class ColourModel : public RawModel {
 public:
  ColourModel(ColourRefinement refinement, ColourTable table)
      : refinement_(std::move(refinement)), table_(std::move(table)) {}

  bool safe() const override { return true; }  // it never says dead end
  size_t grain() const override { return 8; }

 protected:
  size_t rows() const { return static_cast<size_t>(table_.size()); }
  template <class Visit>
  void for_each_row(const Value* values, const Visit& visit) {
    for (const Colour colour : refinement_.colours(values))
      if (const int32_t row = table_.find(colour); row != -1) visit(row);
  }

 private:
  ColourRefinement refinement_;
  ColourTable table_;
};

// The outputs are bias + sum of rows.
class ColourSum : public ColourModel {
 public:
  ColourSum(ColourRefinement refinement, ColourTable table, Weights weights, Weights bias)
      : ColourModel(std::move(refinement), std::move(table)),
        weights_(std::move(weights)),
        bias_(std::move(bias)) {
    check_weights(weights_, bias_, rows(), "colours");
  }

  size_t outputs() const override { return bias_.size(); }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
    const size_t width = bias_.size();
    for (size_t i = begin; i < end; ++i, raw += width) {
      if (width == 1) {  // kept in a register
        double sum = bias_[0];
        for_each_row(batch.values(i), [&](int32_t row) { sum += weights_[row]; });
        raw[0] = sum;
        continue;
      }
      std::ranges::copy(bias_, raw);
      for_each_row(batch.values(i), [&](int32_t row) {
        const double* weights = &weights_[static_cast<size_t>(row) * width];
        for (size_t k = 0; k < width; ++k) raw[k] += weights[k];
      });
    }
  }

 private:
  Weights weights_, bias_;
};

// The sum of rows is the first layer of a network.
class ColourNetwork : public ColourModel {
 public:
  ColourNetwork(ColourRefinement refinement, ColourTable table, std::shared_ptr<const Network> network)
      : ColourModel(std::move(refinement), std::move(table)), network_(std::move(network)) {
    if (network_->atoms() != rows())
      throw InputError("the network has " + std::to_string(network_->atoms()) + " inputs for " +
                       std::to_string(rows()) + " colours");
  }

  size_t outputs() const override { return network_->outputs(); }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
    network_.run(end - begin, raw, [&](size_t i, float* accumulator) {
      network_->clear(accumulator);
      for_each_row(batch.values(begin + i), [&](int32_t row) { network_->add(accumulator, row); });
    });
  }

 private:
  BatchNetwork network_;
};

}  // namespace

std::unique_ptr<RawModel> colour_sum(ColourRefinement refinement, ColourTable rows, Weights weights,
                                     Weights bias) {
  return std::make_unique<ColourSum>(std::move(refinement), std::move(rows), std::move(weights),
                                     std::move(bias));
}
std::unique_ptr<RawModel> colour_network(ColourRefinement refinement, ColourTable rows,
                                         std::shared_ptr<const Network> network) {
  return std::make_unique<ColourNetwork>(std::move(refinement), std::move(rows), std::move(network));
}

}  // namespace hstar
