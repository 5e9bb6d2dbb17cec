#include "bindings/bindings.h"
#include "bindings/callback.h"
#include "estimates/belief.h"
#include "heuristics/believed.h"

namespace hstar {
namespace {

using Matrix = Array<double, 2>;
using Vector = Array<double, 1>;

// A model together with the task whose space it refers to, if there is one.
struct PyRawModel {
  std::shared_ptr<const SearchSpace> space;  // first, so that it outlives the model
  std::unique_ptr<RawModel> model;           // empty once a heuristic has taken it over

  RawModel& get() const {
    if (!model) throw InputError("this model is part of a heuristic now");
    return *model;
  }
};

// Tasks that differ only in what operators cost have the same states, packed in the same way.
void check_states(const SearchSpace& space, const SearchSpace& other, const std::string& what) {
  if (&space == &other) return;
  const auto* one = dynamic_cast<const PlanningSpace*>(&space);
  const auto* two = dynamic_cast<const PlanningSpace*>(&other);
  if (!one || !two) throw InputError(what + " was made for another space");
  const Task &a = one->task(), &b = two->task();
  const bool same =
      a.goal == b.goal &&
      std::ranges::equal(a.variables, b.variables, [](const Variable& one, const Variable& two) {
        return one.fact_names == two.fact_names && one.axiom_layer == two.axiom_layer;
      });
  if (!same) throw InputError(what + " was made for a task with other variables or another goal");
}

RowsOf<double> raw(const PyRawModel& self, const PyProblem& problem, ValueRows states,
                   std::optional<ValueRows> parent) {
  RawModel& model = self.get();
  if (self.space) check_states(*problem.space, *self.space, "the model");
  StateBatch batch = checked_batch(*problem.space, states);
  if (parent) {
    const StateBatch parents = checked_batch(*problem.space, *parent);
    check(parents.size() == 1, "states have one parent, if they have one");
    batch.set_parent(parents.packed(0));
  }
  const size_t n = batch.size();
  std::vector<double> result(n * model.outputs());
  unlocked([&](Poll& poll) {
    for (size_t begin = 0; begin < n; begin += model.grain()) {
      model.run(batch, begin, std::min(begin + model.grain(), n), &result[begin * model.outputs()]);
      poll(kWorkOfSlice);
    }
  });
  return rows(std::move(result), n, model.outputs());
}

// What the search sees of raw outputs, without a search.
Column<double> believed_values(Matrix raw, const Belief& belief, std::optional<Vector> base,
                               std::optional<Vector> lower) {
  const size_t n = raw.shape(0), width = belief.estimate().outputs();
  check(raw.shape(1) == width, std::string("the estimate '") + belief.estimate().name() + "' needs " +
                                   std::to_string(width) + " numbers a state, not " +
                                   std::to_string(raw.shape(1)));
  check(lower || !belief.is_bounded(), "the rule 'bounded' needs a lower bound");
  for (const auto& known : {base, lower})
    check(!known || known->size() == n, "base and lower must have one number for each state");
  std::vector<double> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = belief.value(raw.data() + i * width, base ? base->data()[i] : 0,
                             lower ? lower->data()[i] : Belief::kNoBound);
  return column(std::move(values));
}

// The part, which keeps its space alive.
template <class Part>
std::shared_ptr<Part> take(std::unique_ptr<Part>& part, std::shared_ptr<const SearchSpace> space) {
  return {part.release(), [space = std::move(space)](Part* owned) { delete owned; }};
}

bool same_symbolic(const PyHeuristic& one, const PyHeuristic& two) {
  const auto symbolic = [](const PyHeuristic& part) { return dynamic_cast<SymbolicHeuristic*>(&part.get()); };
  return one.space == two.space && symbolic(one) && symbolic(two) && one.get().name() == two.get().name();
}

PyHeuristic make_believed(const PyProblem& problem, PyRawModel& model, const Belief& belief,
                          PyHeuristic* base, PyHeuristic* lower, const std::string& name, int32_t scale) {
  check(scale >= 1 && scale <= 1 << 16, "the scale must be in 1..65536");
  // All checks come before anything is taken.
  model.get();
  if (model.space) check_states(*problem.space, *model.space, "the model");
  for (const PyHeuristic* part : {base, lower})
    if (part) check_states(*problem.space, *part->space, "heuristic '" + part->get().name() + "'");
  check_belief(model.get(), belief, lower ? &lower->get() : nullptr, name);
  const bool shared = base && lower && (base == lower || same_symbolic(*base, *lower));
  std::shared_ptr<Heuristic> base_part, lower_part;
  if (base) base_part = take(base->heuristic, base->space);
  if (lower) lower_part = shared ? base_part : take(lower->heuristic, lower->space);
  if (shared && lower != base) lower->heuristic.reset();
  BelievedParts parts{take(model.model, model.space), belief, base_part, lower_part};
  return {problem.space, believed_heuristic(*problem.space, std::move(parts), name, scale)};
}

void bind_belief(nb::module_& module) {
  using Kind = Estimate::Kind;
  auto estimate = bind_struct<Estimate>(
      module, "Estimate", "What the outputs of a model mean; see core/estimates/belief.h.", "sigma",
      &Estimate::sigma, "floor", &Estimate::floor, "range", &Estimate::range, "margin", &Estimate::margin);
  bind_choice(estimate, "kind", &Estimate::kind, "estimate",
              {{"point", Kind::kPoint},
               {"gaussian", Kind::kGaussian},
               {"laplace", Kind::kLaplace},
               {"truncated", Kind::kTruncated}});
  bind_struct<Calibration>(module, "Calibration", "Values times a factor less a shift, perhaps rounded up.",
                           "factor", &Calibration::factor, "shift", &Calibration::shift, "whole",
                           &Calibration::whole);
  bind_struct<Rule>(module, "Rule", "Which number of an estimate counts; the mean unless there is a level.",
                    "level", &Rule::level, "clip", &Rule::clip, "clip_lower", &Rule::lower, "clip_upper",
                    &Rule::upper, "offset", &Rule::offset, "eps", &Rule::eps, "calibration",
                    &Rule::calibration, "sure_below", &Rule::sure_below);
  nb::class_<Belief>(module, "Belief", "An estimate and a rule that go together.")
      .def(nb::init<const Estimate&, const Rule&>(), "estimate"_a, "rule"_a);
}

}  // namespace

void bind_models(nb::module_& module) {
  nb::class_<PyRawModel>(module, "RawModel", "A model of states: raw numbers, which an estimate explains.")
      .def_prop_ro("outputs", [](const PyRawModel& self) { return self.get().outputs(); })
      .def("raw", &raw, "task"_a, "states"_a, "parent"_a = nb::none(),
           "Raw outputs (n, outputs) of states given as an int32 array (n, variables). `parent` (1, "
           "variables): "
           "the state that all of them follow, for models that work with differences.");
  module.def(
      "colour_model",
      [](const PyTask& task, const RelationalTask& relations, const ColourTable& table, int32_t iterations,
         bool multiset, Matrix weights, Vector bias) {
        check(weights.shape(1) == bias.size(), "weights of colours must have a column for each output");
        ColourRefinement refinement(task.space->task(), relations, iterations, multiset);
        return PyRawModel{task.space,
                          colour_sum(std::move(refinement), table, copied(weights), copied(bias))};
      },
      "task"_a, "relations"_a, "table"_a, "iterations"_a, "multiset"_a, "weights"_a, "bias"_a,
      "bias + the sum of the weights (colours, outputs) of the colours of a state.");
  module.def(
      "colour_model",
      [](const PyTask& task, const RelationalTask& relations, const ColourTable& table, int32_t iterations,
         bool multiset, const PyNetwork& network) {
        ColourRefinement refinement(task.space->task(), relations, iterations, multiset);
        return PyRawModel{task.space, colour_network(std::move(refinement), table, network.network)};
      },
      "task"_a, "relations"_a, "table"_a, "iterations"_a, "multiset"_a, "network"_a,
      "A network whose inputs are the colours of a state, as often as they occur.");
  module.def(
      "atom_model",
      [](const PyTask& task, const PyNetwork& network, std::vector<int32_t> inputs, bool incremental) {
        return PyRawModel{task.space,
                          atom_network(*task.space, network.network, std::move(inputs), incremental)};
      },
      "task"_a, "network"_a, "inputs"_a, "incremental"_a = true,
      "inputs: per fact of the task, variables in order, its row of the network or -1.");
  module.def(
      "linear_model",
      [](const PyTask& task, Matrix weights, Vector bias) {
        check(weights.shape(0) == bias.size(), "weights must have a row for each output");
        return PyRawModel{task.space, relaxed_plan_model(*task.space, copied(weights), copied(bias))};
      },
      "task"_a, "weights"_a, "bias"_a,
      "Weights (outputs, 4) of goals that do not hold, operators of ff's relaxed plan, atoms that they "
      "delete in all and on average. The task is the one whose costs count, which may be another than that "
      "of the "
      "search; infinite for states without a relaxed plan.");
  module.def(
      "callback_model",
      [](nb::object function, size_t outputs, const std::string& name) {
        check(outputs >= 1, "a model needs at least one output");
        return PyRawModel{nullptr, std::make_unique<CallbackModel>(function, outputs, name)};
      },
      "function"_a, "outputs"_a, "name"_a,
      "A function from states, an int32 array (n, variables), to numbers (n, outputs).");

  bind_belief(module);
  module.def(
      "believed_heuristic", &make_believed, "problem"_a, "model"_a, nb::kw_only(),
      "belief"_a = Belief({}, {}), "base"_a = nb::none(), "lower"_a = nb::none(), "name"_a, "scale"_a,
      "What the belief makes of the model's outputs. Takes the model, base and lower over; they may be "
      "of a task that differs in costs only.");
  module.def("believed_values", &believed_values, "raw"_a, "belief"_a, nb::kw_only(), "base"_a = nb::none(),
             "lower"_a = nb::none(),
             "The same for raw outputs (n, outputs) with values of base and lower (n,): neither rounded nor "
             "kept above 0, NaN where the heuristic would refuse.");
}

}  // namespace hstar
