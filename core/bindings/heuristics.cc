#include <cmath>

#include "bindings/bindings.h"
#include "bindings/callback.h"
#include "heuristics/catalogue.h"
#include "heuristics/combine.h"
#include "heuristics/ff.h"
#include "heuristics/landmark_graph.h"
#include "heuristics/zero.h"

namespace hstar {

namespace {

Column<double> evaluate(PyHeuristic& self, ValueRows states) {
  Heuristic& heuristic = self.get();
  StateBatch batch = checked_batch(*self.space, states);
  return column(unlocked([&](Poll& poll) {
    std::vector<Cost> h(batch.size());
    const size_t n = batch.size(), grain = heuristic.grain();
    for (size_t begin = 0; begin < n; begin += grain) {
      heuristic.evaluate(batch, begin, std::min(begin + grain, n), h.data());
      poll(kWorkOfSlice);
    }
    std::vector<double> values;
    for (const Cost value : h)
      values.push_back(value == kDeadEnd ? INFINITY : static_cast<double>(value) / heuristic.scale());
    return values;
  }));
}

std::pair<std::optional<std::vector<int32_t>>, int64_t> relaxed_plan(const PyTask& task,
                                                                     std::vector<Value> state) {
  const std::vector<Value> values = checked_state(task, std::move(state));
  FF ff(*task.space);
  const Cost h = ff.value(values.data());
  if (h == kDeadEnd) return {std::nullopt, 0};
  const auto plan = ff.relaxed_plan();
  return {std::vector<int32_t>(plan.begin(), plan.end()), ff.ignored_deletes()};
}

// Landmarks as lists of facts, and orders between their numbers.
using Order = std::tuple<size_t, size_t, const char*>;
std::pair<std::vector<std::vector<std::pair<int32_t, Value>>>, std::vector<Order>> landmarks(
    const PyTask& task, bool thorough) {
  const LandmarkGraph graph(*task.space, task.initial, CostType::kNormal,
                            thorough ? Backchaining::kThorough : Backchaining::kQuick);
  const size_t n = graph.landmarks.size();
  std::vector<std::vector<std::pair<int32_t, Value>>> facts(n);
  std::vector<Order> orders;
  for (size_t i = 0; i < n; ++i) {
    for (const Fact& fact : graph.landmarks[i].facts) facts[i].emplace_back(fact.variable, fact.value);
    for (size_t before = 0; before < n; ++before) {
      if (graph.greedy.has(i, before))
        orders.emplace_back(before, i, "greedy-necessary");
      else if (graph.natural.has(i, before))
        orders.emplace_back(before, i, "natural");
      else if (graph.reasonable.has(i, before))
        orders.emplace_back(before, i, "reasonable");
    }
  }
  return {std::move(facts), std::move(orders)};
}

PyHeuristic combine(const PyProblem& problem, const std::string& rule, std::vector<PyHeuristic*> parts) {
  const auto by =
      named<CombineRule>("combination", rule, {{"max", CombineRule::kMax}, {"sum", CombineRule::kSum}});
  for (const PyHeuristic* part : parts) {  // all of them, before any is taken
    check(part->space == problem.space, "a heuristic was made for another problem");
    check(std::ranges::count(parts, part) == 1, "a heuristic is given twice");
    part->get();
  }
  std::vector<std::unique_ptr<Heuristic>> owned;
  for (PyHeuristic* part : parts) owned.push_back(std::move(part->heuristic));
  return {problem.space, combined_heuristic(by, std::move(owned))};
}

}  // namespace

void bind_heuristics(nb::module_& module) {
  using Info = HeuristicInfo;
  readable(nb::class_<Info>(module, "HeuristicInfo", "What a heuristic claims."), "name", &Info::name,
           "description", &Info::description, "reference", &Info::reference, "admissible", &Info::admissible,
           "consistent", &Info::consistent, "safe", &Info::safe, "supports_axioms", &Info::supports_axioms,
           "supports_conditional_effects", &Info::supports_conditional_effects, "preferred_operators",
           &Info::preferred_operators, "path_dependent", &Info::path_dependent);
  module.def(
      "heuristics",
      [] {
        std::vector<HeuristicInfo> result;
        for (const HeuristicEntry& entry : heuristic_catalogue()) result.push_back(entry.info);
        return result;
      },
      "All symbolic heuristics.");

  nb::class_<PyHeuristic>(module, "Heuristic", "A heuristic for one space.")
      .def_prop_ro("name", [](const PyHeuristic& self) { return self.get().name(); })
      .def_prop_ro("admissible", [](const PyHeuristic& self) { return self.get().admissible(); })
      .def_prop_ro("consistent", [](const PyHeuristic& self) { return self.get().consistent(); })
      .def_prop_ro("safe", [](const PyHeuristic& self) { return self.get().safe(); })
      .def("evaluate", &evaluate, "states"_a,
           "Values of states given as an int32 array (n, numbers of a state); infinity for dead ends.");
  module.def(
      "symbolic_heuristic",
      [](const PyTask& task, const std::string& name, const std::string& costs) {
        const CostType type = named<CostType>(
            "costs", costs,
            {{"normal", CostType::kNormal}, {"one", CostType::kOne}, {"plusone", CostType::kPlusOne}});
        return PyHeuristic{task.space, make_heuristic(name, *task.space, type)};
      },
      "task"_a, "name"_a, "costs"_a = "normal",
      "`costs`: of operators, as add, ff and landmarks see them: normal, one or plusone.");
  module.def(
      "callback_heuristic",
      [](const PyProblem& problem, nb::object function, const std::string& name, int32_t scale,
         bool admissible) {
        check(scale >= 1 && scale <= 1 << 16, "the scale must be in 1..65536");
        return PyHeuristic{problem.space,
                           std::make_unique<CallbackHeuristic>(function, name, scale, admissible)};
      },
      "problem"_a, "function"_a, "name"_a, "scale"_a, "admissible"_a = false,
      "Values are rounded to 1/scale, down if they are said to be admissible.");
  module.def(
      "zero_heuristic",
      [](const PyProblem& problem) { return PyHeuristic{problem.space, std::make_unique<ZeroHeuristic>()}; },
      "problem"_a, "0 for every state, in any space.");
  module.def("combined_heuristic", &combine, "problem"_a, "rule"_a, "parts"_a,
             "max or sum; takes its parts over.");
  module.def("relaxed_plan", &relaxed_plan, "task"_a, "state"_a,
             "Operators of ff's relaxed plan (None for a dead end) and the number of atoms they "
             "delete.");
  module.def(
      "landmarks", &landmarks, "task"_a, "thorough"_a = false,
      "Landmarks of the initial state, each the facts (variable, value) of which a plan makes one true, "
      "and their orders: number before, number after, natural, greedy-necessary or reasonable. "
      "`thorough`: with more disjunctive landmarks, as lmcp uses them.");
}

}  // namespace hstar
