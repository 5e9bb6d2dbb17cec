// The steps of sampling one by one: pre-images, completion, labels, improvement; predecessors of states.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "bindings/sampling_arrays.h"
#include "sampling/improve.h"
#include "sampling/label.h"
#include "sampling/predecessors.h"

namespace hstar {
namespace {

std::vector<Value> flatten(const std::vector<std::vector<Value>>& list) {
  std::vector<Value> flat;
  for (const std::vector<Value>& row : list) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

RowsOf<BitWord> encode(const PyTask& task, ValueRows states) {
  const auto list = checked_rows(task, states, false);
  const Atoms atoms(task.space->task());
  std::vector<BitWord> bits(list.size() * atoms.words());
  for (size_t i = 0; i < list.size(); ++i) atoms.encode(list[i].data(), &bits[i * atoms.words()]);
  return rows(std::move(bits), list.size(), atoms.words());
}

std::pair<RowsOf<Value>, Column<int32_t>> preimages(const PyTask& task, const std::string& name,
                                                    int32_t rollouts, int32_t length, uint64_t seed) {
  check_support(task, name);
  check_sizes(1, length);
  check(rollouts >= 1, "rollouts must be at least 1");
  const RolloutChoice choice = rollout_choice(name);
  PreImages found = unlocked([&](Poll& poll) {
    const Regression regression(*task.space);
    const Atoms atoms(task.space->task());
    Random random(seed);
    return sample_rollouts(regression, atoms, {choice, rollouts, rollout_length(task, atoms, length)}, random,
                           poll);
  });
  return {rows(flatten(found.values), found.size(), task.space->variables()), column(std::move(found.depth))};
}

std::pair<RowsOf<Value>, Column<int32_t>> fsm_partial(const PyTask& task, const FsmConfig& config,
                                                      uint64_t seed) {
  check_fsm(task, config);
  PartialSamples found = unlocked([&](Poll& poll) {
    const Regression regression(*task.space);
    const Atoms atoms(task.space->task());
    Random random(seed);
    PartialSamples samples = sample_partial(regression, atoms, config, random, poll);
    improve(samples, PartialSpace(*task.space), config, poll);
    return samples;
  });
  std::vector<Value> flat;
  for (const uint32_t state : found.state)
    flat.insert(flat.end(), found.states[state].begin(), found.states[state].end());
  return {rows(std::move(flat), found.label.size(), task.space->variables()), column(std::move(found.label))};
}

Column<int32_t> label(const PyTask& task, ValueRows partial, Integers depth, BitRows states) {
  const auto list = checked_rows(task, partial, true);
  check(depth.shape(0) == list.size(), "every pre-image needs a depth");
  const Atoms atoms(task.space->task());
  check(states.shape(1) == atoms.words(), "states must have " + std::to_string(atoms.words()) + " words");
  return column(unlocked([&](Poll& poll) {
    PreImages preimages;
    preimages.words = atoms.words();
    for (size_t i = 0; i < list.size(); ++i) preimages.push(atoms, list[i], depth.data()[i]);
    return label_states(preimages, states.data(), states.shape(0), poll);
  }));
}

RowsOf<BitWord> complete(const PyTask& task, ValueRows partial, const std::string& rule, uint64_t seed) {
  check_support(task, "completion");
  const auto list = checked_rows(task, partial, true);
  const CompletionRule by = named("completion", rule, kCompletions);
  const Atoms atoms(task.space->task());
  return rows(unlocked([&](Poll& poll) {
                const Regression regression(*task.space);
                const Completion completion(regression, atoms);
                Random random(seed);
                std::vector<BitWord> bits(list.size() * atoms.words());
                for (size_t i = 0; i < list.size(); ++i) {
                  poll(5);
                  BitWord* row = &bits[i * atoms.words()];
                  std::vector<Value> values = list[i];
                  if (by == CompletionRule::kAtoms)
                    completion.by_atoms(values, random, row);
                  else if (completion.by_variables(values, random))
                    atoms.encode(values.data(), row);
                  else
                    throw UnsupportedError("row " + std::to_string(i) +
                                           ": no completion without mutex facts was found");
                }
                return bits;
              }),
              list.size(), atoms.words());
}

Column<int32_t> improve_by_successors(const PyTask& task, ValueRows partial, Integers labels) {
  check_support(task, "successor improvement");
  const auto list = checked_rows(task, partial, true);
  check(labels.shape(0) == list.size(), "every partial state needs a label");
  return column(unlocked([&](Poll& poll) {
    std::vector<int32_t> h(labels.data(), labels.data() + list.size());
    const auto bounds = successor_bounds(PartialSpace(*task.space), list, h, h, poll);
    for (size_t i = 0; i < h.size(); ++i) h[i] = std::min(h[i], bounds[i]);
    return h;
  }));
}

// Backward steps together with the task whose space they refer to.
struct PyPredecessors {
  PyTask task;
  std::unique_ptr<const Predecessors> steps;
};

PyPredecessors make_predecessors(const PyTask& task) {
  nb::gil_scoped_release release;
  return {task, std::make_unique<const Predecessors>(*task.space)};
}

std::optional<std::vector<Value>> goal_state(const PyPredecessors& self, uint64_t seed) {
  Random random(seed);
  std::vector<Value> values;
  if (!self.steps->goal(random, values)) return std::nullopt;
  return values;
}

std::pair<RowsOf<Value>, Column<int32_t>> find_predecessors(const PyPredecessors& self,
                                                            std::vector<Value> state, uint64_t seed) {
  const std::vector<Value> values = checked_state(self.task, std::move(state));
  Random random(seed);
  std::vector<Value> found;
  std::vector<int32_t> operators;
  {
    nb::gil_scoped_release release;
    self.steps->find(values.data(), random, found, operators);
  }
  const size_t n = operators.size();
  return {rows(std::move(found), n, self.task.space->variables()), column(std::move(operators))};
}

}  // namespace

void bind_preimages(nb::module_& module) {
  module.def("encode", &encode, nb::arg("task"), nb::arg("states"),
             "Bits of the atoms (n, words) of states given by values (n, variables).");
  module.def(
      "adaptive_length",
      [](const PyTask& task) { return adaptive_length(task.space->task(), Atoms(task.space->task())); },
      nb::arg("task"), "Atoms by mean effects of an operator, rounded up.");
  module.def(
      "preimages", &preimages, nb::arg("task"), nb::arg("name"), nb::kw_only(), nb::arg("rollouts"),
      nb::arg("length"), nb::arg("seed"),
      "Partial states (n, variables), -1 for unset, and depths of rollouts of rsl or nrsl; the goal first.");
  module.def("fsm_partial", &fsm_partial, nb::arg("task"), nb::arg("config"), nb::arg("seed"),
             "The partial states (n, variables) of fsm before completion, and their labels.");
  module.def("label", &label, nb::arg("task"), nb::arg("preimages"), nb::arg("depth"), nb::arg("states"),
             "Least depth of a pre-image that contains the state, -1 for none.");
  module.def("complete", &complete, nb::arg("task"), nb::arg("partial"), nb::arg("rule"), nb::arg("seed"),
             "Completes partial states by 'variables' or by 'atoms'.");
  module.def("improve_by_successors", &improve_by_successors, nb::arg("task"), nb::arg("partial"),
             nb::arg("labels"), "SUI: lowers labels of different partial states to h(successor) + 1.");
  nb::class_<PyPredecessors>(module, "Predecessors", "Backward steps between states of a task.")
      .def_static("of", &make_predecessors, nb::arg("task"))
      .def("goal", &goal_state, nb::arg("seed"), "A state of the goal, what it leaves open by chance.")
      .def("find", &find_predecessors, nb::arg("state"), nb::arg("seed"),
           "A state (n, variables) for each operator that may have come last, what regression leaves open by "
           "chance, and the operators.");
}

}  // namespace hstar
