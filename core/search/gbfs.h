#pragma once

#include "search/search.h"

namespace hstar {

extern const SearchInfo gbfs_info;
SearchResult run_gbfs(const SearchContext& context);

}  // namespace hstar
