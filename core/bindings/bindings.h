// What the binding files share. bindings/ is the only place that knows Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

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
