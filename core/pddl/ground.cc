#include "pddl/ground.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"

namespace hstar::pddl {

std::vector<int32_t> object_ranks(const LiftedTask& task) {
  std::vector<int32_t> order(task.objects.size()), ranks(task.objects.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](int32_t object) -> const std::string& { return task.objects[object].name; });
  for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<int32_t>(i);
  return ranks;
}

Atoms::Atoms(const LiftedTask& task, const Database& database)
    : task_(task), database_(database), first_(1, 0) {
  for (size_t p = 0; p < database.relations.size(); ++p)
    first_.push_back(first_.back() + (database.fluent[p] ? database.relations[p].size() : 0));
  const std::vector<int32_t> objects = object_ranks(task);
  std::vector<int32_t> predicates(task.predicates.size());
  std::iota(predicates.begin(), predicates.end(), 0);
  std::ranges::sort(predicates, {}, [&](int32_t p) -> const std::string& { return task.predicates[p].name; });
  ranks_.resize(size());
  int32_t next = 0;
  for (const int32_t p : predicates) {
    const Relation& relation = database.relations[p];
    std::vector<int32_t> rows(first_[p + 1] - first_[p]);
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::sort(rows, [&](int32_t a, int32_t b) {
      return std::ranges::lexicographical_compare(
          relation.row(a), relation.row(b), {}, [&](int32_t o) { return objects[o]; },
          [&](int32_t o) { return objects[o]; });
    });
    for (const int32_t row : rows) ranks_[first_[p] + row] = next++;
  }
}

int32_t Atoms::predicate(int32_t atom) const {
  return static_cast<int32_t>(std::ranges::upper_bound(first_, atom) - first_.begin()) - 1;
}

std::span<const int32_t> Atoms::objects(int32_t atom) const {
  const int32_t p = predicate(atom);
  return database_.relations[p].row(atom - first_[p]);
}

int32_t Atoms::find(int32_t predicate, const int32_t* objects) const {
  const int32_t row = database_.relations[predicate].find(objects);
  return row < 0 ? -1 : first_[predicate] + row;
}

std::string Atoms::name(int32_t atom) const {
  const int32_t p = predicate(atom);
  std::string text = task_.predicates[p].name + "(";
  bool comma = false;
  for (const int32_t object : database_.relations[p].row(atom - first_[p])) {
    if (comma) text += ", ";
    comma = true;
    text += task_.objects[object].name;
  }
  return text + ")";
}

Grounder::Grounder(const LiftedTask& task, const NormalTask& normal, Database& database, const Atoms& atoms,
                   Watch& watch)
    : task_(task), normal_(normal), atoms_(atoms), database_(database), join_(database, watch) {
  for (const Schema& schema : normal.schemas) {
    std::vector<Plan>& plans = plans_.emplace_back();
    for (const SchemaEffect& effect : schema.effects) {
      Query query{&schema.variables, effect.parameters, {}};
      for (const Literal& literal : effect.conditions) query.literals.push_back(&literal);
      plans.push_back(make_plan(database, query, schema.parameters));
    }
  }
  for (const Predicate& function : task.functions) function_keys_.emplace_back(function.arity());
  function_values_.resize(task.functions.size());
  for (const FunctionValue& value : task.values)
    if (function_keys_[value.function].insert(value.objects.data()))
      function_values_[value.function].push_back(value.value);
}

void Grounder::set(const std::vector<int32_t>& variables, const int32_t* parameters) {
  for (size_t i = 0; i < variables.size(); ++i) values_[variables[i]] = parameters[i];
}

int32_t Grounder::ground(const Literal& literal) {
  objects_.clear();
  for (const Term term : literal.terms)
    objects_.push_back(is_variable(term) ? values_[variable_of(term)] : term);
  return atoms_.find(literal.predicate, objects_.data());
}

// Only fluent literals are left: the join has checked the others. What is not reachable is always false.
void Grounder::add_conditions(const std::vector<Literal>& literals, std::vector<GroundLiteral>& found) {
  for (const Literal& literal : literals) {
    if (!database_.fluent[literal.predicate]) continue;
    const int32_t atom = ground(literal);
    if (atom >= 0) found.push_back(make_literal(atom, literal.negated));
  }
}

void Grounder::ground_schema(size_t schema, const int32_t* parameters,
                             std::vector<GroundLiteral>& precondition, std::vector<GroundEffect>& effects) {
  const Schema& of = normal_.schemas[schema];
  values_.resize(std::max(values_.size(), of.variables.size()));
  set(of.parameters, parameters);
  precondition.clear();
  effects.clear();
  add_conditions(of.precondition, precondition);
  for (size_t e = 0; e < of.effects.size(); ++e) {
    const SchemaEffect& effect = of.effects[e];
    join_.run(plans_[schema][e], values_.data(), [&] {
      const int32_t atom = ground(effect.literal);
      if (atom < 0) return;
      effects.push_back({{}, atom, effect.literal.negated});
      add_conditions(effect.conditions, effects.back().conditions);
    });
  }
}

void Grounder::ground_rule(const Rule& rule, const int32_t* parameters, std::vector<GroundLiteral>& body,
                           int32_t& head) {
  values_.resize(std::max(values_.size(), rule.variables.size()));
  set(rule.parameters, parameters);
  body.clear();
  add_conditions(rule.body, body);
  head = ground(rule.head);
}

int64_t Grounder::cost(const Schema& schema, const int32_t* parameters) {
  const LiftedAction& action = task_.actions[schema.action];
  const LiftedCost& cost = action.cost;
  if (cost.function < 0) return cost.number;
  objects_.clear();
  // Parameters of the PDDL are the first ones, in its order.
  for (const Term term : cost.terms)
    objects_.push_back(is_variable(term) ? parameters[variable_of(term)] : term);
  const int32_t row = function_keys_[cost.function].find(objects_.data());
  if (row < 0) {
    std::string shown = "(" + task_.functions[cost.function].name;
    for (const int32_t object : objects_) shown += " " + task_.objects[object].name;
    throw InputError("action '" + action.name + "' costs " + shown + "), which has no value in :init");
  }
  return function_values_[cost.function][row];
}

}  // namespace hstar::pddl
