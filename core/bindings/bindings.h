// What the binding files share. bindings/ is the only place that knows Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "base/control.h"
#include "base/errors.h"
#include "heuristics/heuristic.h"
#include "network/network.h"
#include "task/planning_space.h"

namespace hstar {

// A task as Python sees it: a compiled space, shared by all tasks that differ only in the initial state.
struct PyTask {
  std::shared_ptr<const PlanningSpace> space;
  std::vector<Value> initial;  // derived variables evaluated
};

// Any state space with a start; a task is one, too.
struct PyProblem {
  std::shared_ptr<const SearchSpace> space;
  std::vector<uint32_t> start;  // packed

  PyProblem(std::shared_ptr<const SearchSpace> space, std::vector<uint32_t> start)
      : space(std::move(space)), start(std::move(start)) {}
  explicit PyProblem(const PyTask& task) : space(task.space), start(task.space->words()) {
    task.space->packer().pack(task.initial.data(), start.data());
  }
};

// A heuristic together with the space that it refers to.
struct PyHeuristic {
  std::shared_ptr<const SearchSpace> space;  // first, so that the space outlives the heuristic
  std::unique_ptr<Heuristic> heuristic;      // empty once another has taken it over

  Heuristic& get() const {
    if (!heuristic) throw InputError("this heuristic is part of another now");
    return *heuristic;
  }
};

// Several heuristics may use it.
struct PyNetwork {
  std::shared_ptr<const Network> network;
};

// What all searches tell of how they ended.
template <class Result>
nanobind::class_<Result> bind_outcome(nanobind::module_& module, const char* name, const char* doc) {
  return nanobind::class_<Result>(module, name, doc)
      .def_prop_ro("status", [](const Result& r) { return status_name(r.status); })
      .def_prop_ro("expanded", [](const Result& r) { return r.counts.expanded; })
      .def_prop_ro("evaluated", [](const Result& r) { return r.counts.evaluated; })
      .def_prop_ro("generated", [](const Result& r) { return r.counts.generated; })
      .def_prop_ro("reopened", [](const Result& r) { return r.counts.reopened; })
      .def_ro("search_time", &Result::search_time_s)
      .def_ro("cpu_time", &Result::cpu_time_s);
}

// A struct of options: `Name(field=value, ...)` in Python, every field with its default. The caller adds the
// fields; those that are named are set as by assignment, so that mistakes are found in one place.
template <class Struct>
nanobind::class_<Struct> bind_struct(nanobind::module_& module, const char* name, const char* doc) {
  return nanobind::class_<Struct>(module, name, doc)
      .def(
          "__init__",
          [](nanobind::handle self, const nanobind::kwargs& fields) {
            new (nanobind::inst_ptr<Struct>(self)) Struct();
            nanobind::inst_mark_ready(self);
            for (const auto& [field, value] : fields) nanobind::setattr(self, field, value);
          },
          nanobind::sig("def __init__(self, **fields: object) -> None"));
}

// A Python object that something in the core refers to.
inline std::shared_ptr<const void> kept(nanobind::object object) {
  return {new nanobind::object(std::move(object)), [](const nanobind::object* owned) {
            nanobind::gil_scoped_acquire acquire;
            delete owned;
          }};
}

// The values, checked against the task, with derived variables evaluated.
std::vector<Value> checked_state(const PyTask& task, std::vector<Value> values);

void bind_task(nanobind::module_& module);
void bind_grids(nanobind::module_& module);
void bind_heuristics(nanobind::module_& module);
void bind_features(nanobind::module_& module);
void bind_models(nanobind::module_& module);
void bind_own_space(nanobind::module_& module);
void bind_network(nanobind::module_& module);
void bind_nlm(nanobind::module_& module);
void bind_preimages(nanobind::module_& module);
void bind_puzzle_networks(nanobind::module_& module);
void bind_puzzles(nanobind::module_& module);
void bind_sampling(nanobind::module_& module);
void bind_search(nanobind::module_& module);
void bind_translate(nanobind::module_& module);
void bind_wunn(nanobind::module_& module);

}  // namespace hstar
