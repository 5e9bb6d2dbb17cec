// Native puzzles: a state is a list of numbers at the border, a move is a number.
#include "search/puzzles.h"

#include <nanobind/stl/variant.h>

#include <limits>

#include "bindings/bindings.h"
#include "sampling/prolonged.h"

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
  check(std::ranges::find(list, action) != list.end(),
        "move " + std::to_string(action) + " is not possible in this state");
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
  check(words.size() == space.words(), "a packed state has " + std::to_string(space.words()) +
                                           " words, not " + std::to_string(words.size()));
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

template <class Space>
DeepeningResult idastar(const Space& space, const Values& start, const HeuristicChoice<Space>& heuristic,
                        const DeepeningOptions& options, const Limits& limits, nb::object progress) {
  const auto state = space.checked(start);
  return observed(std::move(progress), [&](const Observer& observer) {
    return puzzle_idastar<Space>(space, heuristic, state, options, limits, observer);
  });
}

template <class Space>
ProlongedLabels prolonged(const Space& space, const Values& start, const ProlongedOptions& options,
                          const Limits& limits, nb::object progress) {
  const auto from = space.checked(start);
  return observed(std::move(progress), [&](const Observer& observer) {
    return prolonged_puzzle<Space>(space, from, options, limits, observer);
  });
}

// What all puzzles have.
template <class Space>
nb::class_<Space> bind_space(nb::module_& module, const char* name) {
  return nb::class_<Space>(module, name, "A puzzle of one size, with its goal; see core/spaces.")
      .def_prop_ro("size", &Space::size, "Numbers of a state.")
      .def_prop_ro("goal", [](const Space& space) { return space.values(space.goal()); })
      .def_prop_ro("words", &Space::words, "32-bit words of a packed state.")
      .def_prop_ro(
          "database_space", [](const Space& space) { return space.name(); },
          "Databases and networks fit spaces with the same one.")
      .def(
          "check", [](const Space& space, const Values& state) { space.checked(state); }, "state"_a,
          "An InputError unless it is a state from which the goal can be reached.")
      .def(
          "actions", [](const Space& space, const Values& s) { return actions(space, space.checked(s)); },
          "state"_a, "The possible moves, in the order of the searches.")
      .def("apply", &apply<Space>, "state"_a, "action"_a,
           "The state after a move, and the move that takes it back.")
      .def("predecessors", &predecessors<Space>, "state"_a,
           "States, each with the move that leads from it to the given one.")
      .def("pack", &pack<Space>, "state"_a)
      .def("unpack", &unpack<Space>, "words"_a)
      .def("walk", &random_walk<Space>, "state"_a, "steps"_a, "seed"_a,
           "Where a random walk ends that does not take a move back at once.")
      .def_prop_ro("heuristics", [](const Space&) { return puzzle_heuristics<Space>(); })
      .def(
          "value",
          [](const Space& space, const HeuristicChoice<Space>& heuristic, const Values& state) {
            return puzzle_values<Space>(space, heuristic, {space.checked(state)})[0];
          },
          "heuristic"_a, "state"_a)
      .def(
          "child_value",
          [](const Space& space, const HeuristicChoice<Space>& heuristic, const Values& values, int action) {
            const auto state = space.checked(values);
            return puzzle_values<Space>(space, heuristic, {state}, possible(space, state, action))[0];
          },
          "heuristic"_a, "state"_a, "action"_a, "The value after a move, made from the one before it.")
      .def("idastar", &idastar<Space>, "start"_a, "heuristic"_a, "options"_a, "limits"_a,
           "progress"_a = nb::none(), "Iterative-deepening A*; a limit is a status, not an error.")
      .def(
          "problem",
          [](const Space& space, const Values& start) {
            auto packed = std::make_shared<const PuzzleSpace<Space>>(space);
            return PyProblem(std::move(packed), pack(space, start));
          },
          "start"_a, "What the general searches take.")
      .def(
          "heuristic",
          [](const Space&, const PyProblem& problem, const nb::object& heuristic) {
            const auto* space = dynamic_cast<const PuzzleSpace<Space>*>(problem.space.get());
            check(space != nullptr, "the problem is one of another space");
            const auto choice = nb::cast<HeuristicChoice<Space>>(heuristic);
            return PyHeuristic{problem.space, puzzle_heuristic<Space>(*space, choice, kept(heuristic))};
          },
          "problem"_a, "heuristic"_a, "A heuristic of this space for the general searches.");
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

// Databases are made by `databases(space, sets)`; of blocks, whose costs cannot be added, there is one set.
template <class Space>
void bind_databases(nb::module_& module, nb::class_<Space>& space, const char* name) {
  using Databases = typename Parts<Space>::Databases;
  space.def("build_database", &build<Space>, "pattern"_a, "check"_a = nb::none(),
            "Takes seconds for five pieces. `check` is called now and then; what it raises ends the work.");
  space.def("map_database", &map_database<Space>, "pattern"_a, "path"_a, "offset"_a,
            "Costs from a file, which stay there.");
  nb::class_<Databases>(module, name, "Pattern databases: the greatest of the sums of sets.")
      .def_prop_ro("sets", &Databases::sets);
  module.def(
      "databases",
      [](const Space& space, typename Databases::Sets sets) { return Databases(space, std::move(sets)); },
      "space"_a, "sets"_a, "Databases as a heuristic.");
}

template <class Space>
nb::class_<Space> bind_puzzle(nb::module_& module, const char* name, const char* databases) {
  auto space = bind_space<Space>(module, name);
  if constexpr (kHasDatabases<Space>) bind_databases(module, space, databases);
  module.def("prolonged", &prolonged<Space>, "space"_a, "start"_a, "options"_a, "limits"_a = Limits(),
             "progress"_a = nb::none(), "Labels of states of a puzzle by prolonged backward search.");
  return space;
}

void bind_constructor(nb::class_<Tiles>& space) {
  space.def(nb::init<int, int>(), "rows"_a, "columns"_a)
      .def(
          "is_solvable",
          [](const Tiles& tiles, const Values& state) { return tiles.is_solvable(tiles.permutation(state)); },
          "state"_a)
      .def_prop_ro("rows", &Tiles::rows)
      .def_prop_ro("columns", &Tiles::columns);
}
void bind_constructor(nb::class_<Pancake>& space) { space.def(nb::init<int>(), "pancakes"_a); }
void bind_constructor(nb::class_<Blocks>& space) { space.def(nb::init<const Values&>(), "goal"_a); }
void bind_constructor(nb::class_<TopSpin>& space) {
  space.def(nb::init<int, int>(), "tokens"_a, "turnstile"_a)
      .def_prop_ro("turnstile", &TopSpin::turnstile)
      .def(
          "is_solvable",
          [](const TopSpin& ring, const Values& state) {
            check_permutation(state, static_cast<size_t>(ring.size()), "token");
            return ring.is_solvable(state);
          },
          "state"_a);
}

}  // namespace

void bind_puzzles(nb::module_& module) {
  using Info = Claims;
  readable(nb::class_<Info>(module, "PuzzleHeuristicInfo", "What a heuristic of a puzzle claims."), "name",
           &Info::name, "admissible", &Info::admissible, "consistent", &Info::consistent);
  using Options = DeepeningOptions;
  auto deepening = bind_struct<Options>(
      module, "DeepeningOptions", "Options of iterative deepening on puzzles.", "table_bytes",
      &Options::table_bytes, "greatest_bound", &Options::greatest_bound, "threads", &Options::threads);
  bind_choice(deepening, "pruning", &Options::pruning, "pruning",
              {{"none", Pruning::kNone}, {"undo", Pruning::kUndo}, {"automaton", Pruning::kAutomaton}});
  using Result = DeepeningResult;
  readable(bind_outcome<Result>(module, "DeepeningResult", "How a search of a puzzle ended."), "plan",
           &Result::plan, "initial_h", &Result::initial_h, "bound", &Result::bound, "lower_bound",
           &Result::lower_bound, "rounds", &Result::rounds);
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
#define HSTAR_PUZZLE(Space)                                                      \
  {                                                                              \
    auto space = bind_puzzle<Space>(module, #Space "Space", #Space "Databases"); \
    bind_constructor(space);                                                     \
  }
  HSTAR_PUZZLES(HSTAR_PUZZLE)
#undef HSTAR_PUZZLE
}

}  // namespace hstar
