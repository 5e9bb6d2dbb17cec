// astar: A* (Hart, Nilsson and Raphael, 1968), ties on f broken by h. Re-opens unless `no_reopen` is set, so
// that an inconsistent admissible heuristic still gives optimal plans.
#include "search/search.h"

namespace hstar {

const SearchEntry astar_search = {
    .name = "astar",
    .description = "A*, orders by g + h, ties by h",
    .reference = "Hart, Nilsson and Raphael, IEEE TSSC 1968",
    .optimal = true,
    .complete = true,
    .run =
        [](const SearchContext& context) {
          const int32_t scale = context.heuristics[0]->scale();
          return best_first(context, {.g_weight = scale,
                                      .h_weight = 1,
                                      .ties_by_h = true,
                                      .reopen = !context.options.no_reopen,
                                      .greedy = false});
        },
};

}  // namespace hstar
