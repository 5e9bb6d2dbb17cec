// wastar: weighted A* (Pohl, 1970), f = g + weight * h. With an admissible heuristic and weight w >= 1 a
// plan costs at most w times the optimum. Without re-opening (`no_reopen`) the search proves only what it
// knew before it first kept a state closed to which there was a cheaper way.
#include <cmath>

#include "base/errors.h"
#include "search/search.h"

namespace hstar {

const SearchEntry wastar_search = {
    .name = "wastar",
    .description = "weighted A*, orders by g + weight * h, ties by h",
    .reference = "Pohl, AIJ 1970",
    .complete = true,
    .run =
        [](const SearchContext& context) {
          // The weight is a fraction with this denominator: keys stay integers and exact.
          constexpr int64_t kUnit = 1000;
          const double weight = context.options.weight;
          if (!(weight >= 0 && weight <= 1e6)) throw InputError("the weight must be between 0 and 1000000");
          const int32_t scale = context.heuristics[0]->scale();
          return best_first(context, {.g_weight = kUnit * scale,
                                      .h_weight = std::llround(weight * kUnit),
                                      .ties_by_h = true,
                                      .reopen = !context.options.no_reopen,
                                      .greedy = false});
        },
};

}  // namespace hstar
