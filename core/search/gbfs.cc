// gbfs: greedy best-first search (Doran and Michie, 1966), eager; closed states stay closed.
#include "search/best_first.h"

namespace hstar {
namespace {

SearchResult run(const SearchContext& context) {
  return best_first(context,
                    {.g_weight = 0, .h_weight = 1, .ties_by_h = false, .reopen = false, .greedy = true});
}

}  // namespace

const SearchEntry gbfs_search = {
    {
        .name = "gbfs",
        .description = "greedy best-first search, orders by h",
        .reference = "Doran and Michie, 1966",
        .optimal = false,
        .complete = true,
    },
    run,
};

}  // namespace hstar
