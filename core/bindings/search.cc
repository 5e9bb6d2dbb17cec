#include "search/search.h"

#include <cmath>

#include "bindings/bindings.h"

namespace hstar {
namespace {

SearchResult search(const PyProblem& problem, const std::string& name, std::vector<PyHeuristic*> heuristics,
                    const SearchOptions& options, const Limits& limits, PyHeuristic* anchor,
                    nb::object progress, nb::object on_plan) {
  const auto native = [&](PyHeuristic* part) {
    check(part->space == problem.space,
          "heuristic '" + part->get().name() + "' was made for another problem");
    return &part->get();
  };
  Heuristics list;
  for (PyHeuristic* part : heuristics) list.push_back(native(part));
  const SearchJob job{*problem.space, problem.start, list, anchor ? native(anchor) : nullptr, options};
  PythonObserver plan_observer(std::move(on_plan));
  SearchResult result = observed(std::move(progress), [&](const Observer& observer) {
    const auto found = [&](const FoundPlan& plan) { return plan_observer(plan); };
    return run_search(name, job, limits, observer, found);
  });
  plan_observer.rethrow();
  return result;
}

// None in Python if it is not.
template <class T>
std::optional<T> known(bool is_known, T value) {
  return is_known ? std::optional<T>(value) : std::nullopt;
}

void bind_options(nb::module_& module) {
  bind_struct<Limits>(module, "Limits", "What may end a search; infinite unless set.", "time",
                      &Limits::time_s, "cpu_time", &Limits::cpu_time_s, "memory", &Limits::memory_bytes,
                      "evaluations", &Limits::evaluations, "expansions", &Limits::expansions);
  using Options = SearchOptions;
  auto options = bind_struct<Options>(
      module, "SearchOptions", "Options of all searches, with their defaults.", "weight", &Options::weight,
      "seed", &Options::seed, "preferred", &Options::preferred, "boost", &Options::boost,
      "goal_at_generation", &Options::goal_at_generation, "evaluate_duplicates",
      &Options::evaluate_duplicates, "bound", &Options::bound, "anytime", &Options::anytime, "anchor_every",
      &Options::anchor_every, "guide_weight", &Options::guide_weight, "max_cost", &Options::max_cost,
      "optimistic", &Options::optimistic, "batch", &Options::batch, "no_reopen", &Options::no_reopen);
  bind_choice(options, "ties", &Options::ties, "tie-breaking",
              {{"fifo", TieBreaking::kFifo}, {"lifo", TieBreaking::kLifo}, {"random", TieBreaking::kRandom}});
}

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<Progress>(module, "Progress", "What a running search reports about itself.")
      .def_prop_ro("expanded", [](const Progress& p) { return p.counts.expanded; })
      .def_prop_ro("evaluated", [](const Progress& p) { return p.counts.evaluated; })
      .def_prop_ro("generated", [](const Progress& p) { return p.counts.generated; })
      .def_prop_ro("best_h", [](const Progress& p) { return known(!std::isnan(p.best_h), p.best_h); })
      .def_ro("time", &Progress::time_s)
      .def_ro("memory", &Progress::memory_bytes);
  nb::class_<FoundPlan>(module, "FoundPlan", "A plan that is better than all before it.")
      .def_prop_ro("plan", [](const FoundPlan& found) { return found.plan; })
      .def_ro("lower_bound", &FoundPlan::lower_bound)
      .def_ro("time", &FoundPlan::time_s);
  using Info = SearchEntry;
  readable(nb::class_<Info>(module, "SearchInfo", "What a search claims."), "name", &Info::name,
           "description", &Info::description, "reference", &Info::reference, "optimal", &Info::optimal,
           "complete", &Info::complete);
  module.def("searches", &search_catalogue, "All searches.");
  bind_outcome<SearchResult>(module, "SearchResult", "How a search ended.")
      .def_ro("plan", &SearchResult::plan)
      .def_prop_ro("dead_ends", [](const SearchResult& r) { return r.counts.dead_ends; })
      .def_prop_ro("anchored", [](const SearchResult& r) { return r.counts.anchored; })
      .def_prop_ro("lower_bound",
                   [](const SearchResult& r) { return known(r.lower_bound != kNoBound, r.lower_bound); })
      .def_prop_ro("initial_h",
                   [](const SearchResult& r) {
                     return known(r.initial_h != kDeadEnd, static_cast<double>(r.initial_h) / r.h_scale);
                   })
      .def_ro("registered_states", &SearchResult::registered_states)
      .def_ro("state_bytes", &SearchResult::state_bytes)
      .def_ro("memory_before_search", &SearchResult::memory_before);
  nb::class_<PyProblem>(module, "Problem", "A state space with a start.")
      .def(nb::init<const PyTask&>(), "task"_a)
      .def_prop_ro(
          "width", [](const PyProblem& self) { return self.space->width(); }, "Numbers of a state.")
      .def_prop_ro("words", [](const PyProblem& self) { return self.space->words(); })
      .def_prop_ro(
          "unit", [](const PyProblem& self) { return self.space->unit(); },
          "What a cost of 1 is in the units of the search.");
  nb::implicitly_convertible<PyTask, PyProblem>();
  bind_options(module);
  module.def("search", &search, "problem"_a, "name"_a, "heuristics"_a, nb::kw_only(),
             "options"_a = SearchOptions(), "limits"_a = Limits(), "anchor"_a = nb::none(),
             "progress"_a = nb::none(), "on_plan"_a = nb::none(),
             "Runs a search; a limit is a status, not an error.");
  module.def(
      "keep_limits", [] { keep_limits(kWorkOfSlice); },
      "For slow models in Python: raises if a limit of the search that asks for their values is reached.");
  module.def("peak_memory", &peak_memory, "Peak resident memory of the process in bytes.");
}

}  // namespace hstar
