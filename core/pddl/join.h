// Joins of conjunctions of atoms over relations, with a plan that is made once.
//
// A plan takes a set of variables that have values and finds all values of the others. Its steps go from atom
// to atom, the one with the fewest expected matches first; a row is found by an index over the positions that
// have values by then. A comparison, a static negative literal and the type of a variable are checked as soon
// as their variables have values.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "pddl/lifted.h"
#include "pddl/relation.h"
#include "pddl/watch.h"

namespace hstar::pddl {

// The objects of a set of types.
struct Objects {
  std::vector<int32_t> list;
  std::vector<char> member;  // per object
};

// All ground atoms, and the objects by type.
class Database {
 public:
  explicit Database(const LiftedTask& task);

  std::vector<Relation> relations;                           // per predicate
  std::vector<std::vector<std::unique_ptr<Index>>> indices;  // per predicate
  std::vector<bool> fluent;                                  // per predicate: effects or rules change it

  const Objects& objects(const std::vector<int32_t>& types);
  Index* index(int32_t predicate, const std::vector<int32_t>& positions);
  void show(int32_t predicate);  // makes the next row visible
  double rows_per_key(int32_t predicate, const std::vector<int32_t>& positions);

 private:
  const LiftedTask& task_;
  std::map<std::vector<int32_t>, std::unique_ptr<Objects>> by_types_;
  std::vector<std::vector<double>> distinct_;  // of static relations, per position
};

// A conjunction over variables of a schema.
struct Query {
  const std::vector<SchemaVariable>* variables = nullptr;
  std::vector<int32_t> wanted;  // the variables that need a value
  std::vector<const Literal*> literals;
};

struct Plan {
  enum class Kind { kFind, kIndex, kScan, kObjects, kEqual };
  struct Bind {
    int32_t position;
    int32_t variable;
    const Objects* allowed;  // null: the variable has a value, compare
  };
  struct Step {
    Kind kind;
    int32_t predicate = -1;
    Index* index = nullptr;
    std::vector<Term> key;               // of find: all terms; of index: those at its positions
    std::vector<Bind> binds;             // of scan, index, objects and equal
    bool not_the_first = false;          // must differ from the row that the plan started from
    std::vector<const Literal*> checks;  // must not hold once this step is done
  };
  std::vector<Bind> start;                                   // of a row that the plan starts from
  std::vector<std::pair<int32_t, int32_t>> start_constants;  // position, object
  std::vector<const Literal*> start_checks;
  std::vector<Step> steps;
};

// Plans `query` where the variables `known` have values. If `from` >= 0, literal number `from` is a row that
// is given, and rows for earlier literals of the same predicate must differ from it.
Plan make_plan(Database& database, const Query& query, const std::vector<int32_t>& known, int32_t from = -1);

class Join {
 public:
  Join(Database& database, Watch& watch) : database_(database), watch_(watch) {}

  // Calls `found()` for all values. `values` has a place for every variable of the schema.
  template <class Found>
  void run(const Plan& plan, int32_t* values, Found&& found) {
    if (holds_none(plan.start_checks, values)) step(plan, 0, values, -1, found);
  }

  // The same from a row of literal `from` of the plan.
  template <class Found>
  void run_from(const Plan& plan, std::span<const int32_t> row, int32_t number, int32_t* values,
                Found&& found) {
    for (const auto& [position, object] : plan.start_constants)
      if (row[position] != object) return;
    if (!bind(plan.start, row.data(), values) || !holds_none(plan.start_checks, values)) return;
    step(plan, 0, values, number, found);
  }

 private:
  static int32_t value(Term term, const int32_t* values) {
    return is_variable(term) ? values[variable_of(term)] : term;
  }

  static bool bind(const std::vector<Plan::Bind>& binds, const int32_t* row, int32_t* values) {
    for (const Plan::Bind& bind : binds) {
      const int32_t object = row[bind.position];
      if (bind.allowed == nullptr) {
        if (values[bind.variable] != object) return false;
      } else {
        if (!bind.allowed->member[object]) return false;
        values[bind.variable] = object;
      }
    }
    return true;
  }

  bool holds_none(const std::vector<const Literal*>& checks, const int32_t* values);

  template <class Found>
  void step(const Plan& plan, size_t number, int32_t* values, int32_t first, Found& found) {
    if (number == plan.steps.size()) {
      found();
      return;
    }
    const Plan::Step& step = plan.steps[number];
    const auto proceed = [&] {
      if (holds_none(step.checks, values)) this->step(plan, number + 1, values, first, found);
    };
    if (step.kind == Plan::Kind::kObjects) {
      for (const int32_t object : step.binds[0].allowed->list) {
        watch_();
        values[step.binds[0].variable] = object;
        proceed();
      }
      return;
    }
    constexpr size_t kSmall = 8;
    int32_t small[kSmall];
    std::vector<int32_t> large(step.key.size() > kSmall ? step.key.size() : 0);
    int32_t* key = large.empty() ? small : large.data();
    for (size_t i = 0; i < step.key.size(); ++i) key[i] = value(step.key[i], values);
    if (step.kind == Plan::Kind::kEqual) {
      if (bind(step.binds, key, values)) proceed();
      return;
    }
    const Relation& relation = database_.relations[step.predicate];
    const auto excluded = [&](int32_t row) { return step.not_the_first && row == first; };
    switch (step.kind) {
      case Plan::Kind::kFind: {
        const int32_t row = relation.find(key);
        if (row >= 0 && row < relation.visible && !excluded(row)) proceed();
        break;
      }
      case Plan::Kind::kIndex:
        for (int32_t row = step.index->first(relation, key); row >= 0; row = step.index->next(row)) {
          watch_();
          if (!excluded(row) && bind(step.binds, relation.row(row).data(), values)) proceed();
        }
        break;
      default:
        for (int32_t row = 0; row < relation.visible; ++row) {
          watch_();
          if (!excluded(row) && bind(step.binds, relation.row(row).data(), values)) proceed();
        }
    }
  }

  Database& database_;
  Watch& watch_;
  std::vector<int32_t> scratch_;
};

}  // namespace hstar::pddl
