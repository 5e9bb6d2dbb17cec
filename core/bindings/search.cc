#include "search/search.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "base/memory.h"
#include "bindings/bindings.h"
#include "bindings/observer.h"
#include "bindings/py_heuristic.h"
#include "bindings/sampling_arrays.h"

namespace nb = nanobind;

namespace hstar {
namespace {

TieBreaking tie_breaking(const std::string& name) {
  return named<TieBreaking>(
      "tie-breaking", name,
      {{"fifo", TieBreaking::kFifo}, {"lifo", TieBreaking::kLifo}, {"random", TieBreaking::kRandom}});
}

const char* tie_name(TieBreaking ties) {
  return ties == TieBreaking::kFifo ? "fifo" : ties == TieBreaking::kLifo ? "lifo" : "random";
}

SearchResult search(const PyProblem& problem, const std::string& name, std::vector<PyHeuristic*> heuristics,
                    const SearchOptions& options, const Limits& limits, PyHeuristic* anchor,
                    nb::object progress, nb::object on_plan) {
  const auto native = [&](PyHeuristic* part) {
    if (part->space != problem.space)
      throw InputError("heuristic '" + part->get().name() + "' was made for another problem");
    return &part->get();
  };
  Heuristics list;
  for (PyHeuristic* part : heuristics) list.push_back(native(part));
  const SearchJob job{*problem.space, problem.start, list, anchor ? native(anchor) : nullptr, options};
  auto observer = std::make_shared<PythonObserver>(progress);
  auto plan_observer = std::make_shared<PythonObserver>(on_plan);
  SearchResult result;
  {
    nb::gil_scoped_release release;
    result = run_search(
        name, job, limits, [observer](const Progress& record) { return (*observer)(record); },
        [plan_observer](const FoundPlan& found) { return (*plan_observer)(found); });
  }
  observer->rethrow();
  plan_observer->rethrow();
  return result;
}

void bind_options(nb::module_& module) {
  nb::class_<Limits>(module, "Limits", "What may end a search; infinite unless set.")
      .def(nb::init<>())
      .def_rw("time", &Limits::time_s)
      .def_rw("cpu_time", &Limits::cpu_time_s)
      .def_rw("memory", &Limits::memory_bytes)
      .def_rw("evaluations", &Limits::evaluations)
      .def_rw("expansions", &Limits::expansions);
  nb::class_<SearchOptions>(module, "SearchOptions", "Options of all searches, with their defaults.")
      .def(nb::init<>())
      .def_rw("weight", &SearchOptions::weight)
      .def_prop_rw(
          "ties", [](const SearchOptions& options) { return tie_name(options.ties); },
          [](SearchOptions& options, const std::string& name) { options.ties = tie_breaking(name); })
      .def_rw("seed", &SearchOptions::seed)
      .def_rw("preferred", &SearchOptions::preferred)
      .def_rw("boost", &SearchOptions::boost)
      .def_rw("goal_at_generation", &SearchOptions::goal_at_generation)
      .def_rw("evaluate_duplicates", &SearchOptions::evaluate_duplicates)
      .def_rw("bound", &SearchOptions::bound)
      .def_rw("anytime", &SearchOptions::anytime)
      .def_rw("anchor_every", &SearchOptions::anchor_every)
      .def_rw("guide_weight", &SearchOptions::guide_weight)
      .def_rw("optimistic", &SearchOptions::optimistic)
      .def_rw("batch", &SearchOptions::batch);
}

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<Progress>(module, "Progress", "What a running search reports about itself.")
      .def_prop_ro("expanded", [](const Progress& p) { return p.counts.expanded; })
      .def_prop_ro("evaluated", [](const Progress& p) { return p.counts.evaluated; })
      .def_prop_ro("generated", [](const Progress& p) { return p.counts.generated; })
      .def_prop_ro("best_h",
                   [](const Progress& p) -> std::optional<double> {
                     if (std::isnan(p.best_h)) return std::nullopt;
                     return p.best_h;
                   })
      .def_ro("time", &Progress::time_s)
      .def_ro("memory", &Progress::memory_bytes);
  nb::class_<FoundPlan>(module, "FoundPlan", "A plan that is better than all before it.")
      .def_prop_ro("plan", [](const FoundPlan& found) { return found.plan; })
      .def_ro("lower_bound", &FoundPlan::lower_bound)
      .def_ro("time", &FoundPlan::time_s);
  nb::class_<SearchInfo>(module, "SearchInfo", "What a search claims.")
      .def_ro("name", &SearchInfo::name)
      .def_ro("description", &SearchInfo::description)
      .def_ro("reference", &SearchInfo::reference)
      .def_ro("optimal", &SearchInfo::optimal)
      .def_ro("complete", &SearchInfo::complete);
  module.def(
      "searches",
      [] {
        std::vector<SearchInfo> result;
        for (const SearchEntry& entry : search_catalogue()) result.push_back(entry.info);
        return result;
      },
      "All searches.");
  nb::class_<SearchResult>(module, "SearchResult", "How a search ended.")
      .def_prop_ro("status", [](const SearchResult& r) { return status_name(r.status); })
      .def_ro("plan", &SearchResult::plan)
      .def_prop_ro("expanded", [](const SearchResult& r) { return r.counts.expanded; })
      .def_prop_ro("evaluated", [](const SearchResult& r) { return r.counts.evaluated; })
      .def_prop_ro("generated", [](const SearchResult& r) { return r.counts.generated; })
      .def_prop_ro("reopened", [](const SearchResult& r) { return r.counts.reopened; })
      .def_prop_ro("dead_ends", [](const SearchResult& r) { return r.counts.dead_ends; })
      .def_prop_ro("anchored", [](const SearchResult& r) { return r.counts.anchored; })
      .def_prop_ro("lower_bound",
                   [](const SearchResult& r) -> std::optional<Cost> {
                     if (r.lower_bound == kNoBound) return std::nullopt;
                     return r.lower_bound;
                   })
      .def_prop_ro("initial_h",
                   [](const SearchResult& r) -> std::optional<double> {
                     if (r.initial_h == kDeadEnd) return std::nullopt;
                     return static_cast<double>(r.initial_h) / r.h_scale;
                   })
      .def_ro("search_time", &SearchResult::search_time_s)
      .def_ro("cpu_time", &SearchResult::cpu_time_s)
      .def_ro("registered_states", &SearchResult::registered_states)
      .def_ro("state_bytes", &SearchResult::state_bytes)
      .def_ro("memory_before_search", &SearchResult::memory_before);
  nb::class_<PyProblem>(module, "Problem", "A state space with a start.")
      .def(nb::init<const PyTask&>(), nb::arg("task"))
      .def_prop_ro(
          "width", [](const PyProblem& self) { return self.space->width(); }, "Numbers of a state.")
      .def_prop_ro("words", [](const PyProblem& self) { return self.space->words(); })
      .def_prop_ro(
          "unit", [](const PyProblem& self) { return self.space->unit(); },
          "What a cost of 1 is in the units of the search.");
  nb::implicitly_convertible<PyTask, PyProblem>();
  bind_options(module);
  module.def("search", &search, nb::arg("problem"), nb::arg("name"), nb::arg("heuristics"), nb::kw_only(),
             nb::arg("options") = SearchOptions(), nb::arg("limits") = Limits(),
             nb::arg("anchor") = nb::none(), nb::arg("progress") = nb::none(),
             nb::arg("on_plan") = nb::none(), "Runs a search; a limit is a status, not an error.");
  module.def("peak_memory", &peak_memory, "Peak resident memory of the process in bytes.");
}

}  // namespace hstar
