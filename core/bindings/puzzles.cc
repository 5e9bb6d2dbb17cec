// Native puzzles: a state is a list of numbers at the border, a move is a number.
#include "search/puzzles.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "bindings/observer.h"
#include "bindings/py_heuristic.h"
#include "bindings/sampling_arrays.h"

namespace nb = nanobind;

namespace hstar {
namespace {

using Values = std::vector<int>;

template <class Space>
std::vector<int> actions(const Space& space, const typename Space::State& state) {
  typename Space::Buffer buffer;
  const auto list = space.actions(state, buffer);
  return {list.begin(), list.end()};
}

// A move that is possible in the state; an InputError otherwise.
template <class Space>
typename Space::Action possible(const Space& space, const typename Space::State& state, int action) {
  const std::vector<int> list = actions(space, state);
  if (std::find(list.begin(), list.end(), action) == list.end())
    throw InputError("move " + std::to_string(action) + " is not possible in this state");
  return static_cast<typename Space::Action>(action);
}

template <class Space>
std::pair<Values, int> apply(const Space& space, const Values& values, int action) {
  auto state = space.checked(values);
  const int back = space.apply(state, possible(space, state, action));
  return {space.values(state), back};
}

// States with the move that leads from each of them to the given one.
template <class Space>
std::vector<std::pair<Values, int>> predecessors(const Space& space, const Values& values) {
  std::vector<std::pair<Values, int>> result;
  for (const int action : actions(space, space.checked(values)))
    result.push_back(apply(space, values, action));
  return result;
}

template <class Space>
std::vector<uint32_t> pack(const Space& space, const Values& values) {
  std::vector<uint32_t> words(space.words());
  space.pack(space.checked(values), words.data());
  return words;
}

template <class Space>
Values unpack(const Space& space, const std::vector<uint32_t>& words) {
  if (words.size() != space.words())
    throw InputError("a packed state has " + std::to_string(space.words()) + " words, not " +
                     std::to_string(words.size()));
  const Values values = space.values(space.unpack(words.data()));
  space.checked(values);
  return values;
}

template <class Space>
Values random_walk(const Space& space, const Values& values, uint64_t steps, uint64_t seed) {
  auto state = space.checked(values);
  Random random(seed);
  walk(space, state, steps, random);
  return space.values(state);
}

void set_pruning(DeepeningOptions& options, const std::string& name) {
  options.pruning = named<Pruning>(
      "pruning", name,
      {{"none", Pruning::kNone}, {"undo", Pruning::kUndo}, {"automaton", Pruning::kAutomaton}});
}

template <class Space>
DeepeningResult idastar(const Space& space, const Values& start, const HeuristicChoice<Space>& heuristic,
                        const DeepeningOptions& options, const Limits& limits, nb::object progress) {
  const auto state = space.checked(start);
  auto observer = std::make_shared<PythonObserver>(std::move(progress));
  DeepeningResult result;
  {
    nb::gil_scoped_release release;
    result = puzzle_idastar<Space>(space, heuristic, state, options, limits,
                                   [observer](const Progress& record) { return (*observer)(record); });
  }
  observer->rethrow();
  return result;
}

// What all puzzles have.
template <class Space>
nb::class_<Space> bind_space(nb::module_& module, const char* name, const char* doc) {
  return nb::class_<Space>(module, name, doc)
      .def_prop_ro("goal", [](const Space& space) { return space.values(space.goal()); })
      .def_prop_ro("words", &Space::words, "32-bit words of a packed state.")
      .def_prop_ro(
          "database_space", [](const Space& space) { return database_space(space); },
          "Databases and networks fit spaces with the same one.")
      .def(
          "check", [](const Space& space, const Values& state) { space.checked(state); }, nb::arg("state"),
          "An InputError unless it is a state from which the goal can be reached.")
      .def(
          "actions", [](const Space& space, const Values& s) { return actions(space, space.checked(s)); },
          nb::arg("state"), "The possible moves, in the order of the searches.")
      .def("apply", &apply<Space>, nb::arg("state"), nb::arg("action"),
           "The state after a move, and the move that takes it back.")
      .def("predecessors", &predecessors<Space>, nb::arg("state"),
           "States, each with the move that leads from it to the given one.")
      .def("pack", &pack<Space>, nb::arg("state"))
      .def("unpack", &unpack<Space>, nb::arg("words"))
      .def("walk", &random_walk<Space>, nb::arg("state"), nb::arg("steps"), nb::arg("seed"),
           "Where a random walk ends that does not take a move back at once.")
      .def_prop_ro("heuristics", [](const Space&) { return puzzle_heuristics<Space>(); })
      .def(
          "value",
          [](const Space& space, const HeuristicChoice<Space>& heuristic, const Values& state) {
            return puzzle_values<Space>(space, heuristic, {space.checked(state)})[0];
          },
          nb::arg("heuristic"), nb::arg("state"))
      .def(
          "child_value",
          [](const Space& space, const HeuristicChoice<Space>& heuristic, const Values& values, int action) {
            const auto state = space.checked(values);
            return puzzle_child_value<Space>(space, heuristic, state, possible(space, state, action));
          },
          nb::arg("heuristic"), nb::arg("state"), nb::arg("action"),
          "The value after a move, made from the one before it.")
      .def("idastar", &idastar<Space>, nb::arg("start"), nb::arg("heuristic"), nb::arg("options"),
           nb::arg("limits"), nb::arg("progress") = nb::none(),
           "Iterative-deepening A*; a limit is a status, not an error.")
      .def(
          "problem",
          [](const Space& space, const Values& start) {
            auto packed = std::make_shared<const PuzzleSpace<Space>>(space);
            std::vector<uint32_t> words(packed->words());
            space.pack(space.checked(start), words.data());
            return PyProblem(std::move(packed), std::move(words));
          },
          nb::arg("start"), "What the general searches take.")
      .def(
          "heuristic",
          [](const Space&, const PyProblem& problem, const nb::object& heuristic) {
            const auto* space = dynamic_cast<const PuzzleSpace<Space>*>(problem.space.get());
            if (!space) throw InputError("the problem is one of another space");
            const auto choice = nb::cast<HeuristicChoice<Space>>(heuristic);
            return PyHeuristic{problem.space, puzzle_heuristic<Space>(*space, choice, kept(heuristic))};
          },
          nb::arg("problem"), nb::arg("heuristic"), "A heuristic of this space for the general searches.");
}

// Signals reach the main thread alone; other ones end by what `check` raises.
template <class Space>
PatternDatabase build(const Space& space, const Values& pattern, const nb::object& check) {
  nb::gil_scoped_release release;
  return build_database(space, pattern, [&check] {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!check.is_none()) check();
  });
}

template <class Space>
void bind_database(nb::class_<Space>& space) {
  space.def("build_database", &build<Space>, nb::arg("pattern"), nb::arg("check") = nb::none(),
            "Takes seconds for five pieces. `check` is called now and then; what it raises ends the work.");
  space.def(
      "map_database",
      [](const Space& s, const Values& pattern, const std::string& path, size_t offset) {
        return map_database(s, pattern, path, offset);
      },
      nb::arg("pattern"), nb::arg("path"), nb::arg("offset"), "Costs from a file, which stay there.");
}

template <class Space>
void bind_databases(nb::module_& module, const char* name) {
  using Databases = AdditiveDatabases<Space>;
  nb::class_<Databases>(module, name, "Additive pattern databases: the greatest of the sums of sets.")
      .def(nb::init<const Space&, typename Databases::Sets>(), nb::arg("space"), nb::arg("sets"))
      .def_prop_ro("sets", &Databases::sets);
}

}  // namespace

void bind_puzzles(nb::module_& module) {
  nb::class_<PuzzleHeuristicInfo>(module, "PuzzleHeuristicInfo", "What a heuristic of a puzzle claims.")
      .def_ro("name", &PuzzleHeuristicInfo::name)
      .def_ro("admissible", &PuzzleHeuristicInfo::admissible)
      .def_ro("consistent", &PuzzleHeuristicInfo::consistent);
  nb::class_<DeepeningOptions>(module, "DeepeningOptions", "Options of iterative deepening on puzzles.")
      .def(nb::init<>())
      .def_prop_rw(
          "pruning",
          [](const DeepeningOptions& options) {
            constexpr const char* kNames[] = {"none", "undo", "automaton"};
            return kNames[static_cast<int>(options.pruning)];
          },
          &set_pruning)
      .def_rw("table_bytes", &DeepeningOptions::table_bytes)
      .def_rw("greatest_bound", &DeepeningOptions::greatest_bound)
      .def_rw("threads", &DeepeningOptions::threads);
  nb::class_<DeepeningResult>(module, "DeepeningResult", "How a search of a puzzle ended.")
      .def_prop_ro("status", [](const DeepeningResult& r) { return status_name(r.status); })
      .def_ro("plan", &DeepeningResult::plan)
      .def_prop_ro("expanded", [](const DeepeningResult& r) { return r.counts.expanded; })
      .def_prop_ro("generated", [](const DeepeningResult& r) { return r.counts.generated; })
      .def_ro("initial_h", &DeepeningResult::initial_h)
      .def_ro("bound", &DeepeningResult::bound)
      .def_ro("lower_bound", &DeepeningResult::lower_bound)
      .def_ro("rounds", &DeepeningResult::rounds)
      .def_ro("search_time", &DeepeningResult::search_time_s)
      .def_ro("cpu_time", &DeepeningResult::cpu_time_s);
  nb::class_<PatternDatabase>(module, "PatternDatabase", "Costs of bringing the pieces of a pattern home.")
      .def_ro("space", &PatternDatabase::space)
      .def_ro("pattern", &PatternDatabase::pattern)
      .def_prop_ro(
          "costs",
          [](const PatternDatabase& d) {
            return nb::bytes(reinterpret_cast<const char*>(d.cost.data()), d.cost.size());
          },
          "A byte for each way that the pieces lie; 255 where two lie in one place.")
      .def_prop_ro("entries", &PatternDatabase::entries)
      .def_prop_ro("largest", &PatternDatabase::largest)
      .def_prop_ro("mean", &PatternDatabase::mean);
  auto tiles = bind_space<Tiles>(module, "TilesSpace", "The sliding-tile puzzle.");
  tiles.def(nb::init<int, int>(), nb::arg("rows"), nb::arg("columns"))
      .def(
          "is_solvable",
          [](const Tiles& space, const Values& state) { return space.is_solvable(space.permutation(state)); },
          nb::arg("state"))
      .def_prop_ro("rows", &Tiles::rows)
      .def_prop_ro("columns", &Tiles::columns);
  auto pancake = bind_space<Pancake>(module, "PancakeSpace", "A stack of pancakes.");
  pancake.def(nb::init<int>(), nb::arg("pancakes")).def_prop_ro("size", &Pancake::size);
  auto blocks =
      bind_space<Blocks>(module, "BlocksSpace", "Blocks in stacks; states say what lies under each block.");
  blocks.def(nb::init<const Values&>(), nb::arg("goal")).def_prop_ro("size", &Blocks::size);
  bind_database(tiles);
  bind_database(pancake);
  bind_database(blocks);
  bind_databases<Tiles>(module, "TilesDatabases");
  bind_databases<Pancake>(module, "PancakeDatabases");
  nb::class_<BlockDatabases>(module, "BlockDatabases",
                             "Pattern databases of blocks: the greatest of the costs.")
      .def(nb::init<const Blocks&, std::vector<BlockDatabases::Database>>(), nb::arg("space"),
           nb::arg("databases"))
      .def_prop_ro("databases", &BlockDatabases::databases);
}

}  // namespace hstar
