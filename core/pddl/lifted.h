// A planning task as its PDDL says it, with numbers instead of names.
//
// Invariant: everything named is declared and has the right number of arguments. Conditions are in negation
// normal form: the parser pushes negations down to the atoms as it reads, so that `imply`, and `not` of
// anything but an atom, are nowhere. Every variable of a schema has a number of its own there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hstar::pddl {

// An object (>= 0), or ~v for variable v of the schema.
using Term = int32_t;
constexpr Term variable_term(int32_t variable) { return ~variable; }
constexpr bool is_variable(Term term) { return term < 0; }
constexpr int32_t variable_of(Term term) { return ~term; }

constexpr int32_t kEquals = 0;      // the predicate "="
constexpr int32_t kObjectType = 0;  // the type "object"

struct Literal {
  int32_t predicate = -1;
  bool negated = false;
  std::vector<Term> terms;
  bool operator==(const Literal&) const = default;
};

struct SchemaVariable {
  std::string name;
  std::vector<int32_t> types;  // of any of them
};

struct Formula {
  enum class Kind { kLiteral, kAnd, kOr, kForall, kExists };
  Kind kind = Kind::kAnd;  // no parts: true; kOr without parts: false
  Literal literal;
  std::vector<int32_t> variables;  // of a quantifier
  std::vector<Formula> parts;      // one of a quantifier
};

struct LiftedEffect {
  std::vector<int32_t> variables;  // for all of them
  Formula condition;
  Literal literal;
};

// What an action costs: `number`, or the value of a function in the initial state.
struct LiftedCost {
  int32_t function = -1;
  int64_t number = 0;
  std::vector<Term> terms;
};

struct LiftedAction {
  std::string name;
  std::vector<SchemaVariable> variables;  // of parameters and quantifiers
  int32_t parameters = 0;                 // the first ones
  Formula precondition;
  std::vector<LiftedEffect> effects;
  LiftedCost cost;
};

// A derived predicate: the head holds for the first `arity` variables if the condition does.
struct LiftedRule {
  int32_t predicate = -1;
  std::vector<SchemaVariable> variables;
  Formula condition;
};

struct Predicate {
  std::string name;
  std::vector<std::vector<int32_t>> types;  // of the arguments
  int32_t arity() const { return static_cast<int32_t>(types.size()); }
};

struct Object {
  std::string name;
  std::vector<int32_t> types;
};

struct GroundAtom {
  int32_t predicate;
  std::vector<int32_t> objects;
};

struct FunctionValue {
  int32_t function;
  std::vector<int32_t> objects;
  int64_t value;
};

struct LiftedTask {
  std::string domain_name, problem_name;
  std::vector<std::string> requirements;  // that the domain declares
  std::vector<std::string> types;         // [kObjectType] is "object"
  std::vector<int32_t> parents;           // of the types; of "object" itself
  std::vector<Predicate> predicates;      // [kEquals] is "="
  std::vector<Predicate> functions;
  std::vector<Object> objects;
  size_t constants = 0;  // the first objects
  std::vector<LiftedAction> actions;
  std::vector<LiftedRule> rules;
  std::vector<GroundAtom> init;
  std::vector<FunctionValue> values;
  std::vector<SchemaVariable> goal_variables;
  Formula goal;
  bool metric = false;
  std::vector<std::string> warnings;

  std::vector<bool> derived() const;  // per predicate: whether a rule has it as its head
};

}  // namespace hstar::pddl
