#pragma once

#include "search/search.h"

namespace hstar {

extern const SearchInfo astar_info;
SearchResult run_astar(const SearchContext& context);

}  // namespace hstar
