#include "pddl/translate.h"

#include <algorithm>
#include <bit>
#include <new>
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
void put_in_order_of_text(std::span<Fact> preconditions, const Effects& effects) {
  const auto stays = [&](const Fact& fact) {
    return std::ranges::none_of(effects,
                                [&](const Effect& effect) { return effect.fact.variable == fact.variable; });
  };
  auto rest = std::stable_partition(preconditions.begin(), preconditions.end(), stays);
  for (const Effect& effect : effects) {
    const auto at = std::ranges::find(rest, preconditions.end(), effect.fact.variable, &Fact::variable);
    if (at == preconditions.end()) continue;
    std::rotate(rest, at, at + 1);
    ++rest;
  }
}

class Translator {
 public:
  Translator(const TranslateOptions& options, TranslateReport& report)
      : options_(options), report_(report), watch_(options.limits, options.observer) {}

  const Watch& watch() const { return watch_; }

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
    const double now = thread_cpu_s();
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

  // In the order of their names; instances that are encoded are given up.
  void encode_operators(Grounder& grounder, Encoder& encoder) {
    const std::vector<int32_t> ranks = object_ranks(lifted_);
    std::vector<int32_t> object_words, words, order(lifted_.actions.size());
    for (const Object& object : lifted_.objects) object_words.push_back(flat_.operators.word(object.name));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int32_t a) -> const std::string& { return lifted_.actions[a].name; });
    std::vector<GroundLiteral> precondition;
    std::vector<GroundEffect> effects;
    for (const int32_t action : order) {
      words.assign(1, flat_.operators.word(lifted_.actions[action].name));
      for (const Place& place : instances_by_name(action, ranks)) {
        watch_(10);
        const int32_t* const instance = model_.schemas[place.schema][place.instance];
        grounder.ground_schema(place.schema, instance, precondition, effects);
        if (effects.empty()) continue;
        need(precondition);
        for (const GroundEffect& effect : effects) need(effect.conditions);
        words.resize(1);
        for (int32_t i = 0; i < lifted_.actions[action].parameters; ++i)
          words.push_back(object_words[instance[i]]);
        const Cost cost =
            lifted_.metric ? checked_cost(grounder, normal_.schemas[place.schema], instance) : 1;
        encoder.add_operator(words, cost, precondition, effects);
      }
      for (size_t s = 0; s < normal_.schemas.size(); ++s)
        if (normal_.schemas[s].action == action) model_.schemas[s] = {};
    }
  }

  struct Place {
    int32_t schema;
    uint32_t instance;
    auto operator<=>(const Place&) const = default;
  };

  // All instances of an action, by the names of its parameters.
  std::vector<Place> instances_by_name(int32_t action, const std::vector<int32_t>& ranks) {
    const auto parameters = static_cast<size_t>(lifted_.actions[action].parameters);
    const auto bits = static_cast<size_t>(std::bit_width(ranks.size() | 1));
    const size_t in_key = std::min(parameters, 64 / bits);  // the key has as many as fit
    std::vector<std::pair<uint64_t, Place>> found;
    for (size_t s = 0; s < normal_.schemas.size(); ++s) {
      if (normal_.schemas[s].action != action) continue;
      const Instances& instances = model_.schemas[s];
      found.reserve(found.size() + instances.count);
      for (size_t i = 0; i < instances.count; ++i) {
        watch_();
        uint64_t key = 0;
        for (size_t k = 0; k < in_key; ++k) key = key << bits | static_cast<uint64_t>(ranks[instances[i][k]]);
        found.emplace_back(key, Place{static_cast<int32_t>(s), static_cast<uint32_t>(i)});
      }
    }
    const auto rest = [&](const Place& place) {
      return std::span(model_.schemas[place.schema][place.instance] + in_key, parameters - in_key);
    };
    const auto rank = [&](int32_t object) { return ranks[object]; };
    std::ranges::sort(found, [&](const auto& a, const auto& b) {
      if (a.first != b.first || in_key == parameters) return a < b;
      const auto x = rest(a.second), y = rest(b.second);
      if (!std::ranges::equal(x, y)) return std::ranges::lexicographical_compare(x, y, {}, rank, rank);
      return a.second < b.second;
    });
    std::vector<Place> result;
    result.reserve(found.size());
    for (const auto& [key, place] : found) result.push_back(place);
    return result;
  }

  void need(const std::vector<GroundLiteral>& literals) {
    if (needed_.empty()) return;
    for (const GroundLiteral literal : literals) needed_[atom_of(literal)] = true;
  }

  Cost checked_cost(Grounder& grounder, const Schema& schema, const int32_t* parameters) const {
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
    task.operators = std::move(flat_.operators);
    for (size_t i = 0; i < task.operators.size(); ++i) {
      watch_(2);
      put_in_order_of_text(task.operators.preconditions_of(i), task.operators[i].effects);
    }
    return task;
  }

  const TranslateOptions& options_;
  TranslateReport& report_;
  Watch watch_;
  LiftedTask lifted_;
  NormalTask normal_;
  Model model_;
  FlatTask flat_;
  std::vector<bool> needed_;  // per atom: an operator or the goal asks for it; empty without axioms
  double last_ = thread_cpu_s();
};

}  // namespace

Task translate(const PddlFile& domain, const PddlFile& problem, const TranslateOptions& options,
               TranslateReport& report) {
  Translator translator(options, report);
  try {
    return translator.run(domain, problem);
  } catch (const std::bad_alloc&) {
    translator.watch().stop(Status::kMemoryLimit);
  }
}

}  // namespace hstar::pddl
