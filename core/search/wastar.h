#pragma once

#include "search/search.h"

namespace hstar {

extern const SearchInfo wastar_info;
SearchResult run_wastar(const SearchContext& context);

}  // namespace hstar
