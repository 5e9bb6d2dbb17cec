#pragma once

#include "search/search.h"

namespace hstar {

extern const SearchInfo focal_info;
SearchResult run_focal(const SearchContext& context);

}  // namespace hstar
