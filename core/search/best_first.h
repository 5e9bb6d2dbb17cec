// The eager best-first engine: A*, weighted A* and greedy best-first search are configurations of it.
//
// Every successor is generated into one buffer, its hash is computed and its place in the index is fetched
// ahead; then duplicates are found, and all new states of the expansion are evaluated as one batch.
#pragma once

#include "search/search.h"

namespace hstar {

struct BestFirstConfig {
  // Order of the open list: first by g_weight * g + h_weight * h, then by h if `ties_by_h`.
  int64_t g_weight;
  int64_t h_weight;
  bool ties_by_h;
  bool reopen;  // expand a closed state again when a cheaper path to it turns up
  bool greedy;  // only h counts: preferred operators, several heuristics and the counting options apply
};

SearchResult best_first(const SearchContext& context, const BestFirstConfig& config);

}  // namespace hstar
