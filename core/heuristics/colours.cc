#include "heuristics/colours.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"

namespace hstar {

ColourHeuristic::ColourHeuristic(const PlanningSpace& space, ColourRefinement refinement, ColourTable table,
                                 std::vector<double> weights, double bias, std::string name, int32_t scale)
    : space_(space),
      refinement_(std::move(refinement)),
      table_(std::move(table)),
      weights_(std::move(weights)),
      bias_(bias),
      name_(std::move(name)),
      scale_(scale) {
  if (weights_.size() != static_cast<size_t>(table_.size()))
    throw InputError("there are " + std::to_string(weights_.size()) + " weights for " +
                     std::to_string(table_.size()) + " colours");
}

void ColourHeuristic::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  for (size_t i = begin; i < end; ++i) {
    if (space_.is_goal(batch.packed(i))) {
      h[i] = 0;
      continue;
    }
    double sum = bias_;
    for (const Colour colour : refinement_.colours(batch.values(i)))
      if (const int32_t at = table_.find(colour); at != -1) sum += weights_[at];
    h[i] = static_cast<Cost>(std::min<double>(std::round(std::max(0.0, sum) * scale_), kMaxCost));
  }
}

}  // namespace hstar
