#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "task/atoms.h"
#include "task/sas_reader.h"
#include "task/sas_writer.h"

namespace nb = nanobind;

namespace hstar {
namespace {

using PyFact = std::pair<int32_t, int32_t>;

std::vector<PyFact> to_python(const std::vector<Fact>& facts) {
  std::vector<PyFact> result;
  for (const Fact& fact : facts) result.emplace_back(fact.variable, fact.value);
  return result;
}

PyTask make_task(Task task) {
  auto space = std::make_shared<const PlanningSpace>(std::move(task));
  return {space, space->initial_state()};
}

PyTask parse(nb::bytes text, bool unit_cost) {
  const std::string_view view(text.c_str(), text.size());
  nb::gil_scoped_release release;
  Task task = read_sas(view);
  if (unit_cost)
    for (Operator& op : task.operators) op.cost = 1;
  return make_task(std::move(task));
}

PyTask with_unit_cost(const PyTask& self) {
  if (self.space->task().unit_cost()) return self;
  Task task = self.space->task();
  for (Operator& op : task.operators) op.cost = 1;
  return {std::make_shared<const PlanningSpace>(std::move(task)), self.initial};
}

std::vector<int32_t> applicable(const PyTask& self, std::vector<Value> state) {
  const std::vector<Value> values = checked_state(self, std::move(state));
  std::vector<int32_t> operators;
  self.space->applicable(values.data(), operators);
  return operators;
}

std::vector<Value> successor(const PyTask& self, std::vector<Value> state, int32_t op) {
  const std::vector<int32_t> possible = applicable(self, state);
  if (std::find(possible.begin(), possible.end(), op) == possible.end())
    throw InputError("operator " + std::to_string(op) + " is not applicable in this state");
  const std::vector<Value> values = checked_state(self, std::move(state));
  const PlanningSpace& space = *self.space;
  std::vector<uint32_t> packed(space.words()), result(space.words());
  space.packer().pack(values.data(), packed.data());
  space.apply(packed.data(), values.data(), op, result.data());
  std::vector<Value> after(values.size());
  space.packer().unpack(result.data(), after.data());
  return after;
}

bool are_mutex(const PyTask& self, PyFact a, PyFact b) {
  for (const PyFact& fact : {a, b})
    if (fact.first < 0 || fact.first >= self.space->variables() || fact.second < 0 ||
        fact.second >= self.space->task().variables[fact.first].domain_size())
      throw InputError("no fact (" + std::to_string(fact.first) + ", " + std::to_string(fact.second) +
                       ") in this task");
  return self.space->mutexes().are_mutex({a.first, a.second}, {b.first, b.second});
}

}  // namespace

std::vector<Value> checked_state(const PyTask& self, std::vector<Value> values) {
  const std::vector<Variable>& variables = self.space->task().variables;
  if (values.size() != variables.size())
    throw InputError("a state of this task has " + std::to_string(variables.size()) + " values, not " +
                     std::to_string(values.size()));
  for (size_t v = 0; v < values.size(); ++v)
    if (values[v] < 0 || values[v] >= variables[v].domain_size())
      throw InputError("value " + std::to_string(values[v]) + " of " + variables[v].name + " is not in 0.." +
                       std::to_string(variables[v].domain_size() - 1));
  self.space->evaluate_axioms(values.data());
  return values;
}

void bind_task(nb::module_& module) {
  nb::class_<Operator>(module, "Operator", "A grounded operator; facts are (variable, value).")
      .def_ro("name", &Operator::name)
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
      .def_static("parse", &parse, nb::arg("text"), nb::arg("unit_cost") = false,
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
      .def_prop_ro("variable_names",
                   [task](const PyTask& self) {
                     std::vector<std::string> names;
                     for (const Variable& v : task(self).variables) names.push_back(v.name);
                     return names;
                   })
      .def_prop_ro(
          "fact_names",
          [task](const PyTask& self) {
            std::vector<std::vector<std::string>> names;
            for (const Variable& v : task(self).variables) names.push_back(v.fact_names);
            return names;
          },
          "Per variable, per value.")
      .def_prop_ro(
          "axiom_layers",
          [task](const PyTask& self) {
            std::vector<int32_t> layers;
            for (const Variable& v : task(self).variables) layers.push_back(v.axiom_layer);
            return layers;
          },
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
          [task](const PyTask& self, size_t i) -> const Operator& {
            if (i >= task(self).operators.size()) throw nb::index_error("no such operator");
            return task(self).operators[i];
          },
          nb::arg("index"), nb::rv_policy::reference_internal)
      .def(
          "axiom",
          [task](const PyTask& self, size_t i) -> const Axiom& {
            if (i >= task(self).axioms.size()) throw nb::index_error("no such axiom");
            return task(self).axioms[i];
          },
          nb::arg("index"), nb::rv_policy::reference_internal)
      .def(
          "with_initial_state",
          [](const PyTask& self, std::vector<Value> values) {
            return PyTask{self.space, checked_state(self, std::move(values))};
          },
          nb::arg("values"), "The same task from another state; derived variables are recomputed.")
      .def("applicable_operators", &applicable, nb::arg("state"))
      .def("successor", &successor, nb::arg("state"), nb::arg("operator"))
      .def("are_mutex", &are_mutex, nb::arg("a"), nb::arg("b"),
           "Whether two facts (variable, value) are known never to hold together.");
}

}  // namespace hstar
