// Models over the colours of a state's graph, which colour refinement gives (features/colour_refinement.h):
// each colour has a row, and the rows of all colours of a state are summed up, as often as the colours occur.
// Colours without a row count nothing.
#pragma once

#include <memory>
#include <vector>

#include "features/colour_refinement.h"
#include "features/colour_table.h"
#include "heuristics/raw_model.h"
#include "network/network.h"

namespace hstar {

// Which rows a state has.
class ColourRows {
 public:
  ColourRows(ColourRefinement refinement, ColourTable table)
      : refinement_(std::move(refinement)), table_(std::move(table)) {}

  size_t size() const { return static_cast<size_t>(table_.size()); }

  template <class Visit>
  void for_each(const Value* values, Visit visit) {
    for (const Colour colour : refinement_.colours(values))
      if (const int32_t row = table_.find(colour); row != -1) visit(row);
  }

 private:
  ColourRefinement refinement_;
  ColourTable table_;
};

// The outputs are bias + sum of rows.
class ColourSum : public RawModel {
 public:
  // `weights`: (colours, outputs) row-major; there are as many outputs as the bias has.
  ColourSum(ColourRows rows, std::vector<double> weights, std::vector<double> bias);

  size_t outputs() const override { return bias_.size(); }
  bool safe() const override { return true; }  // it never says dead end
  size_t grain() const override { return 64; }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override;

 private:
  ColourRows rows_;
  std::vector<double> weights_;
  std::vector<double> bias_;
};

// The sum of rows is the first layer of a network.
class ColourNetwork : public RawModel {
 public:
  ColourNetwork(ColourRows rows, std::shared_ptr<const Network> network);

  size_t outputs() const override { return network_->outputs(); }
  bool safe() const override { return true; }  // it never says dead end
  size_t grain() const override { return 64; }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override;

 private:
  ColourRows rows_;
  std::shared_ptr<const Network> network_;
  std::vector<float> accumulators_;
  std::vector<float> outputs_;
  Network::Scratch scratch_;
};

}  // namespace hstar
