// A learned heuristic that is linear in the colours of a state's graph: the sum of the weights of all colours
// that colour refinement gives (see features/colour_refinement.h). Colours without a weight count nothing.
//
// Goal states are worth 0, whatever the weights say; negative sums count as 0.
#pragma once

#include <string>
#include <vector>

#include "features/colour_refinement.h"
#include "features/colour_table.h"
#include "heuristics/heuristic.h"

namespace hstar {

class ColourHeuristic : public Heuristic {
 public:
  // `weights`: one for each colour of the table. Values are in units of 1/scale of one operator's cost.
  ColourHeuristic(const PlanningSpace& space, ColourRefinement refinement, ColourTable table,
                  std::vector<double> weights, double bias, std::string name, int32_t scale);

  std::string name() const override { return name_; }
  bool admissible() const override { return false; }
  bool consistent() const override { return false; }
  bool safe() const override { return true; }  // it never says dead end
  int32_t scale() const override { return scale_; }
  size_t grain() const override { return 64; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;

 private:
  const PlanningSpace& space_;
  ColourRefinement refinement_;
  ColourTable table_;
  std::vector<double> weights_;
  double bias_;
  std::string name_;
  int32_t scale_;
};

}  // namespace hstar
