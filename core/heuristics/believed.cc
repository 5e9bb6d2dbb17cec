#include "heuristics/believed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"

namespace hstar {

void check_weights(std::span<const double> weights, std::span<const double> bias, size_t inputs,
                   const std::string& inputs_name) {
  if (bias.empty() || weights.size() != inputs * bias.size())
    throw InputError("there are " + std::to_string(weights.size()) + " weights for " +
                     std::to_string(inputs) + " " + inputs_name + " and " + std::to_string(bias.size()) +
                     " outputs");
  const auto fine = [](double weight) { return std::abs(weight) < 1e100; };
  if (!std::ranges::all_of(weights, fine) || !std::ranges::all_of(bias, fine))
    throw InputError("a weight of the " + inputs_name + " is not a finite number");
}

void check_belief(const RawModel& model, const Belief& belief, const Heuristic* lower,
                  const std::string& name) {
  const Estimate& estimate = belief.estimate();
  if (model.outputs() != estimate.outputs())
    throw InputError("heuristic '" + name + "': the model gives " + std::to_string(model.outputs()) +
                     " numbers, the estimate '" + estimate.name() + "' needs " +
                     std::to_string(estimate.outputs()));
  if (belief.is_bounded() && !lower)
    throw InputError("heuristic '" + name + "': the rule 'bounded' needs a lower bound");
  if (lower && !lower->admissible())
    throw InputError("heuristic '" + name + "': '" + lower->name() +
                     "' is not admissible and so no lower bound");
}

namespace {

double number(const Heuristic& part, Cost value) {
  if (value == kDeadEnd) return std::numeric_limits<double>::infinity();
  return static_cast<double>(value) / part.scale();
}

class BelievedHeuristic : public Heuristic {
 public:
  BelievedHeuristic(const SearchSpace& space, BelievedParts parts, const std::string& name, int32_t scale)
      : Heuristic({name, /*admissible=*/false, /*consistent=*/false, is_safe(parts)}, scale),
        space_(space),
        model_(std::move(parts.model)),
        belief_(std::move(parts.belief)),
        base_(std::move(parts.base)),
        lower_(std::move(parts.lower)) {
    check_belief(*model_, belief_, lower_.get(), name);
  }

  size_t grain() const override {
    constexpr size_t kFew = 8;  // parts are slow, but a model is faster for several states at once
    const size_t most = model_->grain();
    return most == RawModel::kWholeBatch || (!base_ && !lower_) ? most : std::min(most, kFew);
  }

  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    if (begin == end) return;
    const size_t width = model_->outputs();
    raw_.resize(std::max(raw_.size(), (end - begin) * width));
    model_->run(batch, begin, end, raw_.data());
    if (base_) {
      base_values_.resize(std::max(base_values_.size(), end));
      base_->evaluate(batch, begin, end, base_values_.data());
    }
    const bool shared = lower_ == base_;
    if (lower_ && !shared) {
      low_values_.resize(std::max(low_values_.size(), end));
      lower_->evaluate(batch, begin, end, low_values_.data());
    }
    const std::vector<Cost>& low_values = shared ? base_values_ : low_values_;
    goals_.resize(std::max(goals_.size(), end - begin));
    space_.goals(batch.packed(begin), end - begin, goals_.data());
    for (size_t i = begin; i < end; ++i) {
      const Cost base = base_ ? base_values_[i] : 0, lower = lower_ ? low_values[i] : 0;
      h[i] = goals_[i - begin] ? 0 : value(&raw_[(i - begin) * width], base, lower);
    }
  }

 private:
  static bool is_safe(const BelievedParts& parts) {
    const auto safe = [](const auto& part) { return !part || part->safe(); };
    return parts.model->safe() && safe(parts.base) && safe(parts.lower);
  }

  Cost value(const double* raw, Cost base, Cost lower) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const bool doomed = (raw[0] == kInfinity && model_->safe()) || (base == kDeadEnd && base_->safe()) ||
                        (lower == kDeadEnd && lower_->safe());
    if (doomed) return kDeadEnd;
    const double h = belief_.value(raw, base_ ? number(*base_, base) : 0,
                                   lower_ ? number(*lower_, lower) : Belief::kNoBound);
    const auto is_nan = [](double x) { return std::isnan(x); };
    if (is_nan(h) || std::any_of(raw, raw + model_->outputs(), is_nan))
      throw InputError("heuristic '" + name() + "': the model gives NaN for a state");
    if (h == kInfinity) return kDeadEnd;
    const double units = std::max(0.0, h) * scale();
    return static_cast<Cost>(
        std::min<double>(belief_.makes_promise() ? std::floor(units) : std::round(units), kMaxCost));
  }

  const SearchSpace& space_;
  std::shared_ptr<RawModel> model_;
  Belief belief_;
  std::shared_ptr<Heuristic> base_;
  std::shared_ptr<Heuristic> lower_;
  std::vector<double> raw_;  // scratch, as the next
  std::vector<char> goals_;
  std::vector<Cost> base_values_, low_values_;  // by the number of the state
};

}  // namespace

std::unique_ptr<Heuristic> believed_heuristic(const SearchSpace& space, BelievedParts parts,
                                              const std::string& name, int32_t scale) {
  return std::make_unique<BelievedHeuristic>(space, std::move(parts), name, scale);
}

}  // namespace hstar
