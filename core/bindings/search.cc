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

namespace nb = nanobind;

namespace hstar {
namespace {

TieBreaking tie_breaking(const std::string& name) {
  if (name == "fifo") return TieBreaking::kFifo;
  if (name == "lifo") return TieBreaking::kLifo;
  if (name == "random") return TieBreaking::kRandom;
  throw InputError("unknown tie-breaking '" + name + "' (known: fifo, lifo, random)");
}

SearchResult search(const PyTask& task, const std::string& name, std::vector<PyHeuristic*> heuristics,
                    std::optional<double> time_limit, std::optional<size_t> memory_limit,
                    std::optional<uint64_t> max_evaluations, std::optional<uint64_t> max_expansions,
                    double weight, const std::string& ties, uint64_t seed, bool preferred, int32_t boost,
                    bool goal_at_generation, bool evaluate_duplicates, double bound, bool anytime,
                    int32_t anchor_every, PyHeuristic* anchor, nb::object progress, nb::object on_plan) {
  Limits limits;
  if (time_limit) limits.time_s = *time_limit;
  if (memory_limit) limits.memory_bytes = *memory_limit;
  if (max_evaluations) limits.evaluations = *max_evaluations;
  if (max_expansions) limits.expansions = *max_expansions;
  const SearchOptions options{
      weight,  tie_breaking(ties), seed, preferred, boost, goal_at_generation, evaluate_duplicates, bound,
      anytime, anchor_every};
  const auto native = [&](PyHeuristic* part) {
    if (part->task.space != task.space)
      throw InputError("heuristic '" + part->get().name() + "' was made for another task");
    return &part->get();
  };
  Heuristics list;
  for (PyHeuristic* part : heuristics) list.push_back(native(part));
  Heuristic* const native_anchor = anchor ? native(anchor) : nullptr;
  auto observer = std::make_shared<PythonObserver>(progress);
  auto plan_observer = std::make_shared<PythonObserver>(on_plan);
  SearchResult result;
  {
    nb::gil_scoped_release release;
    result = run_search(
        name, *task.space, task.initial, list, native_anchor, options, limits,
        [observer](const Progress& record) { return (*observer)(record); },
        [plan_observer](const FoundPlan& found) { return (*plan_observer)(found); });
  }
  observer->rethrow();
  plan_observer->rethrow();
  return result;
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
  module.def("search", &search, nb::arg("task"), nb::arg("name"), nb::arg("heuristics"), nb::kw_only(),
             nb::arg("time_limit") = nb::none(), nb::arg("memory_limit") = nb::none(),
             nb::arg("max_evaluations") = nb::none(), nb::arg("max_expansions") = nb::none(),
             nb::arg("weight") = 1.0, nb::arg("ties") = "fifo", nb::arg("seed") = 0,
             nb::arg("preferred") = false, nb::arg("boost") = 1000, nb::arg("goal_at_generation") = false,
             nb::arg("evaluate_duplicates") = false, nb::arg("bound") = 1.0, nb::arg("anytime") = false,
             nb::arg("anchor_every") = 5, nb::arg("anchor") = nb::none(), nb::arg("progress") = nb::none(),
             nb::arg("on_plan") = nb::none(), "Runs a search; a limit is a status, not an error.");
  module.def("peak_memory", &peak_memory, "Peak resident memory of the process in bytes.");
}

}  // namespace hstar
