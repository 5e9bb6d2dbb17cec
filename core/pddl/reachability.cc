#include "pddl/reachability.h"

#include <algorithm>
#include <deque>

#include "base/errors.h"

namespace hstar::pddl {
namespace {

constexpr int32_t kMaxRows = 1 << 30;

// A body, and what follows from it.
struct Clause {
  Query query;
  std::vector<const Literal*> heads;
  const std::vector<int32_t>* parameters = nullptr;  // of what is instantiated, if anything is
  Instances* instances = nullptr;
};

// A clause that is joined when an atom of literal `from` has its turn.
struct Trigger {
  const Clause* clause;
  Plan plan;
};

class Explorer {
 public:
  Explorer(const LiftedTask& task, const NormalTask& normal, Database& database, Watch& watch)
      : task_(task), normal_(normal), database_(database), watch_(watch), join_(database, watch) {}

  Model run() {
    find_fluents();
    enter_init();
    model_.schemas.resize(normal_.schemas.size());
    model_.rules.resize(normal_.rules.size());
    for (size_t i = 0; i < normal_.schemas.size(); ++i) add_schema(normal_.schemas[i], model_.schemas[i]);
    for (size_t i = 0; i < normal_.rules.size(); ++i) add_rule(normal_.rules[i], model_.rules[i]);
    triggers_.resize(task_.predicates.size());
    for (const Clause& clause : clauses_) plan(clause);
    for (size_t turn = 0; turn < queue_.size(); ++turn) take_turn(queue_[turn]);
    return std::move(model_);
  }

 private:
  void find_fluents() {
    for (const Schema& schema : normal_.schemas)
      for (const SchemaEffect& effect : schema.effects) database_.fluent[effect.literal.predicate] = true;
    for (const Rule& rule : normal_.rules) database_.fluent[rule.head.predicate] = true;
  }

  void enter_init() {
    for (const GroundAtom& atom : task_.init) {
      watch_();
      enter(atom.predicate, atom.objects.data());
    }
    for (size_t predicate = 0; predicate < database_.relations.size(); ++predicate)
      if (!database_.fluent[predicate])
        database_.relations[predicate].visible = database_.relations[predicate].size();
  }

  void add_schema(const Schema& schema, Instances& instances) {
    Clause clause;
    clause.query.variables = &schema.variables;
    clause.query.wanted = schema.parameters;
    for (const Literal& literal : schema.precondition) clause.query.literals.push_back(&literal);
    for (const SchemaEffect& effect : schema.effects) {
      if (effect.literal.negated) continue;
      if (effect.parameters.empty() && effect.conditions.empty()) {
        clause.heads.push_back(&effect.literal);
        continue;
      }
      Clause conditional;
      conditional.query = {&schema.variables, schema.parameters, {}};
      std::vector<int32_t>& wanted = conditional.query.wanted;
      wanted.insert(wanted.end(), effect.parameters.begin(), effect.parameters.end());
      for (const Literal& literal : schema.precondition) conditional.query.literals.push_back(&literal);
      for (const Literal& literal : effect.conditions) conditional.query.literals.push_back(&literal);
      conditional.heads = {&effect.literal};
      clauses_.push_back(std::move(conditional));
    }
    instances.width = schema.parameters.size();
    clause.parameters = &schema.parameters;
    clause.instances = &instances;
    clauses_.push_back(std::move(clause));
  }

  void add_rule(const Rule& rule, Instances& instances) {
    Clause clause;
    clause.query = {&rule.variables, rule.parameters, {}};
    for (const Literal& literal : rule.body) clause.query.literals.push_back(&literal);
    clause.heads = {&rule.head};
    instances.width = rule.parameters.size();
    clause.parameters = &rule.parameters;
    clause.instances = &instances;
    clauses_.push_back(std::move(clause));
  }

  // A clause without atoms that may come later is joined at once.
  void plan(const Clause& clause) {
    bool waits = false;
    for (int32_t i = 0; i < static_cast<int32_t>(clause.query.literals.size()); ++i) {
      const Literal& literal = *clause.query.literals[i];
      if (literal.negated || !database_.fluent[literal.predicate]) continue;
      triggers_[literal.predicate].push_back({&clause, make_plan(database_, clause.query, {}, i)});
      waits = true;
    }
    values_.resize(std::max(values_.size(), clause.query.variables->size()));
    if (!waits) join_.run(make_plan(database_, clause.query, {}), values_.data(), [&] { emit(clause); });
  }

  void take_turn(int32_t predicate) {
    watch_();
    const int32_t number = database_.relations[predicate].visible;
    database_.show(predicate);
    const std::span<const int32_t> row = database_.relations[predicate].row(number);
    const std::vector<int32_t> copy(row.begin(), row.end());  // rows may move while the join adds some
    for (const Trigger& trigger : triggers_[predicate])
      join_.run_from(trigger.plan, copy, number, values_.data(), [&] { emit(*trigger.clause); });
  }

  void emit(const Clause& clause) {
    watch_();
    if (clause.instances) {
      for (const int32_t v : *clause.parameters) clause.instances->values.push_back(values_[v]);
      ++clause.instances->count;
      watch_.add_operator();
    }
    for (const Literal* head : clause.heads) {
      head_.clear();
      for (const Term term : head->terms)
        head_.push_back(is_variable(term) ? values_[variable_of(term)] : term);
      enter(head->predicate, head_.data());
    }
  }

  void enter(int32_t predicate, const int32_t* objects) {
    Relation& relation = database_.relations[predicate];
    if (!relation.insert(objects)) return;
    watch_.add_fact();
    if (relation.size() >= kMaxRows) throw UnsupportedError("the task has more than 2^30 facts");
    if (database_.fluent[predicate]) queue_.push_back(predicate);
  }

  const LiftedTask& task_;
  const NormalTask& normal_;
  Database& database_;
  Watch& watch_;
  Join join_;
  Model model_;
  std::deque<Clause> clauses_;                  // triggers point into it
  std::vector<std::vector<Trigger>> triggers_;  // per predicate
  std::vector<int32_t> queue_;                  // predicates of atoms in the order in which they were found
  std::vector<int32_t> values_, head_;
};

}  // namespace

Model explore(const LiftedTask& task, const NormalTask& normal, Database& database, Watch& watch) {
  return Explorer(task, normal, database, watch).run();
}

}  // namespace hstar::pddl
