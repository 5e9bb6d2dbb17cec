#include "heuristics/relaxed_plan_model.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hstar {

RelaxedPlanModel::RelaxedPlanModel(const PlanningSpace& space, std::vector<double> weights,
                                   std::vector<double> bias)
    : space_(space), ff_(space), weights_(std::move(weights)), bias_(std::move(bias)) {
  check_weights(weights_, bias_, kInputs, "numbers of a relaxed plan");
}

void RelaxedPlanModel::run(StateBatch& batch, size_t begin, size_t end, double* raw) {
  for (size_t i = begin; i < end; ++i, raw += outputs()) {
    const Value* values = batch.values(i);
    if (ff_.value(values) == kDeadEnd) {
      std::fill_n(raw, outputs(), std::numeric_limits<double>::infinity());
      continue;
    }
    const auto open = std::ranges::count_if(
        space_.task().goal, [&](const Fact& fact) { return values[fact.variable] != fact.value; });
    const auto operators = static_cast<double>(ff_.relaxed_plan().size());
    const auto deletes = static_cast<double>(ff_.ignored_deletes());
    const double inputs[kInputs] = {static_cast<double>(open), operators, deletes,
                                    operators > 0 ? deletes / operators : 0};
    for (size_t k = 0; k < outputs(); ++k) {
      raw[k] = bias_[k];
      for (size_t j = 0; j < kInputs; ++j) raw[k] += weights_[k * kInputs + j] * inputs[j];
    }
  }
}

}  // namespace hstar
