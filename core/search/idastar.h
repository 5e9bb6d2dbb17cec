#pragma once

#include "search/search.h"

namespace hstar {

extern const SearchInfo idastar_info;
SearchResult run_idastar(const SearchContext& context);

}  // namespace hstar
