// All searches by name. One line a search; the name stands in its own file.
#include "search/astar.h"
#include "search/focal.h"
#include "search/gbfs.h"
#include "search/idastar.h"
#include "search/lazy.h"
#include "search/search.h"
#include "search/wastar.h"

namespace hstar {

const std::vector<SearchEntry>& search_catalogue() {
  static const std::vector<SearchEntry> entries = {
      {gbfs_info, run_gbfs},     {lazy_info, run_lazy},       {astar_info, run_astar},
      {wastar_info, run_wastar}, {idastar_info, run_idastar}, {focal_info, run_focal},
  };
  return entries;
}

}  // namespace hstar
