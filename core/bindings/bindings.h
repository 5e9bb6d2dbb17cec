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

// The values, checked against the task, with derived variables evaluated.
std::vector<Value> checked_state(const PyTask& task, std::vector<Value> values);

void bind_task(nanobind::module_& module);
void bind_grids(nanobind::module_& module);
void bind_heuristics(nanobind::module_& module);
void bind_features(nanobind::module_& module);
void bind_models(nanobind::module_& module);
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
