// gbfs: greedy best-first search (Doran and Michie, 1966), eager; closed states stay closed.
#include "search/search.h"

namespace hstar {

const SearchEntry gbfs_search = {
    .name = "gbfs",
    .description = "greedy best-first search, orders by h",
    .reference = "Doran and Michie, 1966",
    .complete = true,
    .run =
        [](const SearchContext& context) {
          return best_first(
              context, {.g_weight = 0, .h_weight = 1, .ties_by_h = false, .reopen = false, .greedy = true});
        },
};

}  // namespace hstar
