#include "pddl/join.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace hstar::pddl {
namespace {

// How many of the objects of its types a variable of a fluent atom is expected to have: an exponent.
constexpr double kFluentShare = 0.8;

class Planner {
 public:
  Planner(Database& database, const Query& query, int32_t from)
      : database_(database), query_(query), from_(from), bound_(query.variables->size(), false) {}

  Plan plan(const std::vector<int32_t>& known) {
    Plan plan;
    for (const int32_t v : known) bound_[v] = true;
    for (int32_t i = 0; i < static_cast<int32_t>(query_.literals.size()); ++i) {
      const Literal& literal = *query_.literals[i];
      if (i == from_)
        plan.start = binds(literal, false, &plan.start_constants);
      else if (!literal.negated)
        atoms_.push_back(i);
      else if (literal.predicate == kEquals || !database_.fluent[literal.predicate])
        checks_.push_back(&literal);
      // What else is negative may become true: it does not restrict what is reachable.
    }
    plan.start_checks = take_checks();
    while (!atoms_.empty() || next_unbound() >= 0) {
      const int32_t atom = cheapest();
      plan.steps.push_back(atom >= 0 ? atom_step(atom) : objects_step(next_unbound()));
      plan.steps.back().checks = take_checks();
    }
    return plan;
  }

 private:
  bool known(Term term) const { return !is_variable(term) || bound_[variable_of(term)]; }

  const Objects& allowed(int32_t variable) { return database_.objects((*query_.variables)[variable].types); }

  int32_t next_unbound() const {
    for (const int32_t v : query_.wanted)
      if (!bound_[v]) return v;
    return -1;
  }

  // The atom with the fewest matches; -1 if none can be next.
  int32_t cheapest() {
    int32_t best = -1;
    double fewest = std::numeric_limits<double>::infinity();
    for (const int32_t i : atoms_) {
      const double matches = expected_matches(*query_.literals[i]);
      if (matches < fewest) {
        fewest = matches;
        best = i;
      }
    }
    return best;
  }

  double expected_matches(const Literal& literal) {
    if (literal.predicate == kEquals) {
      const bool ready = known(literal.terms[0]) || known(literal.terms[1]);
      return ready ? 0 : std::numeric_limits<double>::infinity();
    }
    std::vector<int32_t> positions;
    double domain = 1;
    std::vector<int32_t> counted;
    for (int32_t i = 0; i < static_cast<int32_t>(literal.terms.size()); ++i) {
      const Term term = literal.terms[i];
      if (known(term)) {
        positions.push_back(i);
      } else if (std::ranges::find(counted, variable_of(term)) == counted.end()) {
        counted.push_back(variable_of(term));
        domain *= std::pow(static_cast<double>(allowed(variable_of(term)).list.size()), kFluentShare) + 1;
      }
    }
    if (positions.size() == literal.terms.size()) return 0;
    if (database_.fluent[literal.predicate]) return domain;
    return std::min(domain, database_.rows_per_key(literal.predicate, positions));
  }

  Plan::Step objects_step(int32_t variable) {
    Plan::Step step{Plan::Kind::kObjects, -1, nullptr, {}, {{0, variable, &allowed(variable)}}, false, {}};
    bound_[variable] = true;
    return step;
  }

  Plan::Step atom_step(int32_t number) {
    std::erase(atoms_, number);
    const Literal& literal = *query_.literals[number];
    Plan::Step step{Plan::Kind::kFind, literal.predicate, nullptr, literal.terms, {}, false, {}};
    if (literal.predicate == kEquals) return equal_step(literal);
    step.not_the_first =
        from_ >= 0 && number < from_ && query_.literals[from_]->predicate == literal.predicate;
    std::vector<int32_t> positions;
    std::vector<Term> key;
    for (int32_t i = 0; i < static_cast<int32_t>(literal.terms.size()); ++i) {
      if (!known(literal.terms[i])) continue;
      positions.push_back(i);
      key.push_back(literal.terms[i]);
    }
    if (positions.size() == literal.terms.size()) return step;
    step.kind = positions.empty() ? Plan::Kind::kScan : Plan::Kind::kIndex;
    step.key = std::move(key);
    step.binds = binds(literal, true, nullptr);
    if (!positions.empty()) step.index = database_.index(literal.predicate, positions);
    return step;
  }

  // One side has a value; the other one gets it, or is compared.
  Plan::Step equal_step(const Literal& literal) {
    Plan::Step step{Plan::Kind::kEqual, kEquals, nullptr, {}, {}, false, {}};
    const int from = known(literal.terms[0]) ? 0 : 1;
    const Term other = literal.terms[1 - from];
    step.key = {literal.terms[from]};
    if (!is_variable(other)) {  // a constant: compare the other way round
      if (!is_variable(literal.terms[from])) {
        if (literal.terms[from] != other) step.kind = Plan::Kind::kObjects;
        if (step.kind == Plan::Kind::kObjects) step.binds = {{0, 0, &nothing()}};
        return step;
      }
      step.key = {other};
      step.binds = {{0, variable_of(literal.terms[from]), nullptr}};
    } else if (bound_[variable_of(other)]) {
      step.binds = {{0, variable_of(other), nullptr}};
    } else {
      bound_[variable_of(other)] = true;
      step.binds = {{0, variable_of(other), &allowed(variable_of(other))}};
    }
    return step;
  }

  static const Objects& nothing() {
    static const Objects empty;
    return empty;
  }

  // How the variables of a literal get values from a row. Positions that have values are skipped if an index
  // compares them, and compared otherwise.
  std::vector<Plan::Bind> binds(const Literal& literal, bool indexed,
                                std::vector<std::pair<int32_t, int32_t>>* constants) {
    std::vector<Plan::Bind> result;
    std::vector<bool> fresh(bound_.size(), false);
    for (int32_t i = 0; i < static_cast<int32_t>(literal.terms.size()); ++i) {
      const Term term = literal.terms[i];
      if (!is_variable(term)) {
        if (constants) constants->emplace_back(i, term);
        continue;
      }
      const int32_t v = variable_of(term);
      if (bound_[v] && !fresh[v]) {
        if (!indexed) result.push_back({i, v, nullptr});
      } else {
        result.push_back({i, v, fresh[v] ? nullptr : &allowed(v)});
        fresh[v] = bound_[v] = true;
      }
    }
    return result;
  }

  std::vector<const Literal*> take_checks() {
    std::vector<const Literal*> ready;
    std::erase_if(checks_, [&](const Literal* check) {
      if (!std::ranges::all_of(check->terms, [&](Term term) { return known(term); })) return false;
      ready.push_back(check);
      return true;
    });
    return ready;
  }

  Database& database_;
  const Query& query_;
  int32_t from_;
  std::vector<bool> bound_;
  std::vector<int32_t> atoms_;
  std::vector<const Literal*> checks_;
};

}  // namespace

Database::Database(const LiftedTask& task)
    : indices(task.predicates.size()),
      fluent(task.predicates.size(), false),
      task_(task),
      distinct_(task.predicates.size()) {
  for (const Predicate& predicate : task.predicates) relations.emplace_back(predicate.arity());
}

const Objects& Database::objects(const std::vector<int32_t>& types) {
  std::unique_ptr<Objects>& entry = by_types_[types];
  if (entry) return *entry;
  entry = std::make_unique<Objects>();
  std::vector<char> wanted(task_.types.size(), 0), decided(task_.types.size(), 0);
  for (const int32_t type : types) wanted[type] = 1;
  decided[kObjectType] = 1;
  std::vector<int32_t> path;
  for (int32_t type = 0; type < static_cast<int32_t>(task_.types.size()); ++type) {
    int32_t up = type;
    for (; !decided[up] && !wanted[up]; up = task_.parents[up]) path.push_back(up);
    for (const int32_t below : path) {
      wanted[below] = wanted[up];
      decided[below] = 1;
    }
    path.clear();
  }
  entry->member.resize(task_.objects.size(), 0);
  for (size_t object = 0; object < task_.objects.size(); ++object) {
    for (const int32_t type : task_.objects[object].types) entry->member[object] |= wanted[type];
    if (entry->member[object]) entry->list.push_back(static_cast<int32_t>(object));
  }
  return *entry;
}

Index* Database::index(int32_t predicate, const std::vector<int32_t>& positions) {
  for (const auto& index : indices[predicate])
    if (index->positions() == positions) return index.get();
  Index& index = *indices[predicate].emplace_back(std::make_unique<Index>(positions));
  for (int32_t row = 0; row < relations[predicate].visible; ++row) index.add(relations[predicate]);
  return &index;
}

void Database::show(int32_t predicate) {
  ++relations[predicate].visible;
  for (const auto& index : indices[predicate]) index->add(relations[predicate]);
}

// Taking positions for independent of each other.
double Database::rows_per_key(int32_t predicate, const std::vector<int32_t>& positions) {
  const Relation& relation = relations[predicate];
  std::vector<double>& distinct = distinct_[predicate];
  if (distinct.empty()) {
    for (int32_t position = 0; position < relation.arity(); ++position) {
      std::unordered_set<int32_t> seen;
      for (int32_t row = 0; row < relation.size(); ++row) seen.insert(relation.row(row)[position]);
      distinct.push_back(std::max<double>(1, static_cast<double>(seen.size())));
    }
  }
  double result = relation.size();
  for (const int32_t position : positions) result /= distinct[position];
  return result;
}

Plan make_plan(Database& database, const Query& query, const std::vector<int32_t>& known, int32_t from) {
  return Planner(database, query, from).plan(known);
}

bool Join::holds_none(const std::vector<const Literal*>& checks, const int32_t* values) {
  for (const Literal* check : checks) {
    if (check->predicate == kEquals) {
      if (value(check->terms[0], values) == value(check->terms[1], values)) return false;
      continue;
    }
    scratch_.clear();
    for (const Term term : check->terms) scratch_.push_back(value(term, values));
    if (database_.relations[check->predicate].find(scratch_.data()) >= 0) return false;
  }
  return true;
}

}  // namespace hstar::pddl
