// Grids, lattices and prolonged search: a state is a list of numbers at the border, as with puzzles; where
// there are many of them, it is its number, row by row.
#include <cmath>
#include <functional>

#include "bindings/bindings.h"
#include "heuristics/cell_distances.h"
#include "sampling/prolonged.h"
#include "search/grid_astar.h"
#include "spaces/grid_space.h"
#include "spaces/png_lines.h"

namespace hstar {
namespace {

using Numbers = std::vector<int64_t>;
using Cells = Array<uint8_t, 2>;
using Costs = std::optional<Array<double, 2>>;
using Values = std::optional<Array<float, 1>>;
using Neighbours = std::vector<std::tuple<uint32_t, double>>;

std::shared_ptr<const GridMap> grid_map(const Cells& blocked, const Costs& costs, int neighbours,
                                        bool cut_corners) {
  std::span<const double> prices;
  if (costs) {
    check(costs->shape(0) == blocked.shape(0) && costs->shape(1) == blocked.shape(1),
          "obstacles and costs must have a number for each cell");
    prices = view(*costs);
  }
  return unlocked([&](Poll& poll) {
    return std::make_shared<const GridMap>(blocked.shape(0), blocked.shape(1), view(blocked), prices,
                                           neighbours, cut_corners, poll);
  });
}

void check_values(const Values& values, size_t states) {
  if (!values) return;
  check(values->size() == states, "a value map has a number for each of the " + std::to_string(states) +
                                      " states, got " + std::to_string(values->size()));
  for (size_t i = 0; i < states; ++i)
    if (std::isnan(values->data()[i]))
      throw InputError("the value map is NaN for state " + std::to_string(i));
}

// The values of all states, if there are any, and what is done with them.
struct PyGridHeuristic {
  std::string name;
  Values values;
  std::optional<double> eps;
  double weight = 1;
};

template <class Space>
GridResult astar(const Space& space, const Numbers& start, const Numbers& goal,
                 const PyGridHeuristic& heuristic, const GridOptions& options, const Limits& limits,
                 nb::object progress) {
  const uint32_t from = space.checked(start, "start");
  const std::vector<uint32_t> to = space.checked_goal(goal);
  const Values& values = heuristic.values;
  check_values(values, space.outer_states());
  const GridHeuristic chosen{heuristic.name, values ? values->data() : nullptr, heuristic.eps,
                             heuristic.weight};
  return observed(std::move(progress), [&](const Observer& observer) {
    return grid_astar(space, from, to, chosen, options, limits, observer);
  });
}

template <class Space>
PyProblem problem(const Space& space, const Numbers& start, const Numbers& goal) {
  const uint32_t from = space.checked(start, "start");
  return {std::make_shared<const GridSearchSpace<Space>>(space, space.checked_goal(goal)), {from}};
}

template <class Space>
PyHeuristic heuristic(const Space& space, const PyProblem& problem, const std::string& name,
                      const Values& values) {
  const auto* grid = dynamic_cast<const GridSearchSpace<Space>*>(problem.space.get());
  check(grid != nullptr, "the problem is one of another space");
  check_values(values, space.outer_states());
  if (!values) {
    check_heuristic(space, name);
    if (name == "dijkstra") return {problem.space, cell_heuristic(*grid)};
    return {problem.space, grid_heuristic(*grid, name)};
  }
  return {problem.space, grid_heuristic(*grid, name, copied(*values))};
}

template <class Space>
ProlongedLabels prolonged(const Space& space, const Numbers& start, const Numbers& goal,
                          const ProlongedOptions& options, const Limits& limits, nb::object progress) {
  const uint32_t from = space.checked(start, "start");
  const std::vector<uint32_t> to = space.checked_goal(goal);
  return observed(std::move(progress), [&](const Observer& observer) {
    return prolonged_grid(space, from, to, options, limits, observer);
  });
}

ProlongedLabels prolonged_states_of_task(const PyTask& task, const ProlongedOptions& options,
                                         const Limits& limits, nb::object progress) {
  check_support(task, "prolonged");
  return observed(std::move(progress), [&](const Observer& observer) {
    return prolonged_task(*task.space, task.initial, options, limits, observer);
  });
}

template <class Space, bool kBackward>
Neighbours neighbours(const Space& space, const Numbers& numbers) {
  Neighbours found;
  const uint32_t state = space.checked(numbers, "state");
  const auto visit = [&](uint32_t next, uint32_t, Units cost) {
    found.emplace_back(space.outer(next), to_cost(cost));
  };
  if constexpr (kBackward)
    space.predecessors(state, visit);
  else
    space.successors(state, visit);
  return found;
}

// By cell, row by row; infinity where there is no way.
Column<double> distances(const Grid& grid, const Numbers& goal) {
  const GridMap& map = grid.map();
  const uint32_t target = grid.checked(goal, "goal");
  return column(unlocked([&](Poll& poll) {
    const std::vector<int64_t> units = cell_distances(map, target, std::identity(), poll);
    std::vector<double> costs;
    costs.reserve(map.rows() * map.columns());
    for (int32_t row = 0; row < static_cast<int32_t>(map.rows()); ++row) {
      const int64_t* first = &units[map.cell({row, 0})];
      for (size_t i = 0; i < map.columns(); ++i)
        costs.push_back(first[i] == kNoWay ? INFINITY : to_cost(first[i]));
      poll(static_cast<uint32_t>(map.columns() / 100));
    }
    return costs;
  }));
}

// Lines of a PNG image without their filters.
RowsOf<uint8_t> png_lines(const Cells& lines, const Array<uint8_t, 1>& above, size_t step) {
  const size_t width = above.size();
  check(lines.shape(1) == width + 1 && step > 0, "a line of a PNG image has a filter and as many bytes");
  return rows(unlocked([&](Poll&) { return unfiltered(view(lines), view(above), step); }), lines.shape(0),
              width);
}

// What grids and lattices have.
template <class Space>
nb::class_<Space> bind_space(nb::module_& module, const char* name, const char* doc) {
  return nb::class_<Space>(module, name, doc)
      .def_prop_ro("states", &Space::outer_states)
      .def(
          "check",
          [](const Space& space, const Numbers& state, const char* what) { space.checked(state, what); },
          "state"_a, "what"_a, "An InputError unless it is a state.")
      .def(
          "check_goal", [](const Space& space, const Numbers& goal) { space.checked_goal(goal); }, "goal"_a,
          "An InputError unless it is a goal.")
      .def("successors", &neighbours<Space, false>, "state"_a,
           "Numbers of states with the costs of the steps to them.")
      .def("predecessors", &neighbours<Space, true>, "state"_a,
           "Numbers of states with the costs of the steps from them.")
      .def("problem", &problem<Space>, "start"_a, "goal"_a, "What the general searches take.")
      .def("heuristic", &heuristic<Space>, "problem"_a, "name"_a, "values"_a = nb::none(),
           "blind, manhattan, octile or dijkstra, or values of all states, for the general searches.")
      .def("astar", &astar<Space>, "start"_a, "goal"_a, "heuristic"_a, "options"_a, "limits"_a,
           "progress"_a = nb::none(),
           "A* with a heuristic by name, or with values of all states; a limit is a status, not an error.")
      .def("prolonged", &prolonged<Space>, "start"_a, "goal"_a, "options"_a, "limits"_a = Limits(),
           "progress"_a = nb::none(), "Labels by prolonged backward search.");
}

}  // namespace

void bind_grids(nb::module_& module) {
  bind_outcome<GridResult>(module, "GridResult", "How a search of a grid or a lattice ended.")
      .def_ro("cost", &GridResult::cost)
      .def_ro("initial_h", &GridResult::initial_h)
      .def_ro("passed_over", &GridResult::passed_over)
      .def("take_path", [](GridResult& r) { return column(std::move(r.path)); })
      .def("take_explored", [](GridResult& r) { return column(std::move(r.explored)); });
  nb::class_<PyGridHeuristic>(module, "GridHeuristic", "A heuristic by name, or values of all states.")
      .def(
          "__init__",
          [](PyGridHeuristic* self, std::string name, Values values, std::optional<double> eps,
             double weight) { new (self) PyGridHeuristic{std::move(name), std::move(values), eps, weight}; },
          "name"_a, "values"_a = nb::none(), "eps"_a = nb::none(), "weight"_a = 1.0);
  bind_struct<GridOptions>(module, "GridOptions", "Options of A* on grids and lattices.", "explored",
                           &GridOptions::explored, "reopen", &GridOptions::reopen);
  using Options = ProlongedOptions;
  bind_struct<Options>(module, "ProlongedOptions", "Options of prolonged backward search.", "k_pr",
                       &Options::k_pr, "blind", &Options::blind, "open", &Options::open, "goals",
                       &Options::goals);
  // Arrays take over what they show, so each can be asked for once.
  bind_outcome<ProlongedLabels>(module, "ProlongedLabels", "States, their labels, and how the search ended.")
      .def_ro("reached", &ProlongedLabels::reached)
      .def_ro("exact", &ProlongedLabels::exact, "So many of the states, the first ones, were closed.")
      .def_ro("goals", &ProlongedLabels::goals, "Goal states that it began with.")
      .def("take_label", [](ProlongedLabels& l) { return column(std::move(l.label)); })
      .def("take_path_label", [](ProlongedLabels& l) { return column(std::move(l.path_label)); })
      .def(
          "take_states",
          [](ProlongedLabels& l) { return rows(std::move(l.states), l.states.size() / l.width, l.width); },
          "A row of numbers each; of a grid or a lattice one, its number.")
      .def("take_path",
           [](ProlongedLabels& l) { return rows(std::move(l.path), l.path.size() / l.width, l.width); });
  bind_space<Grid>(module, "GridSpace", "Cells of a map: (row, column).")
      .def(
          "__init__",
          [](Grid* self, Cells blocked, Costs costs, int neighbours, bool cut_corners) {
            new (self) Grid(grid_map(blocked, costs, neighbours, cut_corners));
          },
          "blocked"_a, "costs"_a.none(), "neighbours"_a, "cut_corners"_a)
      .def("distances", &distances, "goal"_a, "The cost-to-go of each cell; infinite where there is no way.");
  bind_space<Lattice>(module, "LatticeSpace", "Cells of a map and headings: (row, column, heading).")
      .def(
          "__init__",
          [](Lattice* self, Cells blocked, Costs costs, bool cut_corners, int headings, double turn_cost) {
            const auto map = grid_map(blocked, costs, headings == 4 ? 4 : 8, cut_corners);
            new (self) Lattice(map, headings, turn_cost);
          },
          "blocked"_a, "costs"_a.none(), "cut_corners"_a, "headings"_a, "turn_cost"_a);
  module.def("png_lines", &png_lines, "lines"_a, "above"_a, "step"_a,
             "Lines of a PNG image, each with its filter first, as they were before the filters.");
  module.def("prolonged", &prolonged_states_of_task, "task"_a, "options"_a, "limits"_a = Limits(),
             "progress"_a = nb::none(), "Labels of states of a task by prolonged backward search.");
}

}  // namespace hstar
