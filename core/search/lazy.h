#pragma once

#include "search/search.h"

namespace hstar {

extern const SearchInfo lazy_info;
SearchResult run_lazy(const SearchContext& context);

}  // namespace hstar
