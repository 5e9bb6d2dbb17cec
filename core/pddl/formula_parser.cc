#include "pddl/formula_parser.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace hstar::pddl {
namespace {

constexpr std::string_view kNumeric[] = {"<",        ">",        "<=",         ">=",         "assign",
                                         "decrease", "scale-up", "scale-down", "preference", "increase",
                                         "+",        "-",        "*",          "/"};
constexpr size_t kMaxDigits = 18;
constexpr int32_t kNoVariable = -1;

std::string arguments(std::string_view name, size_t wanted, size_t got) {
  return "'" + std::string(name) + "' has " + std::to_string(wanted) + " arguments, got " +
         std::to_string(got);
}

}  // namespace

std::pair<Item, Item> FormulaParser::list(Item item, const char* expected) const {
  if (!source_.is_list(item))
    source_.fail(item, std::string("expected ") + expected + ", got '" + source_.shown(item) + "'");
  return {item + 1, source_.end(item)};
}

void FormulaParser::check_length(Item list, size_t length) const {
  const size_t got = source_.children(list).size();
  if (got != length)
    source_.fail(list, "'" + std::string(source_.head(list)) + "' takes " + std::to_string(length - 1) +
                           " arguments, got " + std::to_string(got - std::min<size_t>(got, 1)));
}

// Types and variables.

std::vector<int32_t> FormulaParser::types(Item item, bool lenient) const {
  std::vector<Item> names;
  if (!source_.is_list(item)) {
    names.push_back(item);
  } else if (source_.head(item) == "either") {
    names = source_.children(item);
    names.erase(names.begin());
  }
  if (names.empty()) source_.fail(item, "expected a type after '-', got '" + source_.shown(item) + "'");
  std::vector<int32_t> result;
  for (const Item name : names) {
    if (source_.is_list(name) || source_.is(name, "-"))
      source_.fail(name, "expected a type after '-', got '" + source_.shown(name) + "'");
    const auto found = symbols_.types.find(source_.word(name));
    if (found != symbols_.types.end()) {
      if (std::ranges::find(result, found->second) == result.end()) result.push_back(found->second);
    } else if (lenient) {
      task_.warnings.push_back(source_.file() + ": undeclared type '" + source_.shown(name) +
                               "' taken as object");
      result = {kObjectType};
      break;
    } else {
      source_.fail(name, "undeclared type '" + source_.shown(name) + "'");
    }
  }
  std::ranges::sort(result);
  return result;
}

void FormulaParser::typed_list(Item begin, Item end, bool lenient,
                               const std::function<void(TypedItem)>& visit) {
  std::vector<Item> group;
  const std::vector<int32_t> object = {kObjectType};
  for (Item item = begin; item < end; item = source_.next(item)) {
    if (!source_.is(item, "-")) {
      group.push_back(item);
      continue;
    }
    const Item kind = source_.next(item);
    if (kind >= end) source_.fail(item, "expected a type after '-'");
    const std::vector<int32_t> found = types(kind, lenient);
    for (const Item entry : group) visit({entry, found});
    group.clear();
    item = kind;
  }
  for (const Item entry : group) visit({entry, object});
}

void FormulaParser::open_scope(std::vector<SchemaVariable>& variables) {
  variables_ = &variables;
  scope_.clear();
  increases_ = 0;
}

std::vector<int32_t> FormulaParser::variables(Item begin, Item end) {
  std::vector<int32_t> found;
  Names seen;
  typed_list(begin, end, false, [&](TypedItem entry) {
    const std::string_view name = source_.word(entry.item);
    if (!name.starts_with('?') || name.size() < 2)
      source_.fail(entry.item, "expected a variable, got '" + source_.shown(entry.item) + "'");
    if (!seen.emplace(name, 0).second)
      source_.fail(entry.item, "variable '" + std::string(name) + "' is declared twice");
    const auto number = static_cast<int32_t>(variables_->size());
    variables_->push_back({std::string(name), entry.types});
    scope_[name] = number;
    found.push_back(number);
  });
  return found;
}

FormulaParser::Shadowed FormulaParser::shadow(Item begin, Item end) const {
  Shadowed before;
  for (Item item = begin; item < end; item = source_.next(item)) {
    if (!source_.word(item).starts_with('?')) continue;
    const auto found = scope_.find(source_.word(item));
    before.emplace_back(source_.word(item), found == scope_.end() ? kNoVariable : found->second);
  }
  return before;
}

void FormulaParser::restore(const Shadowed& before) {
  for (const auto& [name, number] : before) {
    if (number == kNoVariable)
      scope_.erase(name);
    else
      scope_[name] = number;
  }
}

// Conditions.

std::vector<Term> FormulaParser::terms(Item begin, Item end) const {
  std::vector<Term> result;
  for (Item item = begin; item < end; item = source_.next(item)) {
    const std::string_view name = source_.word(item);
    if (name.empty())
      source_.fail(item, "expected a variable or an object, got '" + source_.shown(item) + "'");
    const bool variable = name.front() == '?';
    const Names& names = variable ? scope_ : symbols_.objects;
    const auto found = names.find(name);
    if (found == names.end())
      source_.fail(item, std::string(variable ? "unknown variable '" : "unknown object '") +
                             source_.shown(item) + "'");
    result.push_back(variable ? variable_term(found->second) : found->second);
  }
  return result;
}

Literal FormulaParser::atom(Item item) {
  const std::string_view name = source_.head(item);
  if (name.empty()) source_.fail(item, "expected '(predicate ...)', got '" + source_.shown(item) + "'");
  bool nested = false;
  for (Item i = item + 1; i < source_.end(item); i = source_.next(i)) nested |= source_.is_list(i);
  const auto found = symbols_.predicates.find(name);
  if (found == symbols_.predicates.end() || (nested && name == "=")) {
    if (std::ranges::find(kNumeric, name) != std::end(kNumeric) || name == "=")
      source_.unsupported(item, "'" + std::string(name) + "' on numbers is not supported, only action costs");
    source_.fail(item, "undeclared predicate '" + source_.shown(item + 1) + "'");
  }
  Literal result{found->second, false, terms(item + 2, source_.end(item))};
  const size_t arity = task_.predicates[found->second].types.size();
  if (result.terms.size() != arity) source_.fail(item, arguments(name, arity, result.terms.size()));
  return result;
}

Formula FormulaParser::quantifier(Item item, bool negated) {
  check_length(item, 3);
  used_.quantifiers = true;
  const auto [begin, end] = list(item + 2, "a list of variables");
  const Shadowed before = shadow(begin, end);
  Formula result;
  result.kind = (source_.head(item) == "forall") != negated ? Formula::Kind::kForall : Formula::Kind::kExists;
  result.variables = variables(begin, end);
  result.parts.push_back(formula(source_.next(item + 2), negated));
  restore(before);
  if (result.variables.empty()) return std::move(result.parts.front());
  return result;
}

Formula FormulaParser::formula(Item item, bool negated) {
  list(item, "a condition in parentheses");
  Formula result;
  const std::vector<Item> items = source_.children(item);
  if (items.empty()) {
    result.kind = negated ? Formula::Kind::kOr : Formula::Kind::kAnd;
    return result;
  }
  const std::string_view head = source_.head(item);
  if (head == "forall" || head == "exists") return quantifier(item, negated);
  if (head == "not") {
    check_length(item, 2);
    const std::string_view inner = source_.head(items[1]);
    const bool plain = symbols_.predicates.contains(inner);
    (plain ? used_.negation : used_.disjunction) = true;
    return formula(items[1], !negated);
  }
  if (head != "and" && head != "or" && head != "imply") {
    result.kind = Formula::Kind::kLiteral;
    result.literal = atom(item);
    result.literal.negated = negated;
    used_.equality |= result.literal.predicate == kEquals;
    return result;
  }
  if (head != "and") used_.disjunction = true;
  if (head == "imply") check_length(item, 3);
  result.kind = (head == "and") != negated ? Formula::Kind::kAnd : Formula::Kind::kOr;
  for (size_t i = 1; i < items.size(); ++i)
    result.parts.push_back(formula(items[i], (head == "imply" && i == 1) != negated));
  return result;
}

// Effects.

void FormulaParser::effects(Item item, LiftedAction& action) {
  std::vector<int32_t> variables;
  Formula condition;
  effect(item, action, variables, condition);
}

void FormulaParser::effect(Item item, LiftedAction& action, std::vector<int32_t>& variables,
                           Formula& condition) {
  list(item, "an effect in parentheses");
  const std::vector<Item> items = source_.children(item);
  const std::string_view head = items.empty() ? "and" : source_.head(item);
  if (head == "and") {
    for (size_t i = 1; i < items.size(); ++i) effect(items[i], action, variables, condition);
  } else if (head == "forall") {
    check_length(item, 3);
    used_.conditional = true;
    const auto [begin, end] = list(items[1], "a list of variables");
    const Shadowed before = shadow(begin, end);
    const std::vector<int32_t> more = this->variables(begin, end);
    variables.insert(variables.end(), more.begin(), more.end());
    effect(items[2], action, variables, condition);
    variables.resize(variables.size() - more.size());
    restore(before);
  } else if (head == "when") {
    check_length(item, 3);
    used_.conditional = true;
    condition.parts.push_back(formula(items[1]));
    effect(items[2], action, variables, condition);
    condition.parts.pop_back();
  } else if (head == "increase") {
    check_length(item, 3);
    increase(item, action, variables.empty() && condition.parts.empty());
  } else {
    const bool negated = head == "not";
    if (negated) check_length(item, 2);
    Literal literal = atom(negated ? items[1] : item);
    literal.negated = negated;
    if (literal.predicate == kEquals || (derived && (*derived)[literal.predicate]))
      source_.fail(item, "no effect can change '" + task_.predicates[literal.predicate].name + "'");
    action.effects.push_back({variables, condition, std::move(literal)});
  }
}

void FormulaParser::increase(Item item, LiftedAction& action, bool plain) {
  const std::vector<Item> items = source_.children(item);
  const Item target = items[1];
  const bool total = source_.is(target, "total-cost") ||
                     (source_.head(target) == "total-cost" && source_.children(target).size() == 1);
  if (!total || !plain)
    source_.unsupported(item, "only an unconditional (increase (total-cost) ...) is supported");
  if (++increases_ > 1)
    source_.unsupported(item, "action '" + action.name + "' increases (total-cost) twice");
  used_.costs = true;
  if (source_.is_list(items[2]))
    function(items[2], action.cost.function, action.cost.terms);
  else
    action.cost.number = number(items[2]);
}

// An undeclared function passes: many domains leave `total-cost` out.
void FormulaParser::function(Item item, int32_t& function, std::vector<Term>& found) {
  const std::string_view name = source_.head(item);
  if (name.empty()) source_.fail(item, "expected '(function ...)', got '" + source_.shown(item) + "'");
  found = terms(item + 2, source_.end(item));
  const auto [entry, fresh] = symbols_.functions.emplace(name, static_cast<int32_t>(task_.functions.size()));
  if (fresh) task_.functions.push_back({std::string(name), std::vector<std::vector<int32_t>>(found.size())});
  function = entry->second;
  const size_t arity = task_.functions[function].types.size();
  if (found.size() != arity) source_.fail(item, arguments(name, arity, found.size()));
}

int64_t FormulaParser::number(Item item) const {
  const std::string_view word = source_.word(item);
  size_t digits = 0, points = 0;
  const size_t sign = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
  for (const char c : word.substr(sign)) {
    digits += c >= '0' && c <= '9';
    points += c == '.';
  }
  if (digits == 0 || digits + points + sign != word.size() || points > 1)
    source_.fail(item, "expected a number, got '" + source_.shown(item) + "'");
  // "3.0" is a natural number, too.
  const size_t point = std::min(word.find('.'), word.size());
  const bool whole = std::ranges::all_of(word.substr(point), [](char c) { return c == '.' || c == '0'; });
  if (sign || !whole || point == 0 || point > kMaxDigits)
    source_.unsupported(item, "'" + source_.shown(item) + "' as a cost, only natural numbers");
  int64_t value = 0;
  std::from_chars(word.data(), word.data() + point, value);
  return value;
}

}  // namespace hstar::pddl
