// What every search takes and gives.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "base/control.h"
#include "heuristics/heuristic.h"
#include "search/open_list.h"
#include "spaces/search_space.h"

namespace hstar {

struct SearchOptions {
  double weight = 1;  // wastar: of the heuristic in f = g + weight * h
  TieBreaking ties = TieBreaking::kFifo;
  uint64_t seed = 0;
  bool preferred = false;            // use preferred operators
  int32_t boost = 1000;              // head start of preferred lists when a heuristic reaches a new minimum
  bool goal_at_generation = false;   // gbfs: test for goals when a state is generated
  bool evaluate_duplicates = false;  // gbfs: count an evaluation for duplicates too
  double bound = 1;                  // focal: cost of the plan to the lower bound on all plans, at most
  bool anytime = false;              // focal: goes on to better plans until one is optimal
  int32_t anchor_every = 5;          // focal: so many expansions have one by the anchor; 0 for none
  // focal, lazy: of the guide's h, beside the cost so far; without it h alone is the order
  double guide_weight = std::numeric_limits<double>::infinity();
  Cost max_cost = kDeadEnd;  // lazy: only plans that cost less
  bool optimistic = false;   // focal: any open node is taken until there is a plan
  // astar, wastar, gbfs: nodes that are expanded together, by g + h only such with equal keys; 0: as the
  // space likes it
  uint32_t batch = 0;
  bool no_reopen = false;  // astar, wastar: a closed state stays closed, whatever way to it turns up
};

constexpr Cost kNoBound = -1;

struct SearchResult : Outcome {
  std::vector<int32_t> plan;    // operators; also of an anytime search that a limit ended
  Cost lower_bound = kNoBound;  // on the cost of all plans
  Cost initial_h = 0;
  int32_t h_scale = 1;  // initial_h and best_h are in units of 1/h_scale
  Cost best_h = kDeadEnd;
  size_t registered_states = 0;
  size_t state_bytes = 0;  // registry, node table and open lists at the end
  size_t memory_before = 0;
};

// Runs the body of a search; running out of memory or of a limit is one of its outcomes, and the counts are
// kept.
template <class Search>
Status guard_limits(const Control& control, const Search& search) {
  try {
    return search();
  } catch (const std::bad_alloc&) {
    return Status::kMemoryLimit;
  } catch (const Stopped&) {
    return control.status();
  }
}

using Heuristics = std::vector<Heuristic*>;

// A heuristic with this grain is quick; of others a state takes so many microseconds, at a guess.
constexpr size_t kManyStates = 64;
constexpr uint32_t kSlowWork = 50;
constexpr int64_t kWeightUnit = 1000;  // weights are fractions with this denominator: keys stay integers

// Evaluates a whole batch; throws Stopped if a limit runs out.
void evaluate(Heuristic& heuristic, StateBatch& batch, Control& control, std::vector<Cost>& h);

// A plan that is better than all before it. The function returns false to interrupt the search.
struct FoundPlan {
  const std::vector<int32_t>& plan;
  Cost lower_bound;
  double time_s;
};
using PlanObserver = std::function<bool(const FoundPlan&)>;

// Of a search that has run out of states: a proof only if no state was given up on the word of a heuristic
// that may be wrong about dead ends.
Status exhausted_status(const Heuristics& heuristics, const Counts& counts);

// Runs a search by name. Throws InputError for an unknown name
// or options that do not go together, UnsupportedError for what the search cannot do.
struct SearchJob {
  const SearchSpace& space;
  const std::vector<uint32_t>& initial;  // packed
  const Heuristics& heuristics;
  Heuristic* anchor;  // focal: an admissible heuristic, or none
  const SearchOptions& options;
};
SearchResult run_search(const std::string& name, const SearchJob& job, const Limits& limits,
                        const Observer& observer, const PlanObserver& on_plan);

struct SearchContext : SearchJob {
  Control& control;
  const PlanObserver& on_plan;  // of searches that find several plans
};

// Claims are data: docs and contract tests read them.
struct SearchEntry {
  const char* name;
  const char* description;
  const char* reference;
  bool optimal = false;   // with an admissible heuristic
  bool complete = false;  // with a safe heuristic and enough memory
  SearchResult (*run)(const SearchContext& context);
};

// The best-first engine (best_first.cc).
struct BestFirstConfig {
  // Order of the open list: first by g_weight * g + h_weight * h, then by h if `ties_by_h`.
  int64_t g_weight;
  int64_t h_weight;
  bool ties_by_h;
  bool reopen;  // expand a closed state again when a cheaper path to it turns up; else nothing more is proven
  bool greedy;  // only h counts: preferred operators, several heuristics and the counting options apply
};

SearchResult best_first(const SearchContext& context, const BestFirstConfig& config);

// Each stands, with its name, in its own file.
extern const SearchEntry gbfs_search, lazy_search, astar_search, wastar_search, idastar_search, focal_search;

const std::vector<SearchEntry>& search_catalogue();

}  // namespace hstar
