// A linear function of four numbers of a state, by the relaxed plan of ff:
//
//   goals that do not hold, operators of the plan, atoms that these delete in all, and on average (0 if none)
//
// The model "Linear" of Núñez-Molina, Asai, Mesejo and Fernández-Olivares (arXiv 2308.11905); they count the
// deletes of the operators as written, here are those that the finite-domain encoding shows (see ff.cc). A
// state without a relaxed plan is a dead end: all its outputs are infinite.
#pragma once

#include <vector>

#include "heuristics/ff.h"
#include "heuristics/raw_model.h"
#include "task/planning_space.h"

namespace hstar {

class RelaxedPlanModel : public RawModel {
 public:
  static constexpr size_t kInputs = 4;

  // `weights`: (outputs, kInputs) row-major; there are as many outputs as the bias has. Plans are cheapest by
  // the costs of this space, whose states must be those that are evaluated.
  RelaxedPlanModel(const PlanningSpace& space, std::vector<double> weights, std::vector<double> bias);

  size_t outputs() const override { return bias_.size(); }
  bool safe() const override { return ff_.safe(); }
  size_t grain() const override { return ff_.grain(); }
  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override;

 private:
  const PlanningSpace& space_;
  FF ff_;
  std::vector<double> weights_;
  std::vector<double> bias_;
};

}  // namespace hstar
