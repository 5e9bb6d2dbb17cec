#include "pddl/translate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/errors.h"
#include "pddl/axioms.h"
#include "pddl/encoder.h"
#include "pddl/ground.h"
#include "pddl/groups.h"
#include "pddl/invariants.h"
#include "pddl/normalise.h"
#include "pddl/parser.h"
#include "pddl/reachability.h"
#include "pddl/simplify.h"

namespace hstar::pddl {
namespace {

Task trivial_task(bool solved) {
  Task task;
  task.variables.push_back({"var0", -1, {"Atom dummy(val1)", "Atom dummy(val2)"}});
  task.initial_values = {0};
  task.goal = {{0, solved ? 0 : 1}};
  task.uses_metric = true;
  return task;
}

// As a .sas file has them: what stays as it is first, then what the effects change. Ties of lmcut follow it.
std::vector<Fact> in_order_of_text(std::span<const Fact> preconditions, std::span<const FlatEffect> effects) {
  std::vector<Fact> kept, changed;
  for (const FlatEffect& effect : effects) {
    const Value value = asked(preconditions, effect.fact.variable);
    const Fact before{effect.fact.variable, value};
    if (value >= 0 && std::ranges::find(changed, before) == changed.end()) changed.push_back(before);
  }
  for (const Fact& fact : preconditions)
    if (std::ranges::find(changed, fact) == changed.end()) kept.push_back(fact);
  kept.insert(kept.end(), changed.begin(), changed.end());
  return kept;
}

class Translator {
 public:
  Translator(const TranslateOptions& options, TranslateReport& report)
      : options_(options), report_(report), watch_(options.limits, options.observer) {}

  Task run(const PddlFile& domain, const PddlFile& problem) {
    lifted_ = parse_task(Source(domain.name, domain.text), Source(problem.name, problem.text));
    report_.warnings = lifted_.warnings;
    normal_ = normalise(lifted_);
    lap(report_.parse);
    Database database(lifted_);
    model_ = explore(lifted_, normal_, database, watch_);
    lap(report_.join);
    const Atoms atoms(lifted_, database);
    std::vector<GroundLiteral> goal;
    if (!ground_goal(database, atoms, goal)) return trivial_task(false);
    if (goal.empty()) return trivial_task(true);
    const std::vector<Invariant> invariants = find_invariants(lifted_, normal_, model_, watch_);
    lap(report_.invariants);
    const std::vector<bool> initial = initial_atoms(database, atoms);
    std::vector<bool> alone(atoms.size(), false);
    for (const GroundLiteral literal : goal)
      if (is_negated(literal)) alone[atom_of(literal)] = true;
    const Groups groups = find_groups(invariants, atoms, initial, alone, watch_);
    lap(report_.variables);
    Encoder encoder(groups, atoms, flat_, watch_);
    for (int32_t atom = 0; atom < atoms.size(); ++atom)
      if (const Fact fact = encoder.fact(atom); initial[atom])
        flat_.variables[fact.variable].initial = fact.value;
    const std::vector<std::vector<Fact>> goals = encoder.conditions(goal);
    if (goals.empty()) return trivial_task(false);
    flat_.goal = goals.front();
    Grounder grounder(lifted_, normal_, database, atoms, watch_);
    if (!normal_.rules.empty()) needed_.resize(atoms.size(), false);
    need(goal);
    encode_operators(grounder, encoder);
    encode_axioms(grounder, encoder, atoms);
    lap(report_.encode);
    if (const Triviality found = drop_unreachable(flat_, watch_); found != Triviality::kNone)
      return trivial_task(found == Triviality::kSolved);
    reorder(flat_, causal_order(flat_, options_.keep_unimportant, watch_), watch_);
    Task task = finish(atoms);
    lap(report_.simplify);
    return task;
  }

 private:
  void lap(double& part) {
    const double now = watch_.elapsed_s();
    part = now - last_;
    last_ = now;
  }

  // False if it cannot hold. Literals that always hold are left out.
  bool ground_goal(const Database& database, const Atoms& atoms, std::vector<GroundLiteral>& goal) const {
    for (const Literal& literal : normal_.goal) {
      const bool equality = literal.predicate == kEquals;
      const bool known = equality ? literal.terms[0] == literal.terms[1]
                                  : database.relations[literal.predicate].find(literal.terms.data()) >= 0;
      if (known && !equality && database.fluent[literal.predicate]) {
        goal.push_back(make_literal(atoms.find(literal.predicate, literal.terms.data()), literal.negated));
      } else if (known == literal.negated) {
        return false;
      }
    }
    return true;
  }

  std::vector<bool> initial_atoms(const Database& database, const Atoms& atoms) const {
    std::vector<bool> initial(atoms.size(), false);
    for (const GroundAtom& atom : lifted_.init)
      if (database.fluent[atom.predicate]) initial[atoms.find(atom.predicate, atom.objects.data())] = true;
    return initial;
  }

  void encode_operators(Grounder& grounder, Encoder& encoder) {
    std::vector<GroundLiteral> precondition;
    std::vector<GroundEffect> effects;
    for (size_t s = 0; s < normal_.schemas.size(); ++s) {
      const Instances& instances = model_.schemas[s];
      for (size_t i = 0; i < instances.count; ++i) {
        watch_(10);
        grounder.ground_schema(s, instances[i], precondition, effects);
        if (effects.empty()) continue;
        need(precondition);
        for (const GroundEffect& effect : effects) need(effect.conditions);
        FlatOperator op{static_cast<int32_t>(s), static_cast<uint32_t>(i), 1, 0, 0, 0, 0};
        if (lifted_.metric) op.cost = checked_cost(grounder, normal_.schemas[s], instances[i]);
        encoder.add_operator(op, precondition, effects);
      }
    }
  }

  void need(const std::vector<GroundLiteral>& literals) {
    if (needed_.empty()) return;
    for (const GroundLiteral literal : literals) needed_[atom_of(literal)] = true;
  }

  Cost checked_cost(const Grounder& grounder, const Schema& schema, const int32_t* parameters) const {
    const int64_t cost = grounder.cost(schema, parameters);
    if (cost > kMaxCost)
      throw InputError("the cost of action '" + lifted_.actions[schema.action].name + "' is above 2^29");
    return static_cast<Cost>(cost);
  }

  void encode_axioms(Grounder& grounder, Encoder& encoder, const Atoms& atoms) {
    std::vector<GroundRule> rules;
    for (size_t r = 0; r < normal_.rules.size(); ++r) {
      for (size_t i = 0; i < model_.rules[r].count; ++i) {
        watch_(10);
        GroundRule& rule = rules.emplace_back();
        grounder.ground_rule(normal_.rules[r], model_.rules[r][i], rule.body, rule.head);
      }
    }
    if (!rules.empty()) drop_unneeded(rules, needed_);
    drop_dominated(rules, watch_);
    const std::vector<int32_t> layers = axiom_layers(rules, atoms);
    for (int32_t atom = 0; atom < atoms.size(); ++atom)
      if (layers[atom] >= 0) flat_.variables[encoder.fact(atom).variable].layer = layers[atom];
    for (const GroundRule& rule : rules) encoder.add_axiom(rule.body, rule.head);
  }

  // Names and the final containers.

  Task finish(const Atoms& atoms) {
    Task task;
    task.uses_metric = lifted_.metric;
    for (const FlatVariable& flat : flat_.variables) {
      Variable& variable = task.variables.emplace_back();
      variable.name = "var" + std::to_string(task.variables.size() - 1);
      variable.axiom_layer = flat.layer;
      for (const int32_t atom : flat.atoms)
        variable.fact_names.push_back(atom >= 0          ? "Atom " + atoms.name(atom)
                                      : flat.absent >= 0 ? "NegatedAtom " + atoms.name(flat.absent)
                                                         : "<none of those>");
      task.initial_values.push_back(flat.initial);
    }
    for (std::vector<Fact>& group : flat_.mutexes) {
      const bool across = std::ranges::any_of(
          group, [&](const Fact& fact) { return fact.variable != group.front().variable; });
      if (across) task.mutex_groups.push_back(std::move(group));
    }
    task.goal = flat_.goal;
    std::ranges::sort(task.goal);
    task.axioms = std::move(flat_.axioms);
    add_operators(task);
    return task;
  }

  void add_operators(Task& task) {
    std::vector<int32_t> objects = object_ranks(lifted_), actions(lifted_.actions.size());
    std::vector<int32_t> by_name(actions.size());
    std::iota(by_name.begin(), by_name.end(), 0);
    std::ranges::sort(by_name, {}, [&](int32_t a) -> const std::string& { return lifted_.actions[a].name; });
    for (size_t i = 0; i < by_name.size(); ++i) actions[by_name[i]] = static_cast<int32_t>(i);
    const auto parameters = [&](const FlatOperator& op) {
      return std::span(model_.schemas[op.schema][op.instance],
                       lifted_.actions[normal_.schemas[op.schema].action].parameters);
    };
    const auto rank = [&](int32_t object) { return objects[object]; };
    std::ranges::stable_sort(flat_.operators, [&](const FlatOperator& a, const FlatOperator& b) {
      const int32_t x = actions[normal_.schemas[a.schema].action],
                    y = actions[normal_.schemas[b.schema].action];
      if (x != y) return x < y;
      return std::ranges::lexicographical_compare(parameters(a), parameters(b), {}, rank, rank);
    });
    task.operators.reserve(flat_.operators.size());
    for (const FlatOperator& flat : flat_.operators) {
      watch_(10);
      Operator& op = task.operators.emplace_back();
      op.name = lifted_.actions[normal_.schemas[flat.schema].action].name;
      for (const int32_t object : parameters(flat)) op.name += " " + lifted_.objects[object].name;
      op.cost = flat.cost;
      const std::span<const Fact> preconditions = std::as_const(flat_).preconditions(flat);
      op.preconditions = in_order_of_text(preconditions, std::as_const(flat_).effects_of(flat));
      op.effects.reserve(flat.effects);
      for (const FlatEffect& effect : std::as_const(flat_).effects_of(flat)) {
        const std::span<const Fact> conditions = std::as_const(flat_).conditions(effect);
        op.effects.push_back({{conditions.begin(), conditions.end()}, effect.fact});
      }
    }
  }

  const TranslateOptions& options_;
  TranslateReport& report_;
  Watch watch_;
  LiftedTask lifted_;
  NormalTask normal_;
  Model model_;
  FlatTask flat_;
  std::vector<bool> needed_;  // per atom: an operator or the goal asks for it; empty without axioms
  double last_ = 0;
};

}  // namespace

Task translate(const PddlFile& domain, const PddlFile& problem, const TranslateOptions& options,
               TranslateReport& report) {
  return Translator(options, report).run(domain, problem);
}

}  // namespace hstar::pddl
