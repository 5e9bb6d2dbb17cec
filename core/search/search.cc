#include "search/search.h"

#include <algorithm>

#include "base/named.h"

namespace hstar {

void evaluate(Heuristic& heuristic, StateBatch& batch, Control& control, std::vector<Cost>& h) {
  const size_t n = batch.size(), grain = heuristic.grain();
  if (h.size() < n) h.resize(n);
  for (size_t begin = 0; begin < n; begin += grain) {
    heuristic.evaluate(batch, begin, std::min(begin + grain, n), h.data());
    control.keep(grain < kManyStates ? kSlowWork : 1);
  }
}

Status exhausted_status(const Heuristics& heuristics, const Counts& counts) {
  const bool trusted = std::ranges::all_of(heuristics, [](const Heuristic* h) { return h->safe(); });
  return trusted || counts.dead_ends == 0 ? Status::kUnsolvable : Status::kIncomplete;
}

const std::vector<SearchEntry>& search_catalogue() {
  static const std::vector<SearchEntry> entries = {gbfs_search,   lazy_search,    astar_search,
                                                   wastar_search, idastar_search, focal_search};
  return entries;
}

SearchResult run_search(const std::string& name, const SearchJob& job, const Limits& limits,
                        const Observer& observer, const PlanObserver& on_plan) {
  const Heuristics& heuristics = job.heuristics;
  if (heuristics.empty()) throw InputError("a search needs at least one heuristic");
  const SearchEntry& entry = find_named("search", name, search_catalogue(), &SearchEntry::name);
  const size_t memory_before = resident_memory();
  Control control(limits, observer, heuristics[0]->scale());
  SearchResult result;
  control.run(result, [&] { result = entry.run({job, control, on_plan}); });
  result.memory_before = memory_before;
  result.h_scale = heuristics[0]->scale();
  return result;
}

}  // namespace hstar
