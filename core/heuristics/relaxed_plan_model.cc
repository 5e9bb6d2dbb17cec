// A linear function of four numbers of a state, by the relaxed plan of ff:
//
//   goals that do not hold, operators of the plan, atoms that these delete in all, and on average (0 if none)
//
// The model "Linear" of Núñez-Molina, Asai, Mesejo and Fernández-Olivares (arXiv 2308.11905); they count the
// deletes of the operators as written, here are those that the finite-domain encoding shows (see ff.cc). A
// state without a relaxed plan is a dead end: all its outputs are infinite.
#include "heuristics/ff.h"
#include "heuristics/raw_model.h"

namespace hstar {
namespace {

class RelaxedPlanModel : public RawModel {
 public:
  RelaxedPlanModel(const PlanningSpace& space, Weights weights, Weights bias)
      : space_(space), ff_(space), weights_(std::move(weights)), bias_(std::move(bias)) {
    check_weights(weights_, bias_, kInputs, "numbers of a relaxed plan");
  }

  size_t outputs() const override { return bias_.size(); }
  bool safe() const override { return ff_.safe(); }
  size_t grain() const override { return ff_.grain(); }

  void run(StateBatch& batch, size_t begin, size_t end, double* raw) override {
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

 private:
  static constexpr size_t kInputs = 4;

  const PlanningSpace& space_;
  FF ff_;
  Weights weights_, bias_;
};

}  // namespace

std::unique_ptr<RawModel> relaxed_plan_model(const PlanningSpace& space, Weights weights, Weights bias) {
  return std::make_unique<RelaxedPlanModel>(space, std::move(weights), std::move(bias));
}

}  // namespace hstar
