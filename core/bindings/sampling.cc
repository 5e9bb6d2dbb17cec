#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/sampling_arrays.h"
#include "sampling/draw.h"
#include "sampling/exact.h"
#include "sampling/walks.h"

namespace hstar {
namespace {

using Sampled = std::tuple<RowsOf<BitWord>, Column<int32_t>, Column<bool>>;

Column<bool> flags(const std::vector<uint8_t>& data) {
  auto* copy = new bool[data.size() + 1];
  std::copy(data.begin(), data.end(), copy);
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
  return Column<bool>(copy, {data.size()}, owner);
}

Sampled to_python(Samples&& samples) {
  const size_t n = samples.size();
  return {rows(std::move(samples.states), n, samples.words), column(std::move(samples.label)),
          flags(samples.bound)};
}

Sampled rsl(const PyTask& task, const std::string& name, const DrawConfig& config, int32_t rollouts,
            int32_t length, uint64_t seed) {
  check_support(task, name);
  check_sizes(config.states, length);
  check(rollouts >= 0, "rollouts must be at least 0");
  check_share("random_share", config.random_share);
  const RolloutChoice choice = rollout_choice(name);
  return to_python(unlocked([&](Poll& poll) {
    const Regression regression(*task.space);
    const Atoms atoms(task.space->task());
    const int32_t limit = rollout_length(task, atoms, length);
    Random random(seed);
    const PreImages found = sample_rollouts(regression, atoms, {choice, rollouts, limit}, random, poll);
    return draw_states(regression, atoms, found, limit, config, name, random, poll);
  }));
}

Sampled fsm(const PyTask& task, const FsmConfig& config, uint64_t seed) {
  check_fsm(task, config);
  return to_python(unlocked([&](Poll& poll) {
    const Regression regression(*task.space);
    const Atoms atoms(task.space->task());
    Random random(seed);
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

std::pair<RowsOf<Value>, Column<double>> exact(const PyTask& task, bool unit_cost, size_t max_states) {
  ExactDistances found = unlocked(
      [&](Poll& poll) { return exact_distances(*task.space, task.initial, unit_cost, max_states, poll); });
  const size_t n = found.h.size();
  return {rows(std::move(found.values), n, task.space->variables()), column(std::move(found.h))};
}

}  // namespace

void bind_sampling(nb::module_& module) {
  auto draw = bind_struct<DrawConfig>(module, "DrawConfig", "How states are drawn from pre-images.");
  draw.def_rw("states", &DrawConfig::states).def_rw("random_share", &DrawConfig::random_share);
  bind_choice(draw, "pool", &DrawConfig::pool, "pool",
              {{"cumulative", Pool::kCumulative}, {"level", Pool::kLevel}});
  bind_choice(draw, "completion", &DrawConfig::completion, "completion", kCompletions);
  bind_choice(draw, "unlabelled", &DrawConfig::unlabelled, "label for states in no pre-image",
              {{"limit", Unlabelled::kLimit}, {"max", Unlabelled::kMax}});
  bind_struct<FsmConfig>(module, "FsmConfig", "Options of fsm.")
      .def_rw("states", &FsmConfig::states)
      .def_rw("bfs_share", &FsmConfig::bfs_share)
      .def_rw("random_share", &FsmConfig::random_share)
      .def_rw("length", &FsmConfig::length)
      .def_rw("sai", &FsmConfig::sai)
      .def_rw("sui", &FsmConfig::sui);
  module.def("rsl", &rsl, nb::arg("task"), nb::arg("name"), nb::arg("config"), nb::kw_only(),
             nb::arg("rollouts"), nb::arg("length"), nb::arg("seed"),
             "States (n, words), labels, and whether a label is a bound; `name` is rsl or nrsl.");
  module.def("fsm", &fsm, nb::arg("task"), nb::arg("config"), nb::arg("seed"),
             "States (n, words), labels, and whether a label is a bound.");
  module.def("random_walks", &walks, nb::arg("task"), nb::arg("walks"), nb::kw_only(), nb::arg("min_length"),
             nb::arg("max_length"), nb::arg("seed"),
             "Values (n, variables) of the last states of random walks from the task's initial state.");
  module.def("exact_distances", &exact, nb::arg("task"), nb::kw_only(), nb::arg("unit_cost"),
             nb::arg("max_states"), "Values (n, variables) of all reachable states, and h*.");
}

}  // namespace hstar
