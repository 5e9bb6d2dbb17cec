// Samplers, and the steps of sampling one by one: pre-images, completion, labels, improvement; predecessors
// of states.
#include "bindings/bindings.h"
#include "sampling/exact.h"
#include "sampling/fsm.h"
#include "sampling/predecessors.h"
#include "sampling/preimage.h"
#include "sampling/walks.h"

namespace hstar {
namespace {

void check_share(const char* name, double share) {
  check(share >= 0 && share <= 1, std::string(name) + " must be in [0, 1]");
}
// Bounds the memory that a mistyped number asks for; 0 of a length means the adaptive limit.
void check_sizes(size_t states, int32_t length) {
  check(states >= 1 && states <= 1000000000, "states must be in 1..1000000000");
  check(length >= 0 && length <= 1000000, "length must be in 0..1000000 (0: adaptive)");
}
void check_fsm(const PyTask& task, const FsmConfig& config) {
  check_support(task, "fsm");
  check_sizes(config.states, config.length);
  check_share("bfs_share", config.bfs_share);
  check_share("random_share", config.random_share);
}

// Rows of values in the domains of the variables; `partial` allows kUnset.
std::vector<std::vector<Value>> checked_rows(const PyTask& task, const ValueRows& array, bool partial) {
  const std::vector<Variable>& variables = task.space->task().variables;
  check(array.shape(1) == variables.size(), "states of this task have " + std::to_string(variables.size()) +
                                                " values, not " + std::to_string(array.shape(1)));
  std::vector<std::vector<Value>> result;
  for (size_t i = 0; i < array.shape(0); ++i) {
    const Value* row = array.data() + i * variables.size();
    for (size_t v = 0; v < variables.size(); ++v)
      if (!variables[v].has(row[v]) && !(partial && row[v] == kUnset))
        throw InputError("row " + std::to_string(i) + ": " + variables[v].refusal(row[v]));
    result.emplace_back(row, row + variables.size());
  }
  return result;
}

RolloutChoice rollout_choice(const std::string& name) {
  return named<RolloutChoice>("rollout sampler", name,
                              {{"rsl", RolloutChoice::kUniform}, {"nrsl", RolloutChoice::kNovelty}});
}
const Choices<CompletionRule> kCompletions = {{"variables", CompletionRule::kVariables},
                                              {"atoms", CompletionRule::kAtoms}};
int32_t rollout_length(const PyTask& task, const Atoms& atoms, int32_t length) {
  return length > 0 ? length : adaptive_length(task.space->task(), atoms);
}

// `work` with what regression takes, without the interpreter lock.
template <class Work>
auto sampled(const PyTask& task, uint64_t seed, const Work& work) {
  return unlocked([&](Poll& poll) {
    const Regression regression(*task.space);
    const Atoms atoms(task.space->task());
    Random random(seed);
    return work(regression, atoms, random, poll);
  });
}

using Sampled = std::tuple<RowsOf<BitWord>, Column<int32_t>, Column<bool>>;

Sampled to_python(Samples&& samples) {
  const size_t n = samples.size();
  std::vector<uint8_t>* moved;  // bytes that are 0 or 1, as NumPy has flags
  nb::capsule owner = keep(moved, std::move(samples.bound));
  return {rows(std::move(samples.states), n, samples.words), column(std::move(samples.label)),
          Column<bool>(reinterpret_cast<bool*>(moved->data()), {n}, owner)};
}

Sampled rsl(const PyTask& task, const std::string& name, const DrawConfig& config, int32_t rollouts,
            int32_t length, uint64_t seed) {
  check_support(task, name);
  check_sizes(config.states, length);
  check(rollouts >= 0, "rollouts must be at least 0");
  check_share("random_share", config.random_share);
  const RolloutChoice choice = rollout_choice(name);
  return to_python(
      sampled(task, seed, [&](const auto& regression, const Atoms& atoms, auto& random, auto& poll) {
        const int32_t limit = rollout_length(task, atoms, length);
        const PreImages found = sample_rollouts(regression, atoms, {choice, rollouts, limit}, random, poll);
        return draw_states(regression, atoms, found, limit, config, name, random, poll);
      }));
}

Sampled fsm(const PyTask& task, const FsmConfig& config, uint64_t seed) {
  check_fsm(task, config);
  return to_python(
      sampled(task, seed, [&](const auto& regression, const Atoms& atoms, auto& random, auto& poll) {
        return sample_fsm(regression, atoms, config, random, poll);
      }));
}

RowsOf<Value> walks(const PyTask& task, size_t n, int32_t min_length, int32_t max_length, uint64_t seed) {
  check(min_length >= 0 && min_length <= max_length,
        "the length of walks must be at least 0, and the least not above the greatest");
  check_sizes(std::max<size_t>(n, 1), 0);
  std::vector<Value> values = unlocked([&](Poll& poll) {
    return random_walks(*task.space, task.initial, {n, min_length, max_length, seed}, poll);
  });
  return rows(std::move(values), n, task.space->variables());
}

std::pair<RowsOf<Value>, Column<double>> to_python(const PyTask& task, ExactDistances&& found) {
  const size_t n = found.h.size();
  return {rows(std::move(found.values), n, task.space->width()), column(std::move(found.h))};
}

std::pair<RowsOf<Value>, Column<double>> exact(const PyTask& task, bool unit_cost, size_t max_states) {
  return to_python(task, unlocked([&](Poll& poll) {
                     return exact_distances(*task.space, task.initial, unit_cost, max_states, poll);
                   }));
}

std::pair<RowsOf<Value>, Column<double>> forward(const PyTask& task, ValueRows starts, size_t states) {
  const auto list = checked_rows(task, starts, false);
  return to_python(task,
                   unlocked([&](Poll& poll) { return forward_distances(*task.space, list, states, poll); }));
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
  PreImages found =
      sampled(task, seed, [&](const auto& regression, const Atoms& atoms, auto& random, auto& poll) {
        return sample_rollouts(regression, atoms, {choice, rollouts, rollout_length(task, atoms, length)},
                               random, poll);
      });
  std::vector<Value> flat;
  for (const std::vector<Value>& row : found.values) flat.insert(flat.end(), row.begin(), row.end());
  return {rows(std::move(flat), found.size(), task.space->variables()), column(std::move(found.depth))};
}

std::pair<RowsOf<Value>, Column<int32_t>> fsm_partial(const PyTask& task, const FsmConfig& config,
                                                      uint64_t seed) {
  check_fsm(task, config);
  PartialSamples found =
      sampled(task, seed, [&](const auto& regression, const Atoms& atoms, auto& random, auto& poll) {
        PartialSamples samples = sample_partial(regression, atoms, config, random, poll);
        improve(samples, PartialSpace(*task.space), config, poll);
        return samples;
      });
  std::vector<Value> flat;
  for (const uint32_t state : found.state)
    flat.insert(flat.end(), found.states[state].begin(), found.states[state].end());
  return {rows(std::move(flat), found.label.size(), task.space->variables()), column(std::move(found.label))};
}

Column<int32_t> label(const PyTask& task, ValueRows partial, Array<int32_t, 1> depth,
                      Array<BitWord, 2> states) {
  const auto list = checked_rows(task, partial, true);
  check(depth.shape(0) == list.size(), "every pre-image needs a depth");
  const Atoms atoms(task.space->task());
  check(states.shape(1) == atoms.words(), "states must have " + std::to_string(atoms.words()) + " words");
  return column(unlocked([&](Poll& poll) {
    return label_states(task.space->task(), atoms, {copied(depth), list}, states.data(), states.shape(0),
                        poll);
  }));
}

RowsOf<BitWord> complete(const PyTask& task, ValueRows partial, const std::string& rule, uint64_t seed) {
  check_support(task, "completion");
  const auto list = checked_rows(task, partial, true);
  const CompletionRule by = named("completion", rule, kCompletions);
  const Atoms atoms(task.space->task());
  std::vector<BitWord> bits = unlocked([&](Poll& poll) {
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
        throw UnsupportedError("row " + std::to_string(i) + ": no completion without mutex facts was found");
    }
    return bits;
  });
  return rows(std::move(bits), list.size(), atoms.words());
}

Column<int32_t> improve_by_successors(const PyTask& task, ValueRows partial, Array<int32_t, 1> labels) {
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
  unlocked([&](Poll&) { self.steps->find(values.data(), random, found, operators); });
  const size_t n = operators.size();
  return {rows(std::move(found), n, self.task.space->variables()), column(std::move(operators))};
}

}  // namespace

void bind_sampling(nb::module_& module) {
  module.def("encode", &encode, "task"_a, "states"_a,
             "Bits of the atoms (n, words) of states given by values (n, variables).");
  module.def(
      "adaptive_length",
      [](const PyTask& task) { return adaptive_length(task.space->task(), Atoms(task.space->task())); },
      "task"_a, "Atoms by mean effects of an operator, rounded up.");
  module.def(
      "preimages", &preimages, "task"_a, "name"_a, nb::kw_only(), "rollouts"_a, "length"_a, "seed"_a,
      "Partial states (n, variables), -1 for unset, and depths of rollouts of rsl or nrsl; the goal first.");
  module.def("fsm_partial", &fsm_partial, "task"_a, "config"_a, "seed"_a,
             "The partial states (n, variables) of fsm before completion, and their labels.");
  module.def("label", &label, "task"_a, "preimages"_a, "depth"_a, "states"_a,
             "Least depth of a pre-image that contains the state, -1 for none.");
  module.def("complete", &complete, "task"_a, "partial"_a, "rule"_a, "seed"_a,
             "Completes partial states by 'variables' or by 'atoms'.");
  module.def("improve_by_successors", &improve_by_successors, "task"_a, "partial"_a, "labels"_a,
             "SUI: lowers labels of different partial states to h(successor) + 1.");
  nb::class_<PyPredecessors>(module, "Predecessors", "Backward steps between states of a task.")
      .def_static("of", &make_predecessors, "task"_a)
      .def("goal", &goal_state, "seed"_a, "A state of the goal, what it leaves open by chance.")
      .def("find", &find_predecessors, "state"_a, "seed"_a,
           "A state (n, variables) for each operator that may have come last, what regression leaves open by "
           "chance, and the operators.");
  auto draw = bind_struct<DrawConfig>(module, "DrawConfig", "How states are drawn from pre-images.", "states",
                                      &DrawConfig::states, "random_share", &DrawConfig::random_share);
  bind_choice(draw, "pool", &DrawConfig::pool, "pool",
              {{"cumulative", Pool::kCumulative}, {"level", Pool::kLevel}});
  bind_choice(draw, "completion", &DrawConfig::completion, "completion", kCompletions);
  bind_choice(draw, "unlabelled", &DrawConfig::unlabelled, "label for states in no pre-image",
              {{"limit", Unlabelled::kLimit}, {"max", Unlabelled::kMax}});
  using Fsm = FsmConfig;
  bind_struct<Fsm>(module, "FsmConfig", "Options of fsm.", "states", &Fsm::states, "bfs_share",
                   &Fsm::bfs_share, "random_share", &Fsm::random_share, "length", &Fsm::length, "sai",
                   &Fsm::sai, "sui", &Fsm::sui);
  module.def("rsl", &rsl, "task"_a, "name"_a, "config"_a, nb::kw_only(), "rollouts"_a, "length"_a, "seed"_a,
             "States (n, words), labels, and whether a label is a bound; `name` is rsl or nrsl.");
  module.def("fsm", &fsm, "task"_a, "config"_a, "seed"_a,
             "States (n, words), labels, and whether a label is a bound.");
  module.def("random_walks", &walks, "task"_a, "walks"_a, nb::kw_only(), "min_length"_a, "max_length"_a,
             "seed"_a,
             "Values (n, variables) of the last states of random walks from the task's initial state.");
  module.def("exact_distances", &exact, "task"_a, nb::kw_only(), "unit_cost"_a, "max_states"_a,
             "Values (n, variables) of all reachable states, and h*.");
  module.def("forward_distances", &forward, "task"_a, "starts"_a, "states"_a,
             "Values of the states that breadth-first search expands first, and upper bounds of h*.");
}

}  // namespace hstar
