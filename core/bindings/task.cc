#include <string_view>

#include "bindings/bindings.h"
#include "task/atoms.h"
#include "task/sas.h"

namespace hstar {
namespace {

using PyFact = std::pair<int32_t, int32_t>;

std::vector<PyFact> to_python(std::span<const Fact> facts) {
  std::vector<PyFact> result;
  for (const Fact& fact : facts) result.emplace_back(fact.variable, fact.value);
  return result;
}

template <class T>
std::vector<T> of_variables(const PyTask& self, T Variable::* member) {
  std::vector<T> result;
  for (const Variable& variable : self.space->task().variables) result.push_back(variable.*member);
  return result;
}

PyTask with_unit_cost(const PyTask& self) {
  if (self.space->task().unit_cost()) return self;
  Task task = self.space->task();
  task.operators.set_unit_cost();
  return {std::make_shared<const PlanningSpace>(std::move(task)), self.initial};
}

PyTask parse(nb::bytes text, bool unit_cost) {
  const std::string_view view(text.c_str(), text.size());
  nb::gil_scoped_release release;
  auto space = std::make_shared<const PlanningSpace>(read_sas(view));
  const PyTask task{space, space->initial_state()};
  return unit_cost ? with_unit_cost(task) : task;
}

std::vector<int32_t> applicable(const PyTask& self, const std::vector<Value>& state) {
  const std::vector<Value> values = checked_state(self, state);
  std::vector<int32_t> operators;
  self.space->applicable(values.data(), operators);
  return operators;
}

std::vector<Value> successor(const PyTask& self, const std::vector<Value>& state, int32_t op) {
  const std::vector<int32_t> possible = applicable(self, state);
  check(std::ranges::find(possible, op) != possible.end(),
        "operator " + std::to_string(op) + " is not applicable in this state");
  const std::vector<Value> values = checked_state(self, state);
  std::vector<uint32_t> result(self.space->words());
  self.space->apply(self.space->packed(values.data()).data(), values.data(), op, result.data());
  return self.space->unpacked(result.data());
}

bool are_mutex(const PyTask& self, PyFact a, PyFact b) {
  for (const PyFact& fact : {a, b})
    check(fact.first >= 0 && fact.first < self.space->variables() &&
              self.space->task().variables[fact.first].has(fact.second),
          "no fact (" + std::to_string(fact.first) + ", " + std::to_string(fact.second) + ") in this task");
  return self.space->mutexes().are_mutex({a.first, a.second}, {b.first, b.second});
}

}  // namespace

std::vector<Value> checked_state(const PyTask& self, const std::vector<Value>& values) {
  const PlanningSpace& space = *self.space;
  check(values.size() == space.width(), "a state of this task has " + std::to_string(space.width()) +
                                            " values, not " + std::to_string(values.size()));
  std::vector<uint32_t> packed(space.words());
  space.pack(values.data(), packed.data());
  return space.unpacked(packed.data());
}

void bind_task(nb::module_& module) {
  nb::class_<Operator>(module, "Operator", "A grounded operator; facts are (variable, value).")
      .def_prop_ro("name", &Operator::name)
      .def_ro("cost", &Operator::cost)
      .def_prop_ro("preconditions", [](const Operator& op) { return to_python(op.preconditions); })
      .def_prop_ro(
          "effects",
          [](const Operator& op) {
            std::vector<std::tuple<std::vector<PyFact>, int32_t, int32_t>> result;
            for (const Effect& effect : op.effects)
              result.emplace_back(to_python(effect.conditions), effect.fact.variable, effect.fact.value);
            return result;
          },
          "Triples (conditions, variable, value).");
  nb::class_<Axiom>(module, "Axiom", "Derives variable = value when all conditions hold.")
      .def_prop_ro("conditions", [](const Axiom& axiom) { return to_python(axiom.conditions); })
      .def_prop_ro("variable", [](const Axiom& axiom) { return axiom.head.variable; })
      .def_prop_ro("value", [](const Axiom& axiom) { return axiom.head.value; });

  const auto task = [](const PyTask& self) -> const Task& { return self.space->task(); };
  nb::class_<PyTask>(module, "Task", "A planning task in finite-domain representation.")
      .def_static("parse", &parse, "text"_a, "unit_cost"_a = false,
                  "Reads the text of a .sas file, version 3.")
      .def(
          "to_sas",
          [task](const PyTask& self) {
            const std::string text = write_sas(task(self));
            return nb::bytes(text.data(), text.size());
          },
          "The text of a .sas file, version 3, from the initial state that the task was made with.")
      .def_prop_ro("num_variables", [](const PyTask& self) { return self.space->variables(); })
      .def_prop_ro("num_operators", [task](const PyTask& self) { return task(self).operators.size(); })
      .def_prop_ro("num_axioms", [task](const PyTask& self) { return task(self).axioms.size(); })
      .def_prop_ro("num_facts", [task](const PyTask& self) { return FactIds(task(self)).size(); })
      .def_prop_ro(
          "state_words", [](const PyTask& self) { return self.space->words(); },
          "32-bit words of a packed state.")
      .def_prop_ro("uses_metric", [task](const PyTask& self) { return task(self).uses_metric; })
      .def("with_unit_cost", &with_unit_cost, "The same variables and states; every operator costs 1.")
      .def_prop_ro("unit_cost", [task](const PyTask& self) { return task(self).unit_cost(); })
      .def_prop_ro("has_conditional_effects",
                   [task](const PyTask& self) { return task(self).has_conditional_effects(); })
      .def_prop_ro("variable_names", [](const PyTask& self) { return of_variables(self, &Variable::name); })
      .def_prop_ro(
          "fact_names", [](const PyTask& self) { return of_variables(self, &Variable::fact_names); },
          "Per variable, per value.")
      .def_prop_ro(
          "axiom_layers", [](const PyTask& self) { return of_variables(self, &Variable::axiom_layer); },
          "Per variable: -1, or the layer of the axioms that derive it.")
      .def_prop_ro(
          "default_values", [task](const PyTask& self) { return task(self).initial_values; },
          "Per variable: for derived ones the value when no axiom fires.")
      .def_prop_ro("initial_state", [](const PyTask& self) { return self.initial; })
      .def_prop_ro("goal", [task](const PyTask& self) { return to_python(task(self).goal); })
      .def_prop_ro(
          "atom_facts", [task](const PyTask& self) { return to_python(Atoms(task(self)).facts()); },
          "The facts that are positive atoms, in the order of the bits of encoded states.")
      .def_prop_ro("mutex_groups",
                   [task](const PyTask& self) {
                     std::vector<std::vector<PyFact>> groups;
                     for (const auto& group : task(self).mutex_groups) groups.push_back(to_python(group));
                     return groups;
                   })
      .def(
          "operator",
          [task](const PyTask& self, size_t i) {
            if (i >= task(self).operators.size()) throw nb::index_error("no such operator");
            return task(self).operators[i];
          },
          "index"_a, nb::keep_alive<0, 1>())
      .def(
          "axiom",
          [task](const PyTask& self, size_t i) -> const Axiom& {
            if (i >= task(self).axioms.size()) throw nb::index_error("no such axiom");
            return task(self).axioms[i];
          },
          "index"_a, nb::rv_policy::reference_internal)
      .def(
          "with_initial_state",
          [](const PyTask& self, const std::vector<Value>& values) {
            return PyTask{self.space, checked_state(self, values)};
          },
          "values"_a, "The same task from another state; derived variables are recomputed.")
      .def("applicable_operators", &applicable, "state"_a)
      .def("successor", &successor, "state"_a, "operator"_a)
      .def("are_mutex", &are_mutex, "a"_a, "b"_a,
           "Whether two facts (variable, value) are known never to hold together.");
}

}  // namespace hstar
