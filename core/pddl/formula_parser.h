// What domains and problems share: names, typed lists, conditions in negation normal form, effects.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pddl/lifted.h"
#include "pddl/source.h"

namespace hstar::pddl {

using Names = std::unordered_map<std::string_view, int32_t>;

// Numbers by name. The views are into the sources.
struct Symbols {
  Names types, predicates, functions, objects;
};

// Features of PDDL that have a requirement of their own.
struct Used {
  bool typing = false, equality = false, negation = false, disjunction = false, quantifiers = false,
       conditional = false, derived = false, costs = false;
};

struct TypedItem {
  Item item;
  const std::vector<int32_t>& types;
};

class FormulaParser {
 public:
  FormulaParser(const Source& source, LiftedTask& task, Symbols& symbols, Used& used)
      : source_(source), task_(task), symbols_(symbols), used_(used) {}

  // `a b - t c - (either t u)`: calls `visit` for each item with its types. `lenient` makes an undeclared
  // type `object`, with a warning.
  void typed_list(Item begin, Item end, bool lenient, const std::function<void(TypedItem)>& visit);

  // A new schema: its variables go to `variables`.
  void open_scope(std::vector<SchemaVariable>& variables);
  // Adds typed variables to the scope; the numbers in the order of the text.
  std::vector<int32_t> variables(Item begin, Item end);
  // The items of a list, which must be one.
  std::pair<Item, Item> list(Item item, const char* expected) const;

  Formula formula(Item item, bool negated = false);
  Literal atom(Item item);
  // All effects, flattened to literals; the cost too.
  void effects(Item item, LiftedAction& action);
  void costs_once(Item action_name) const;
  void function(Item item, int32_t& function, std::vector<Term>& terms);
  int64_t number(Item item) const;
  void check_length(Item list, size_t length) const;
  const std::vector<bool>* derived = nullptr;  // per predicate; effects on those are refused

 private:
  using Shadowed = std::vector<std::pair<std::string_view, int32_t>>;
  Shadowed shadow(Item begin, Item end) const;
  void restore(const Shadowed& before);
  Formula quantifier(Item item, bool negated);
  void effect(Item item, LiftedAction& action, std::vector<int32_t>& variables, Formula& condition);
  void increase(Item item, LiftedAction& action, bool plain);
  std::vector<Term> terms(Item begin, Item end) const;
  std::vector<int32_t> types(Item item, bool lenient) const;

  const Source& source_;
  LiftedTask& task_;
  Symbols& symbols_;
  Used& used_;
  std::vector<SchemaVariable>* variables_ = nullptr;
  Names scope_;
  int increases_ = 0;
};

}  // namespace hstar::pddl
