#include "pddl/invariants.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "pddl/literals.h"

namespace hstar::pddl {
namespace {

constexpr size_t kMaxCandidates = 100'000;

// A schema with what its reachable instances tell.
struct CheckedSchema {
  const Schema* schema;
  int32_t variables;  // of the schema; copies of quantified ones come after them
  std::vector<std::pair<Term, Term>> unequal;
  std::vector<int32_t> adds, deletes;  // numbers of effects
};

// Parameters that are never equal.
std::vector<std::pair<Term, Term>> unequal_parameters(const Schema& schema, const Instances& instances,
                                                      Watch& watch) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < instances.width; ++i)
    for (size_t j = 0; j < i; ++j) pairs.emplace_back(j, i);
  for (size_t n = 0; n < instances.count && !pairs.empty(); ++n) {
    watch();
    const int32_t* values = instances[n];
    std::erase_if(pairs, [&](const auto& pair) { return values[pair.first] == values[pair.second]; });
  }
  std::vector<std::pair<Term, Term>> result;
  for (const auto& [i, j] : pairs)
    result.emplace_back(variable_term(schema.parameters[i]), variable_term(schema.parameters[j]));
  return result;
}

// The parts in the order of their predicates, parameters by their first place.
Invariant canonical(Invariant candidate) {
  std::ranges::sort(candidate.parts, {}, &InvariantPart::predicate);
  std::vector<int32_t> names(candidate.parameters, -1);
  int32_t next = 0;
  for (const int32_t parameter : candidate.parts.front().parameters)
    if (parameter >= 0) names[parameter] = next++;
  for (InvariantPart& part : candidate.parts)
    for (int32_t& parameter : part.parameters)
      if (parameter >= 0) parameter = names[parameter];
  return candidate;
}

class Finder {
 public:
  Finder(const LiftedTask& task, const NormalTask& normal, const Model& model, Watch& watch)
      : task_(task), watch_(watch), adders_(task.predicates.size()) {
    for (size_t i = 0; i < normal.schemas.size(); ++i) {
      if (model.schemas[i].count == 0) continue;
      const Schema& schema = normal.schemas[i];
      CheckedSchema checked{&schema,
                            static_cast<int32_t>(schema.variables.size()),
                            unequal_parameters(schema, model.schemas[i], watch),
                            {},
                            {}};
      for (size_t e = 0; e < schema.effects.size(); ++e)
        (schema.effects[e].literal.negated ? checked.deletes : checked.adds)
            .push_back(static_cast<int32_t>(e));
      schemas_.push_back(std::move(checked));
    }
    for (size_t i = 0; i < schemas_.size(); ++i)
      for (const int32_t e : schemas_[i].adds) {
        std::vector<int32_t>& adders = adders_[effect(schemas_[i], e).literal.predicate];
        if (adders.empty() || adders.back() != static_cast<int32_t>(i))
          adders.push_back(static_cast<int32_t>(i));
      }
  }

  std::vector<Invariant> run() {
    add_first_candidates();
    std::vector<Invariant> result;
    while (!queue_.empty()) {
      const Invariant candidate = std::move(queue_.front());
      queue_.pop_front();
      if (holds(candidate)) result.push_back(candidate);
    }
    return result;
  }

 private:
  static const SchemaEffect& effect(const CheckedSchema& schema, int32_t number) {
    return schema.schema->effects[number];
  }

  void add_first_candidates() {
    std::set<int32_t> changed;
    for (const CheckedSchema& schema : schemas_)
      for (const SchemaEffect& effect : schema.schema->effects) changed.insert(effect.literal.predicate);
    for (const int32_t predicate : changed) {
      const int32_t arity = task_.predicates[predicate].arity();
      for (int32_t counted = -1; counted < arity; ++counted) {
        Invariant candidate;
        InvariantPart part{predicate, {}};
        for (int32_t i = 0; i < arity; ++i)
          part.parameters.push_back(i == counted ? -1 : candidate.parameters++);
        candidate.parts.push_back(std::move(part));
        enqueue(std::move(candidate));
      }
    }
  }

  void enqueue(Invariant candidate) {
    candidate = canonical(std::move(candidate));
    if (seen_.size() < kMaxCandidates && seen_.insert(candidate).second)
      queue_.push_back(std::move(candidate));
  }

  static const InvariantPart* part_of(const Invariant& candidate, int32_t predicate) {
    for (const InvariantPart& part : candidate.parts)
      if (part.predicate == predicate) return &part;
    return nullptr;
  }

  // The terms that an atom gives to the parameters of the candidate.
  static std::vector<Term> bound_terms(const Invariant& candidate, const InvariantPart& part,
                                       const Literal& atom) {
    std::vector<Term> terms(candidate.parameters);
    for (size_t i = 0; i < part.parameters.size(); ++i)
      if (part.parameters[i] >= 0) terms[part.parameters[i]] = atom.terms[i];
    return terms;
  }

  // Repairs are put into the queue if it does not hold.
  bool holds(const Invariant& candidate) {
    std::set<int32_t> relevant;
    for (const InvariantPart& part : candidate.parts)
      relevant.insert(adders_[part.predicate].begin(), adders_[part.predicate].end());
    for (const int32_t i : relevant)
      if (too_heavy(candidate, schemas_[i])) return false;
    for (const int32_t i : relevant)
      for (const int32_t e : schemas_[i].adds)
        if (part_of(candidate, effect(schemas_[i], e).literal.predicate) &&
            unbalanced(candidate, schemas_[i], e))
          return false;
    return true;
  }

  // Two added atoms at a time.

  static Literal renamed(Literal literal, const SchemaEffect& effect, int32_t variables) {
    for (Term& term : literal.terms)
      if (is_variable(term) &&
          std::ranges::find(effect.parameters, variable_of(term)) != effect.parameters.end())
        term = variable_term(variable_of(term) + variables);
    return literal;
  }

  static Literal negated(Literal literal) {
    literal.negated = !literal.negated;
    return literal;
  }

  Conditions conditions_of(const CheckedSchema& schema) const {
    Conditions conditions(2 * schema.variables);
    for (const Literal& literal : schema.schema->precondition) conditions.add(literal);
    for (const auto& [a, b] : schema.unequal) conditions.unequal(a, b);
    return conditions;
  }

  bool too_heavy(const Invariant& candidate, const CheckedSchema& schema) {
    for (size_t i = 0; i < schema.adds.size(); ++i) {
      const SchemaEffect& first = effect(schema, schema.adds[i]);
      const InvariantPart* part = part_of(candidate, first.literal.predicate);
      if (!part) continue;
      for (size_t j = i; j < schema.adds.size(); ++j) {
        const SchemaEffect& second = effect(schema, schema.adds[j]);
        const InvariantPart* other = part_of(candidate, second.literal.predicate);
        if (!other || (i == j && second.parameters.empty())) continue;
        watch_(50);
        const Literal atom = renamed(second.literal, second, schema.variables);
        Conditions conditions = conditions_of(schema);
        const std::vector<Term> a = bound_terms(candidate, *part, first.literal);
        const std::vector<Term> b = bound_terms(candidate, *other, atom);
        for (size_t k = 0; k < a.size(); ++k) conditions.equal(a[k], b[k]);
        if (part == other) {  // the same parameters: the atoms differ in what is counted, or not at all
          const auto counted = std::ranges::find(part->parameters, -1);
          if (counted == part->parameters.end()) continue;
          const size_t position = counted - part->parameters.begin();
          conditions.unequal(first.literal.terms[position], atom.terms[position]);
        }
        for (const Literal& literal : first.conditions) conditions.add(literal);
        for (const Literal& literal : second.conditions)
          conditions.add(renamed(literal, second, schema.variables));
        conditions.add(negated(first.literal));
        conditions.add(negated(atom));
        if (conditions.possible() && !overfull(candidate, a, conditions)) return true;
      }
    }
    return false;
  }

  // Whether the conditions ask for two atoms of the candidate: then it says itself that they never hold.
  static bool overfull(const Invariant& candidate, const std::vector<Term>& terms,
                       const Conditions& conditions) {
    std::vector<std::pair<const Literal*, size_t>> held;  // with the place of what is counted
    for (const Literal& literal : conditions.literals()) {
      const InvariantPart* part = literal.negated ? nullptr : part_of(candidate, literal.predicate);
      if (!part || !std::ranges::equal(bound_terms(candidate, *part, literal), terms,
                                       [&](Term a, Term b) { return conditions.same(a, b); }))
        continue;
      const size_t counted = std::ranges::find(part->parameters, -1) - part->parameters.begin();
      for (const auto& [other, place] : held) {
        if (other->predicate != literal.predicate) return true;
        if (counted < literal.terms.size() &&
            conditions.implies({kEquals, true, {literal.terms[counted], other->terms[place]}}))
          return true;
      }
      held.emplace_back(&literal, counted);
    }
    return false;
  }

  // An added atom without a removed one.

  bool unbalanced(const Invariant& candidate, const CheckedSchema& schema, int32_t number) {
    watch_(50);
    const SchemaEffect& add = effect(schema, number);
    const InvariantPart& part = *part_of(candidate, add.literal.predicate);
    Conditions conditions = conditions_of(schema);
    for (const Literal& literal : add.conditions) conditions.add(literal);
    conditions.add(negated(add.literal));
    const std::vector<Term> terms = bound_terms(candidate, part, add.literal);
    if (!conditions.possible() || overfull(candidate, terms, conditions)) return false;
    std::vector<std::pair<const SchemaEffect*, Literal>> others;
    for (const int32_t d : schema.deletes) {
      const SchemaEffect& remove = effect(schema, d);
      for (const Literal& known : conditions.literals()) {
        if (known.negated || known.predicate != remove.literal.predicate ||
            !removes(remove, known, conditions))
          continue;
        if (const InvariantPart* balance = part_of(candidate, known.predicate)) {
          if (std::ranges::equal(bound_terms(candidate, *balance, known), terms,
                                 [&](Term a, Term b) { return conditions.same(a, b); }) &&
              !added_again(candidate, schema, terms, known, conditions))
            return false;
        } else {
          others.emplace_back(&remove, known);
        }
      }
    }
    for (const auto& [remove, known] : others) repair(candidate, known, terms, conditions);
    return true;
  }

  // Whether the effect surely removes the atom `known`, which holds before.
  static bool removes(const SchemaEffect& remove, const Literal& known, const Conditions& conditions) {
    std::vector<std::pair<Term, Term>> chosen;  // quantified variables of the effect are ours to choose
    const auto quantified = [&](Term term) {
      return is_variable(term) &&
             std::ranges::find(remove.parameters, variable_of(term)) != remove.parameters.end();
    };
    const auto instance = [&](Term term) {
      for (const auto& [variable, value] : chosen)
        if (variable == term) return value;
      return term;
    };
    for (size_t i = 0; i < known.terms.size(); ++i) {
      const Term term = remove.literal.terms[i];
      if (quantified(term) && instance(term) == term)
        chosen.emplace_back(term, known.terms[i]);
      else if (!conditions.same(instance(term), known.terms[i]))
        return false;
    }
    for (Literal condition : remove.conditions) {
      for (Term& term : condition.terms) {
        const Term value = instance(term);
        if (quantified(term) && value == term) return false;
        term = value;
      }
      if (!conditions.implies(condition)) return false;
    }
    return true;
  }

  bool added_again(const Invariant& candidate, const CheckedSchema& schema, const std::vector<Term>& terms,
                   const Literal& known, const Conditions& conditions) const {
    for (const int32_t e : schema.adds) {
      const SchemaEffect& add = effect(schema, e);
      if (add.literal.predicate != known.predicate) continue;
      Conditions both = conditions;
      const Literal atom = renamed(add.literal, add, schema.variables);
      for (size_t i = 0; i < known.terms.size(); ++i) both.equal(atom.terms[i], known.terms[i]);
      for (const Literal& literal : add.conditions) both.add(renamed(literal, add, schema.variables));
      if (both.possible() && !overfull(candidate, terms, both)) return true;
    }
    return false;
  }

  // Candidates with a part for `known` that gives the parameters the same terms.
  void repair(const Invariant& candidate, const Literal& known, const std::vector<Term>& terms,
              const Conditions& conditions) {
    const auto arity = static_cast<int32_t>(known.terms.size());
    if (arity != candidate.parameters && arity != candidate.parameters + 1) return;
    std::vector<int32_t> places(arity, -1);
    const std::function<void(int32_t)> place = [&](int32_t parameter) {
      if (seen_.size() >= kMaxCandidates) return;
      if (parameter == candidate.parameters) {
        Invariant repaired = candidate;
        repaired.parts.push_back({known.predicate, places});
        enqueue(std::move(repaired));
        return;
      }
      for (int32_t i = 0; i < arity; ++i) {
        if (places[i] >= 0 || !conditions.same(known.terms[i], terms[parameter])) continue;
        places[i] = parameter;
        place(parameter + 1);
        places[i] = -1;
      }
    };
    place(0);
  }

  const LiftedTask& task_;
  Watch& watch_;
  std::vector<CheckedSchema> schemas_;
  std::vector<std::vector<int32_t>> adders_;  // per predicate: schemas
  std::deque<Invariant> queue_;
  std::set<Invariant> seen_;
};

}  // namespace

std::vector<Invariant> find_invariants(const LiftedTask& task, const NormalTask& normal, const Model& model,
                                       Watch& watch) {
  return Finder(task, normal, model, watch).run();
}

}  // namespace hstar::pddl
