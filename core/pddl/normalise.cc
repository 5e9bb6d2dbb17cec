#include "pddl/normalise.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/errors.h"

namespace hstar::pddl {
namespace {

using Kind = Formula::Kind;

// A conjunction and the existential variables in it.
struct Conjunction {
  std::vector<Literal> literals;
  std::vector<int32_t> variables;
};

// A product of disjunctions can explode; no task that anybody could ground comes near.
constexpr size_t kMaxLiterals = 1'000'000;

Formula negation(const Formula& formula) {
  Formula result = formula;
  switch (formula.kind) {
    case Kind::kLiteral:
      result.literal.negated = !formula.literal.negated;
      return result;
    case Kind::kAnd:
      result.kind = Kind::kOr;
      break;
    case Kind::kOr:
      result.kind = Kind::kAnd;
      break;
    case Kind::kForall:
      result.kind = Kind::kExists;
      break;
    case Kind::kExists:
      result.kind = Kind::kForall;
      break;
  }
  for (Formula& part : result.parts) part = negation(part);
  return result;
}

// Keeps the first of equal ones, and the order.
void drop_repetitions(std::vector<Literal>& literals) {
  std::vector<size_t> order(literals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t i) {
    return std::tie(literals[i].predicate, literals[i].negated, literals[i].terms);
  };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<bool> repeated(literals.size(), false);
  for (size_t i = 1; i < order.size(); ++i) repeated[order[i]] = literals[order[i]] == literals[order[i - 1]];
  size_t kept = 0;
  for (size_t i = 0; i < literals.size(); ++i) {
    if (repeated[i]) continue;
    if (kept != i) literals[kept] = std::move(literals[i]);
    ++kept;
  }
  literals.resize(kept);
}

void append(Conjunction& conjunction, const Conjunction& more) {
  conjunction.literals.insert(conjunction.literals.end(), more.literals.begin(), more.literals.end());
  conjunction.variables.insert(conjunction.variables.end(), more.variables.begin(), more.variables.end());
}

class Normaliser {
 public:
  explicit Normaliser(LiftedTask& task) : task_(task) {}

  NormalTask run() {
    // The order decides the numbers of new predicates.
    for (size_t i = 0; i < task_.actions.size(); ++i) add_action(static_cast<int32_t>(i));
    for (const LiftedRule& rule : task_.rules) {
      Literal head{rule.predicate, false, {}};
      for (int32_t v = 0; v < task_.predicates[rule.predicate].arity(); ++v)
        head.terms.push_back(variable_term(v));
      open_schema(rule.variables, task_.predicates[rule.predicate].arity());
      label(rule.condition, rule.variables);
      pending_.push_back({rule.variables, labels_, head, rule.condition});
      drain();
    }
    add_goal();
    return std::move(result_);
  }

 private:
  struct Pending {
    std::vector<SchemaVariable> variables;
    std::vector<std::string> labels;
    Literal head;
    Formula condition;
  };

  // Labels tell variables of one name apart. A condition that several effects share counts again for each.
  void open_schema(const std::vector<SchemaVariable>& variables, int32_t parameters) {
    uses_.clear();
    labels_.assign(variables.size(), "");
    for (int32_t v = 0; v < parameters; ++v) label(v, variables);
  }
  void label(int32_t v, const std::vector<SchemaVariable>& variables) {
    const int number = uses_[variables[v].name]++;
    labels_[v] = variables[v].name + (number > 0 ? "@" + std::to_string(number) : "");
  }
  void label(const Formula& formula, const std::vector<SchemaVariable>& variables) {
    for (const int32_t v : formula.variables) label(v, variables);
    for (const Formula& part : formula.parts) label(part, variables);
  }

  void add_action(int32_t number) {
    const LiftedAction& action = task_.actions[number];
    Schema schema;
    schema.action = number;
    schema.variables = action.variables;
    open_schema(action.variables, action.parameters);
    const std::vector<Conjunction> preconditions = conjunctions(action.precondition, action.variables);
    for (const LiftedEffect& effect : action.effects) {
      for (Conjunction& condition : conjunctions(effect.condition, action.variables)) {
        SchemaEffect part{effect.variables, std::move(condition.literals), effect.literal};
        part.parameters.insert(part.parameters.end(), condition.variables.begin(), condition.variables.end());
        schema.effects.push_back(std::move(part));
      }
    }
    drain();
    for (const Conjunction& precondition : preconditions) {
      Schema split = schema;
      for (int32_t v = 0; v < action.parameters; ++v) split.parameters.push_back(v);
      split.parameters.insert(split.parameters.end(), precondition.variables.begin(),
                              precondition.variables.end());
      split.precondition = precondition.literals;
      result_.schemas.push_back(std::move(split));
    }
  }

  void add_goal() {
    open_schema(task_.goal_variables, 0);
    std::vector<Conjunction> goal = conjunctions(task_.goal, task_.goal_variables);
    const std::vector<std::string> labels = labels_;
    drain();
    labels_ = labels;
    if (goal.size() == 1 && goal[0].variables.empty()) {
      result_.goal = std::move(goal[0].literals);
      return;
    }
    const Literal head = new_predicate({});
    pending_.push_back(
        {task_.goal_variables, labels_, head, without_forall(task_.goal, task_.goal_variables)});
    drain();
    result_.goal = {head};
  }

  // Rules for derived predicates, also for those that come up on the way.
  void drain() {
    while (!pending_.empty()) {
      const Pending pending = std::move(pending_.front());
      pending_.pop_front();
      labels_ = pending.labels;
      for (Conjunction& body : expand_all(pending.condition, pending.variables)) {
        Rule rule;
        rule.variables = pending.variables;
        for (const Term term : pending.head.terms) rule.parameters.push_back(variable_of(term));
        rule.parameters.insert(rule.parameters.end(), body.variables.begin(), body.variables.end());
        rule.head = pending.head;
        rule.body = std::move(body.literals);
        result_.rules.push_back(std::move(rule));
      }
    }
  }

  Literal new_predicate(const std::vector<int32_t>& free) {
    Literal literal{static_cast<int32_t>(task_.predicates.size()), false, {}};
    Predicate predicate{"new-axiom@" + std::to_string(created_++), {}};
    for (const int32_t v : free) {
      predicate.types.push_back({kObjectType});
      literal.terms.push_back(variable_term(v));
    }
    task_.predicates.push_back(std::move(predicate));
    return literal;
  }

  // Universal conditions.

  Formula without_forall(const Formula& formula, const std::vector<SchemaVariable>& variables) {
    if (formula.kind == Kind::kForall) {
      Formula result;
      result.kind = Kind::kLiteral;
      result.literal = axiom_for(formula, variables);
      result.literal.negated = true;
      return result;
    }
    Formula result = formula;
    for (Formula& part : result.parts) part = without_forall(part, variables);
    return result;
  }

  Literal axiom_for(const Formula& formula, const std::vector<SchemaVariable>& variables) {
    std::string key;
    std::vector<bool> bound(variables.size(), false);
    std::vector<int32_t> free;
    describe(formula, variables, bound, free, key);
    const auto known = axioms_.find(key);
    std::ranges::sort(free, {}, [&](int32_t v) { return labels_[v]; });
    if (known != axioms_.end()) {
      Literal literal{known->second, false, {}};
      for (const int32_t v : free) literal.terms.push_back(variable_term(v));
      return literal;
    }
    const Literal head = new_predicate(free);
    axioms_.emplace(std::move(key), head.predicate);
    pending_.push_back({variables, labels_, head, negation(formula)});
    return head;
  }

  // Equal texts are equal conditions over variables of equal labels and types.
  void describe(const Formula& formula, const std::vector<SchemaVariable>& variables,
                std::vector<bool>& bound, std::vector<int32_t>& free, std::string& key) const {
    const auto name = [&](int32_t v) {
      key += labels_[v];
      for (const int32_t type : variables[v].types) key += "-" + std::to_string(type);
      key += " ";
    };
    key += "(" + std::to_string(static_cast<int>(formula.kind)) + " ";
    for (const int32_t v : formula.variables) {
      name(v);
      bound[v] = true;
    }
    if (formula.kind == Kind::kLiteral) {
      key += (formula.literal.negated ? "!" : "") + std::to_string(formula.literal.predicate) + " ";
      for (const Term term : formula.literal.terms) {
        if (!is_variable(term)) {
          key += std::to_string(term) + " ";
          continue;
        }
        const int32_t v = variable_of(term);
        name(v);
        if (!bound[v] && std::ranges::find(free, v) == free.end()) free.push_back(v);
      }
    }
    for (const Formula& part : formula.parts) describe(part, variables, bound, free, key);
    key += ")";
  }

  // Disjunctive normal form.

  std::vector<Conjunction> conjunctions(const Formula& formula,
                                        const std::vector<SchemaVariable>& variables) {
    label(formula, variables);
    return expand_all(formula, variables);
  }

  std::vector<Conjunction> expand_all(const Formula& formula, const std::vector<SchemaVariable>& variables) {
    std::vector<Conjunction> result = expand(without_forall(formula, variables));
    for (Conjunction& conjunction : result) drop_repetitions(conjunction.literals);
    return result;
  }

  std::vector<Conjunction> expand(const Formula& formula) {
    std::vector<Conjunction> result;
    switch (formula.kind) {
      case Kind::kLiteral:
        result.push_back({{formula.literal}, {}});
        break;
      case Kind::kOr:
        for (const Formula& part : formula.parts)
          for (Conjunction& conjunction : expand(part)) result.push_back(std::move(conjunction));
        break;
      case Kind::kAnd:
        result.emplace_back();
        for (const Formula& part : formula.parts) result = product(std::move(result), expand(part));
        break;
      case Kind::kExists:
        result = expand(formula.parts.front());
        for (Conjunction& conjunction : result)
          conjunction.variables.insert(conjunction.variables.end(), formula.variables.begin(),
                                       formula.variables.end());
        break;
      case Kind::kForall:
        break;  // replaced before
    }
    return result;
  }

  static std::vector<Conjunction> product(std::vector<Conjunction> left,
                                          const std::vector<Conjunction>& right) {
    if (right.size() == 1) {  // nearly always: in place
      for (Conjunction& conjunction : left) append(conjunction, right.front());
      return left;
    }
    size_t size = 0;
    std::vector<Conjunction> result;
    for (const Conjunction& a : left) {
      for (const Conjunction& b : right) {
        append(result.emplace_back(a), b);
        size += result.back().literals.size();
        if (size > kMaxLiterals)
          throw UnsupportedError("a condition has more than " + std::to_string(kMaxLiterals) +
                                 " literals when its disjunctions are moved up");
      }
    }
    return result;
  }

  LiftedTask& task_;
  NormalTask result_;
  std::deque<Pending> pending_;
  std::unordered_map<std::string, int32_t> axioms_;
  int created_ = 0;
  std::unordered_map<std::string, int> uses_;  // names of the current schema
  std::vector<std::string> labels_;            // per variable of it
};

}  // namespace

NormalTask normalise(LiftedTask& task) { return Normaliser(task).run(); }

}  // namespace hstar::pddl
