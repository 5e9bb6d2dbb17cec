// Numbers for reachable fluent atoms, and operators and axioms in terms of them.
#pragma once

#include <string>
#include <vector>

#include "pddl/join.h"
#include "pddl/normalise.h"
#include "pddl/reachability.h"

namespace hstar::pddl {

// A ground literal: 2 * atom, or 2 * atom + 1 if negated.
using GroundLiteral = int32_t;
constexpr GroundLiteral make_literal(int32_t atom, bool negated) { return 2 * atom + negated; }
constexpr int32_t atom_of(GroundLiteral literal) { return literal >> 1; }
constexpr bool is_negated(GroundLiteral literal) { return (literal & 1) != 0; }

// The reachable atoms of fluent predicates.
class Atoms {
 public:
  Atoms(const LiftedTask& task, const Database& database);

  int32_t size() const { return first_.back(); }
  int32_t first(int32_t predicate) const { return first_[predicate]; }
  int32_t predicate(int32_t atom) const;
  std::span<const int32_t> objects(int32_t atom) const;
  int32_t find(int32_t predicate, const int32_t* objects) const;  // -1: not reachable
  std::string name(int32_t atom) const;                           // on(a, b)
  // Per atom its place in the order of names: predicates first, then objects.
  const std::vector<int32_t>& ranks() const { return ranks_; }

 private:
  const LiftedTask& task_;
  const Database& database_;
  std::vector<int32_t> first_;  // per predicate: number of its first row
  std::vector<int32_t> ranks_;
};

// Places in the order of names.
std::vector<int32_t> object_ranks(const LiftedTask& task);

struct GroundEffect {
  std::vector<GroundLiteral> conditions;
  int32_t atom;
  bool negated;
};

// Turns instances into ground literals, one after the other.
class Grounder {
 public:
  Grounder(const LiftedTask& task, const NormalTask& normal, Database& database, const Atoms& atoms,
           Watch& watch);

  void ground_schema(size_t schema, const int32_t* parameters, std::vector<GroundLiteral>& precondition,
                     std::vector<GroundEffect>& effects);
  void ground_rule(const Rule& rule, const int32_t* parameters, std::vector<GroundLiteral>& body,
                   int32_t& head);
  // The value of a function, which must be in the initial state.
  int64_t cost(const Schema& schema, const int32_t* parameters);

 private:
  void set(const std::vector<int32_t>& variables, const int32_t* parameters);
  int32_t ground(const Literal& literal);
  void add_conditions(const std::vector<Literal>& literals, std::vector<GroundLiteral>& found);

  const LiftedTask& task_;
  const NormalTask& normal_;
  const Atoms& atoms_;
  const Database& database_;
  Join join_;
  std::vector<std::vector<Plan>> plans_;  // per schema and effect
  std::vector<Relation> function_keys_;   // per function: for which objects there is a value
  std::vector<std::vector<int64_t>> function_values_;
  std::vector<int32_t> values_, objects_;
};

}  // namespace hstar::pddl
