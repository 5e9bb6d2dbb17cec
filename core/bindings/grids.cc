// Grids, lattices and prolonged search: a state is a list of numbers at the border, as with puzzles; where
// there are many of them, it is its number, row by row.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/observer.h"
#include "bindings/py_heuristic.h"
#include "bindings/sampling_arrays.h"
#include "heuristics/grid_values.h"
#include "sampling/prolonged.h"
#include "search/grid_astar.h"
#include "spaces/blocks.h"
#include "spaces/grid_space.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"

namespace hstar {
namespace {

using Numbers = std::vector<int64_t>;
using Cells = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Costs = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Neighbours = std::vector<std::tuple<uint32_t, double>>;

std::shared_ptr<const GridMap> grid_map(const Cells& blocked, const std::optional<Costs>& costs,
                                        int neighbours, bool cut_corners) {
  std::span<const double> prices;
  if (costs) {
    check(costs->shape(0) == blocked.shape(0) && costs->shape(1) == blocked.shape(1),
          "obstacles and costs must have a number for each cell");
    prices = {costs->data(), costs->size()};
  }
  return std::make_shared<const GridMap>(blocked.shape(0), blocked.shape(1),
                                         std::span{blocked.data(), blocked.size()}, prices, neighbours,
                                         cut_corners);
}

Limits limits_of(std::optional<double> time_limit, std::optional<size_t> memory_limit,
                 std::optional<uint64_t> max_expansions) {
  Limits limits;
  if (time_limit) limits.time_s = *time_limit;
  if (memory_limit) limits.memory_bytes = *memory_limit;
  if (max_expansions) limits.expansions = *max_expansions;
  return limits;
}

// The result of `work`, called with an observer and without the interpreter lock.
template <class Work>
auto observed(nb::object progress, const Work& work) {
  auto observer = std::make_shared<PythonObserver>(std::move(progress));
  auto result = [&] {
    nb::gil_scoped_release release;
    return work([observer](const Progress& record) { return (*observer)(record); });
  }();
  observer->rethrow();
  return result;
}

void check_values(const Values& values, size_t states) {
  check(values.size() == states, "a value map has a number for each of the " + std::to_string(states) +
                                     " states, got " + std::to_string(values.size()));
  for (size_t i = 0; i < states; ++i)
    check(!std::isnan(values.data()[i]), "the value map is NaN for state " + std::to_string(i));
}

// The values of all states, if there are any, and what is done with them.
struct PyGridHeuristic {
  std::string name;
  std::optional<Values> values;
  std::optional<double> eps;
  double weight = 1;
};

template <class Space>
GridResult astar(const Space& space, const Numbers& start, const Numbers& goal,
                 const PyGridHeuristic& heuristic, bool explored, const Limits& limits, nb::object progress) {
  const uint32_t from = space.checked(start, "start");
  const std::vector<uint32_t> to = space.checked_goal(goal);
  const std::optional<Values>& values = heuristic.values;
  if (values) check_values(*values, space.outer_states());
  const GridHeuristic chosen{heuristic.name, values ? values->data() : nullptr, heuristic.eps,
                             heuristic.weight};
  return observed(std::move(progress), [&](const Observer& observer) {
    return grid_astar(space, from, to, chosen, explored, limits, observer);
  });
}

template <class Space>
PyProblem problem(const Space& space, const Numbers& start, const Numbers& goal) {
  const uint32_t from = space.checked(start, "start");
  return {std::make_shared<const GridSearchSpace<Space>>(space, space.checked_goal(goal)), {from}};
}

template <class Space>
PyHeuristic heuristic(const Space& space, const PyProblem& problem, const std::string& name,
                      const std::optional<Values>& values) {
  const auto* grid = dynamic_cast<const GridSearchSpace<Space>*>(problem.space.get());
  check(grid != nullptr, "the problem is one of another space");
  if (!values) {
    check_heuristic(space, name);
    return {problem.space, std::make_unique<GridNamedValues<Space>>(*grid, name)};
  }
  check_values(*values, space.outer_states());
  return {problem.space,
          std::make_unique<GridMapValues<Space>>(
              *grid, name, std::vector<float>(values->data(), values->data() + values->size()))};
}

template <class Space>
GridLabels prolonged(const Space& space, const Numbers& start, const Numbers& goal, double k_pr, bool blind,
                     bool open, std::optional<double> time_limit, std::optional<size_t> memory_limit,
                     std::optional<uint64_t> max_expansions, nb::object progress) {
  const uint32_t from = space.checked(start, "start");
  const std::vector<uint32_t> to = space.checked_goal(goal);
  const Limits limits = limits_of(time_limit, memory_limit, max_expansions);
  return observed(std::move(progress), [&](const Observer& observer) {
    return prolonged_grid(space, from, to, {k_pr, blind, open}, limits, observer);
  });
}

template <class Space>
PuzzleLabels prolonged_states(const Space& space, const std::vector<int>& start, double k_pr, bool blind,
                              bool open, std::optional<double> time_limit, std::optional<size_t> memory_limit,
                              std::optional<uint64_t> max_expansions, nb::object progress) {
  const auto from = space.checked(start);
  const Limits limits = limits_of(time_limit, memory_limit, max_expansions);
  return observed(std::move(progress), [&](const Observer& observer) {
    return prolonged_puzzle<Space>(space, from, {k_pr, blind, open}, limits, observer);
  });
}

TaskLabels prolonged_states_of_task(const PyTask& task, double k_pr, bool blind, bool open, size_t goals,
                                    std::optional<double> time_limit, std::optional<size_t> memory_limit,
                                    std::optional<uint64_t> max_expansions, nb::object progress) {
  check_support(task, "prolonged");
  const Limits limits = limits_of(time_limit, memory_limit, max_expansions);
  return observed(std::move(progress), [&](const Observer& observer) {
    return prolonged_task(*task.space, task.initial, {k_pr, blind, open}, goals, limits, observer);
  });
}

// What grids and lattices have.
template <class Space>
nb::class_<Space> bind_space(nb::module_& module, const char* name, const char* doc) {
  return nb::class_<Space>(module, name, doc)
      .def_prop_ro("states", &Space::outer_states)
      .def(
          "check",
          [](const Space& space, const Numbers& state, const char* what) { space.checked(state, what); },
          nb::arg("state"), nb::arg("what"), "An InputError unless it is a state.")
      .def(
          "check_goal", [](const Space& space, const Numbers& goal) { space.checked_goal(goal); },
          nb::arg("goal"), "An InputError unless it is a goal.")
      .def(
          "successors",
          [](const Space& space, const Numbers& state) {
            Neighbours found;
            space.successors(space.checked(state, "state"), [&](uint32_t next, uint32_t, Units cost) {
              found.emplace_back(space.outer(next), to_cost(cost));
            });
            return found;
          },
          nb::arg("state"), "Numbers of states with the costs of the steps to them.")
      .def(
          "predecessors",
          [](const Space& space, const Numbers& state) {
            Neighbours found;
            space.predecessors(space.checked(state, "state"), [&](uint32_t next, uint32_t, Units cost) {
              found.emplace_back(space.outer(next), to_cost(cost));
            });
            return found;
          },
          nb::arg("state"), "Numbers of states with the costs of the steps from them.")
      .def("problem", &problem<Space>, nb::arg("start"), nb::arg("goal"), "What the general searches take.")
      .def("heuristic", &heuristic<Space>, nb::arg("problem"), nb::arg("name"),
           nb::arg("values") = nb::none(),
           "blind, manhattan or octile, or values of all states, for the general searches.")
      .def("astar", &astar<Space>, nb::arg("start"), nb::arg("goal"), nb::arg("heuristic"),
           nb::arg("explored"), nb::arg("limits"), nb::arg("progress") = nb::none(),
           "A* with a heuristic by name, or with values of all states; a limit is a status, not an error.")
      .def("prolonged", &prolonged<Space>, nb::arg("start"), nb::arg("goal"), nb::kw_only(), nb::arg("k_pr"),
           nb::arg("blind") = false, nb::arg("open") = true, nb::arg("time_limit") = nb::none(),
           nb::arg("memory_limit") = nb::none(), nb::arg("max_expansions") = nb::none(),
           nb::arg("progress") = nb::none(), "Labels by prolonged backward search.");
}

template <class Space>
void bind_prolonged(nb::module_& module) {
  module.def("prolonged", &prolonged_states<Space>, nb::arg("space"), nb::arg("start"), nb::kw_only(),
             nb::arg("k_pr"), nb::arg("blind") = false, nb::arg("open") = true,
             nb::arg("time_limit") = nb::none(), nb::arg("memory_limit") = nb::none(),
             nb::arg("max_expansions") = nb::none(), nb::arg("progress") = nb::none(),
             "Labels of states of a puzzle by prolonged backward search.");
}

// Arrays take over what they show, so each can be asked for once.
template <class Labels>
nb::class_<Labels, ProlongedLabels> bind_labels(nb::module_& module, const char* name, const char* doc) {
  return nb::class_<Labels, ProlongedLabels>(module, name, doc)
      .def("take_label", [](Labels& l) { return column(std::move(l.label)); })
      .def("take_path_label", [](Labels& l) { return column(std::move(l.path_label)); });
}

}  // namespace

void bind_grids(nb::module_& module) {
  nb::class_<GridResult>(module, "GridResult", "How a search of a grid or a lattice ended.")
      .def_prop_ro("status", [](const GridResult& r) { return status_name(r.status); })
      .def_ro("cost", &GridResult::cost)
      .def_prop_ro("expanded", [](const GridResult& r) { return r.counts.expanded; })
      .def_prop_ro("evaluated", [](const GridResult& r) { return r.counts.evaluated; })
      .def_prop_ro("generated", [](const GridResult& r) { return r.counts.generated; })
      .def_prop_ro("reopened", [](const GridResult& r) { return r.counts.reopened; })
      .def_ro("initial_h", &GridResult::initial_h)
      .def_ro("search_time", &GridResult::search_time_s)
      .def_ro("cpu_time", &GridResult::cpu_time_s)
      .def("take_path", [](GridResult& r) { return column(std::move(r.path)); })
      .def("take_explored", [](GridResult& r) { return column(std::move(r.explored)); });
  nb::class_<PyGridHeuristic>(module, "GridHeuristic", "A heuristic by name, or values of all states.")
      .def(
          "__init__",
          [](PyGridHeuristic* self, std::string name, std::optional<Values> values, std::optional<double> eps,
             double weight) { new (self) PyGridHeuristic{std::move(name), std::move(values), eps, weight}; },
          nb::arg("name"), nb::arg("values") = nb::none(), nb::arg("eps") = nb::none(),
          nb::arg("weight") = 1.0);
  nb::class_<ProlongedLabels>(module, "ProlongedLabels", "How a prolonged search ended.")
      .def_prop_ro("status", [](const ProlongedLabels& l) { return status_name(l.status); })
      .def_ro("reached", &ProlongedLabels::reached)
      .def_ro("exact", &ProlongedLabels::exact, "So many of the states, the first ones, were closed.")
      .def_prop_ro("expanded", [](const ProlongedLabels& l) { return l.counts.expanded; })
      .def_prop_ro("generated", [](const ProlongedLabels& l) { return l.counts.generated; })
      .def_ro("search_time", &ProlongedLabels::search_time_s)
      .def_ro("cpu_time", &ProlongedLabels::cpu_time_s);
  bind_labels<GridLabels>(module, "GridLabels", "Numbers of states with their labels.")
      .def("take_states", [](GridLabels& l) { return column(std::move(l.states)); })
      .def("take_path", [](GridLabels& l) { return column(std::move(l.path)); });
  bind_labels<PuzzleLabels>(module, "PuzzleLabels", "States of a puzzle with their labels.")
      .def("take_states",
           [](PuzzleLabels& l) { return rows(std::move(l.states), l.states.size() / l.width, l.width); })
      .def("take_path",
           [](PuzzleLabels& l) { return rows(std::move(l.path), l.path.size() / l.width, l.width); });
  bind_space<Grid>(module, "GridSpace", "Cells of a map: (row, column).")
      .def(
          "__init__",
          [](Grid* self, Cells blocked, std::optional<Costs> costs, int neighbours, bool cut_corners) {
            new (self) Grid(grid_map(blocked, costs, neighbours, cut_corners));
          },
          nb::arg("blocked"), nb::arg("costs").none(), nb::arg("neighbours"), nb::arg("cut_corners"));
  bind_space<Lattice>(module, "LatticeSpace", "Cells of a map and headings: (row, column, heading).")
      .def(
          "__init__",
          [](Lattice* self, Cells blocked, std::optional<Costs> costs, bool cut_corners, int headings,
             double turn_cost) {
            const auto map = grid_map(blocked, costs, headings == 4 ? 4 : 8, cut_corners);
            new (self) Lattice(map, headings, turn_cost);
          },
          nb::arg("blocked"), nb::arg("costs").none(), nb::arg("cut_corners"), nb::arg("headings"),
          nb::arg("turn_cost"));
  nb::class_<TaskLabels, ProlongedLabels>(module, "TaskLabels", "States of a task with their labels.")
      .def_ro("goals", &TaskLabels::goals)
      .def("take_label", [](TaskLabels& l) { return column(std::move(l.label)); })
      .def("take_values",
           [](TaskLabels& l) { return rows(std::move(l.values), l.values.size() / l.width, l.width); });
  module.def("prolonged", &prolonged_states_of_task, nb::arg("task"), nb::kw_only(), nb::arg("k_pr"),
             nb::arg("blind") = false, nb::arg("open") = true, nb::arg("goals") = 10000,
             nb::arg("time_limit") = nb::none(), nb::arg("memory_limit") = nb::none(),
             nb::arg("max_expansions") = nb::none(), nb::arg("progress") = nb::none(),
             "Labels of states of a task by prolonged backward search.");
  bind_prolonged<Tiles>(module);
  bind_prolonged<Pancake>(module);
  bind_prolonged<Blocks>(module);
}

}  // namespace hstar
