#include "pddl/translate.h"

#include <ranges>
#include <string_view>

#include "bindings/bindings.h"
#include "pddl/parser.h"

namespace hstar {
namespace {

// The exit codes of hstar.spaces.translate for a translator that ran out of memory or time.
constexpr int kOutOfMemory = 20, kOutOfTime = 21;

[[noreturn]] void raise_limit(const pddl::LimitError& error, const std::string& problem) {
  if (error.status == Status::kInterrupted) {
    const std::string message = problem + ": the translation was interrupted: " + error.what();
    PyErr_SetString(PyExc_KeyboardInterrupt, message.c_str());
    throw nb::python_error();
  }
  const bool time = error.status == Status::kTimeLimit;
  const std::string message =
      problem + ": the translation ran out of " + (time ? "time" : "memory") + ": " + error.what();
  set_error("TranslatorLimitError", message, "exit_code"_a = time ? kOutOfTime : kOutOfMemory);
  throw nb::python_error();
}

// Domain and problem.
using Texts = std::pair<nb::bytes, nb::bytes>;
using Files = std::pair<std::string, std::string>;

std::string_view view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

std::pair<PyTask, pddl::TranslateReport> translate(const Texts& texts, const Files& files, bool unit_cost,
                                                   bool keep_unimportant, std::optional<double> time_limit,
                                                   std::optional<size_t> memory_limit, nb::object progress) {
  const std::string_view domain = view(texts.first), problem = view(texts.second);
  PythonObserver observer(std::move(progress));
  pddl::TranslateOptions options;
  options.keep_unimportant = keep_unimportant;
  if (time_limit) options.limits.time_s = *time_limit;
  if (memory_limit) options.limits.memory_bytes = *memory_limit;
  options.observer = [&observer](const Progress& record) { return observer(record); };
  pddl::TranslateReport report;
  size_t operators = 0;
  try {
    nb::gil_scoped_release release;
    Task task = pddl::translate({files.first, domain}, {files.second, problem}, options, report);
    if (unit_cost) task.operators.set_unit_cost();
    operators = task.operators.size();
    auto space = std::make_shared<const PlanningSpace>(std::move(task));
    return {PyTask{space, space->initial_state()}, std::move(report)};
  } catch (const pddl::LimitError& error) {
    observer.rethrow();
    raise_limit(error, files.second);
  } catch (const std::bad_alloc&) {
    const std::string reached =
        std::to_string(operators) + " operators, which a search cannot be prepared for";
    raise_limit({Status::kMemoryLimit, reached}, files.second);
  }
}

// The lifted side as plain data, of which hstar.spaces.lifted makes its objects.

template <typename Range, typename Item>
nb::list listed(const Range& range, const Item& item) {
  nb::list result;
  for (const auto& one : range) result.append(item(one));
  return result;
}

nb::list type_names(const pddl::LiftedTask& task, const std::vector<int32_t>& types) {
  return listed(types, [&](int32_t type) { return task.types[type]; });
}

// What refers to the variables of one schema. Each of them gets a name of its own, so that none is shadowed.
class Schema {
 public:
  Schema(const pddl::LiftedTask& task, const std::vector<pddl::SchemaVariable>& variables)
      : task_(task), variables_(variables) {
    for (const pddl::SchemaVariable& variable : variables) {
      std::string name = variable.name;
      for (int copy = 2; std::ranges::find(names_, name) != names_.end(); ++copy)
        name = variable.name + "@" + std::to_string(copy);
      names_.push_back(name);
    }
  }

  template <typename Range>
  nb::list parameters(const Range& numbers) const {
    return listed(numbers, [&](int32_t number) {
      return nb::make_tuple(names_[number], type_names(task_, variables_[number].types));
    });
  }
  nb::list first_parameters(int32_t count) const { return parameters(std::views::iota(0, count)); }

  nb::tuple atom(const std::string& predicate, const std::vector<pddl::Term>& terms) const {
    return nb::make_tuple("atom", predicate, listed(terms, [&](pddl::Term term) {
                            return pddl::is_variable(term) ? names_[pddl::variable_of(term)]
                                                           : task_.objects[term].name;
                          }));
  }
  nb::tuple atom(const pddl::Literal& literal) const {
    return atom(task_.predicates[literal.predicate].name, literal.terms);
  }

  // The kind of formula, then its parts.
  nb::tuple formula(const pddl::Formula& formula) const {
    using Kind = pddl::Formula::Kind;
    if (formula.kind == Kind::kLiteral)
      return formula.literal.negated ? nb::make_tuple("not", atom(formula.literal)) : atom(formula.literal);
    const nb::list parts =
        listed(formula.parts, [&](const pddl::Formula& part) { return this->formula(part); });
    if (formula.kind == Kind::kAnd || formula.kind == Kind::kOr)
      return nb::make_tuple(formula.kind == Kind::kAnd ? "and" : "or", parts);
    const char* kind = formula.kind == Kind::kForall ? "forall" : "exists";
    return nb::make_tuple(kind, parameters(formula.variables), parts[0]);
  }

 private:
  const pddl::LiftedTask& task_;
  const std::vector<pddl::SchemaVariable>& variables_;
  std::vector<std::string> names_;
};

nb::tuple action_data(const pddl::LiftedTask& task, const pddl::LiftedAction& action) {
  const Schema schema(task, action.variables);
  const nb::list effects = listed(action.effects, [&](const pddl::LiftedEffect& effect) {
    return nb::make_tuple(schema.parameters(effect.variables), schema.formula(effect.condition),
                          schema.atom(effect.literal), !effect.literal.negated);
  });
  nb::object cost = nb::cast(action.cost.number);
  if (action.cost.function >= 0)
    cost = schema.atom(task.functions[action.cost.function].name, action.cost.terms);
  return nb::make_tuple(action.name, schema.first_parameters(action.parameters),
                        schema.formula(action.precondition), effects, cost);
}

nb::tuple ground_atom(const pddl::LiftedTask& task, const std::string& name,
                      const std::vector<int32_t>& objects) {
  nb::list words;
  words.append(name);
  for (const int32_t object : objects) words.append(task.objects[object].name);
  return nb::tuple(words);
}

nb::tuple domain_data(const pddl::LiftedTask& task, const nb::dict& constants) {
  nb::dict types, predicates, functions, actions;
  for (size_t i = 1; i < task.types.size(); ++i) types[task.types[i].c_str()] = task.types[task.parents[i]];
  const auto declare = [&](nb::dict& table, const pddl::Predicate& one) {
    table[one.name.c_str()] = listed(one.types, [&](const auto& types) { return type_names(task, types); });
  };
  for (const pddl::Predicate& one : task.predicates | std::views::drop(1)) declare(predicates, one);
  for (const pddl::Predicate& one : task.functions) declare(functions, one);
  for (const pddl::LiftedAction& one : task.actions) actions[one.name.c_str()] = action_data(task, one);
  const nb::list rules = listed(task.rules, [&](const pddl::LiftedRule& rule) {
    const Schema schema(task, rule.variables);
    const pddl::Predicate& head = task.predicates[rule.predicate];
    return nb::make_tuple(head.name, schema.first_parameters(head.arity()), schema.formula(rule.condition));
  });
  return nb::make_tuple(task.domain_name, task.requirements, types, constants, predicates, functions, actions,
                        rules);
}

nb::tuple problem_data(const pddl::LiftedTask& task, const nb::dict& objects) {
  const nb::list init = listed(task.init, [&](const pddl::GroundAtom& atom) {
    return ground_atom(task, task.predicates[atom.predicate].name, atom.objects);
  });
  nb::dict costs;
  for (const pddl::FunctionValue& value : task.values)
    costs[ground_atom(task, task.functions[value.function].name, value.objects)] = value.value;
  const nb::tuple goal = Schema(task, task.goal_variables).formula(task.goal);
  return nb::make_tuple(task.problem_name, objects, init, costs, goal, task.metric);
}

nb::object parse_pddl(const Texts& texts, const Files& files) {
  pddl::LiftedTask task;
  {
    nb::gil_scoped_release release;
    task = pddl::parse_task({files.first, view(texts.first)}, {files.second, view(texts.second)});
  }
  nb::dict constants, objects;
  for (size_t i = 0; i < task.objects.size(); ++i) {
    const pddl::Object& object = task.objects[i];
    if (object.types.size() > 1)
      throw UnsupportedError(files.second + ": object '" + object.name + "' has more than one type");
    (i < task.constants ? constants : objects)[object.name.c_str()] = task.types[object.types[0]];
  }
  return nb::make_tuple(domain_data(task, constants), problem_data(task, objects), task.warnings);
}

}  // namespace

void bind_translate(nb::module_& module) {
  using pddl::TranslateReport;
  nb::class_<TranslateReport>(module, "TranslateReport",
                              "Seconds of each phase of a translation, and warnings.")
      .def_ro("parse", &TranslateReport::parse)
      .def_ro("join", &TranslateReport::join)
      .def_ro("invariants", &TranslateReport::invariants)
      .def_ro("variables", &TranslateReport::variables)
      .def_ro("encode", &TranslateReport::encode)
      .def_ro("simplify", &TranslateReport::simplify)
      .def_ro("warnings", &TranslateReport::warnings);
  module.def(
      "translate", &translate, nb::arg("texts"), nb::arg("files"), nb::arg("unit_cost") = false,
      nb::arg("keep_unimportant") = false, nb::arg("time_limit") = nb::none(),
      nb::arg("memory_limit") = nb::none(), nb::arg("progress") = nb::none(),
      "The task of two PDDL texts, domain and problem; their file names are for errors. Limits are in "
      "seconds and in bytes of the process; `progress` is called with facts as `evaluated` and operators "
      "as `generated`.");
  module.def("parse_pddl", &parse_pddl, nb::arg("texts"), nb::arg("files"),
             "The lifted side of two PDDL texts, as plain data for hstar.spaces.lifted.");
}

}  // namespace hstar
