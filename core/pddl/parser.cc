#include "pddl/parser.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "pddl/formula_parser.h"

namespace hstar::pddl {
namespace {

constexpr std::string_view kReserved[] = {"and", "or", "not", "imply", "forall", "exists", "when"};

using Sections = std::map<std::string_view, std::vector<Item>>;

// The name of `(define (kind name) ...)`.
std::string_view defined_name(const Source& source) { return source.word(source.children(0)[1] + 2); }

// The sections of `(define (kind name) ...)` by keyword.
Sections split_sections(const Source& source, const char* kind, const std::set<std::string_view>& known) {
  const std::vector<Item> items = source.children(0);
  const std::string wanted = std::string("expected '(define (") + kind + " NAME)'";
  if (items.size() < 2 || source.head(0) != "define" || source.head(items[1]) != kind) source.fail(0, wanted);
  if (source.children(items[1]).size() != 2 || source.is_list(items[1] + 2)) source.fail(items[1], wanted);
  Sections sections;
  for (size_t i = 2; i < items.size(); ++i) {
    const std::string_view keyword = source.head(items[i]);
    if (keyword.empty())
      source.fail(items[i], "expected '(:section ...', got '" + source.shown(items[i]) + "'");
    const std::string shown = source.shown(items[i] + 1);
    for (const char* time : {":durative-action", ":constraints", ":process", ":event"})
      if (keyword == time) source.unsupported(items[i], "'" + shown + "' is not supported");
    if (!known.contains(keyword)) source.fail(items[i], "unknown section '" + shown + "' of a " + kind);
    std::vector<Item>& found = sections[keyword];
    if (!found.empty() && keyword != ":action" && keyword != ":derived")
      source.fail(items[i], "second '" + shown + "' section");
    found.push_back(items[i]);
  }
  return sections;
}

std::set<std::string> requirements(const Source& source, const Sections& sections) {
  std::set<std::string> found;
  if (const auto section = sections.find(":requirements"); section != sections.end())
    for (Item item = section->second[0] + 2; item < source.end(section->second[0]); item = source.next(item))
      found.emplace(source.shown(item));
  return found;
}

class DomainParser {
 public:
  DomainParser(const Source& source, LiftedTask& task, Symbols& symbols, Used& used)
      : source_(source),
        task_(task),
        symbols_(symbols),
        used_(used),
        parser_(source, task, symbols, used),
        sections_(split_sections(
            source, "domain",
            {":requirements", ":types", ":constants", ":predicates", ":functions", ":derived", ":action"})) {}

  std::set<std::string> parse() {
    task_.types = {"object"};
    task_.parents = {kObjectType};
    symbols_.types["object"] = kObjectType;
    task_.predicates.push_back({"=", {{kObjectType}, {kObjectType}}});
    symbols_.predicates["="] = kEquals;
    for (const Item section : sections_[":types"]) parse_types(section);
    for (const Item section : sections_[":constants"]) parse_objects(source_, parser_, section);
    for (const Item section : sections_[":predicates"])
      for (Item item = section + 2; item < source_.end(section); item = source_.next(item))
        declare(task_.predicates, symbols_.predicates, item);
    for (const Item section : sections_[":functions"]) parse_functions(section);
    for (const Item section : sections_[":derived"]) parse_rule(section);
    check_stratified();
    const std::vector<bool> derived = task_.derived();
    parser_.derived = &derived;
    for (const Item section : sections_[":action"]) parse_action(section);
    parser_.derived = nullptr;
    return requirements(source_, sections_);
  }

  // Also for problems: names that may repeat a constant of the same type.
  void parse_objects(const Source& source, FormulaParser& parser, Item section) {
    parser.typed_list(section + 2, source.end(section), false, [&](TypedItem entry) {
      const std::string_view name = source.word(entry.item);
      if (name.empty() || name.front() == '?')
        source.fail(entry.item, "expected the name of an object, got '" + source.shown(entry.item) + "'");
      const auto number = static_cast<int32_t>(task_.objects.size());
      const auto [found, fresh] = symbols_.objects.emplace(name, number);
      if (fresh)
        task_.objects.push_back({std::string(name), entry.types});
      else if (task_.objects[found->second].types != entry.types)
        source.fail(entry.item,
                    "object '" + source.shown(entry.item) + "' is declared twice, with different types");
    });
  }

 private:
  int32_t type_number(std::string_view name) {
    const auto [found, fresh] = symbols_.types.emplace(name, static_cast<int32_t>(task_.types.size()));
    if (fresh) {
      task_.types.emplace_back(name);
      task_.parents.push_back(kObjectType);
    }
    return found->second;
  }

  // A type may be listed before, after, or only as the parent of others.
  void parse_types(Item section) {
    std::vector<Item> group;
    std::vector<Item> where(1, section);
    for (Item item = section + 2; item < source_.end(section); item = source_.next(item)) {
      if (source_.is_list(item))
        source_.fail(item, "expected one type with one parent, got '" + source_.shown(item) + "'");
      if (!source_.is(item, "-")) {
        group.push_back(item);
        continue;
      }
      item = source_.next(item);
      if (item >= source_.end(section) || source_.is_list(item) || source_.is(item, "-"))
        source_.fail(item < source_.end(section) ? item : section, "expected one parent type after '-'");
      const int32_t parent = type_number(source_.word(item));
      where.resize(task_.types.size(), item);
      for (const Item entry : group) enter_type(entry, parent, where);
      group.clear();
    }
    for (const Item entry : group) enter_type(entry, kObjectType, where);
    used_.typing = task_.types.size() > 1;
    check_types(where);
  }

  void enter_type(Item entry, int32_t parent, std::vector<Item>& where) {
    const int32_t type = type_number(source_.word(entry));
    where.resize(task_.types.size(), entry);
    where[type] = entry;
    if (type == kObjectType) return;
    if (task_.parents[type] != kObjectType && task_.parents[type] != parent)
      source_.fail(entry, "type '" + source_.shown(entry) + "' has two parents");
    task_.parents[type] = parent;
  }

  void check_types(const std::vector<Item>& where) const {
    std::vector<int32_t> seen(task_.types.size(), -1);
    for (int32_t start = 1; start < static_cast<int32_t>(task_.types.size()); ++start) {
      int32_t type = start;
      for (; type != kObjectType && seen[type] == -1; type = task_.parents[type]) seen[type] = start;
      if (type != kObjectType && seen[type] == start)
        source_.fail(where[type], "type '" + task_.types[type] + "' is its own ancestor");
    }
  }

  void declare(std::vector<Predicate>& table, Names& names, Item item) {
    const std::string_view name = source_.head(item);
    if (name.empty())
      source_.fail(item, "expected '(name ?variable ...)', got '" + source_.shown(item) + "'");
    if (std::ranges::find(kReserved, name) != std::end(kReserved) || name == "=")
      source_.fail(item, "'" + source_.shown(item + 1) + "' cannot be declared");
    Predicate predicate{std::string(name), {}};
    parser_.typed_list(item + 2, source_.end(item), true, [&](TypedItem entry) {
      if (!source_.word(entry.item).starts_with('?'))
        source_.fail(entry.item, "expected a variable, got '" + source_.shown(entry.item) + "'");
      predicate.types.push_back(entry.types);
    });
    const auto [found, fresh] = names.emplace(name, static_cast<int32_t>(table.size()));
    if (fresh)
      table.push_back(std::move(predicate));
    else if (table[found->second].arity() != predicate.arity())
      source_.fail(item, "'" + source_.shown(item + 1) + "' is declared twice, with different arguments");
  }

  void parse_functions(Item section) {
    for (Item item = section + 2; item < source_.end(section); item = source_.next(item)) {
      if (!source_.is(item, "-")) {
        declare(task_.functions, symbols_.functions, item);
        continue;
      }
      item = source_.next(item);
      if (item >= source_.end(section)) source_.fail(section, "expected a type after '-'");
      if (!source_.is(item, "number") && !source_.is(item, "object"))
        source_.unsupported(item, "functions of type '" + source_.shown(item) + "' are not supported");
    }
  }

  void parse_rule(Item section) {
    parser_.check_length(section, 3);
    used_.derived = true;
    const Item head = section + 2;
    const std::string_view name = source_.head(head);
    if (name.empty()) source_.fail(head, "expected '(predicate ...)', got '" + source_.shown(head) + "'");
    const auto found = symbols_.predicates.find(name);
    if (found == symbols_.predicates.end() || found->second == kEquals)
      source_.fail(head, "undeclared predicate '" + source_.shown(head + 1) + "'");
    LiftedRule rule;
    rule.predicate = found->second;
    parser_.open_scope(rule.variables);
    const size_t got = parser_.variables(head + 2, source_.end(head)).size();
    if (got != task_.predicates[rule.predicate].types.size())
      source_.fail(head, "'" + source_.shown(head + 1) + "' has " +
                             std::to_string(task_.predicates[rule.predicate].arity()) + " arguments, got " +
                             std::to_string(got));
    rule.condition = parser_.formula(source_.next(head));
    task_.rules.push_back(std::move(rule));
  }

  // Whether no derived predicate depends on its own negation.
  void check_stratified() {
    const std::vector<bool> derived = task_.derived();
    const size_t n = task_.predicates.size();
    std::vector<std::vector<std::pair<int32_t, bool>>> needs(n);
    for (const LiftedRule& rule : task_.rules) collect(rule.condition, derived, needs[rule.predicate]);
    // As many rounds as there are predicates raise a layer only on a cycle through a negation.
    std::vector<size_t> layer(n, 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t r = 0; r < task_.rules.size(); ++r) {
        const int32_t head = task_.rules[r].predicate;
        for (const auto& [predicate, negated] : needs[head]) {
          if (layer[head] >= layer[predicate] + negated) continue;
          layer[head] = layer[predicate] + negated;
          changed = true;
          if (layer[head] > n)
            source_.fail(sections_[":derived"][r], "derived predicate '" + task_.predicates[head].name +
                                                       "' depends on its own negation through '" +
                                                       task_.predicates[predicate].name + "'");
        }
      }
    }
  }

  static void collect(const Formula& formula, const std::vector<bool>& derived,
                      std::vector<std::pair<int32_t, bool>>& needs) {
    if (formula.kind == Formula::Kind::kLiteral && derived[formula.literal.predicate]) {
      const std::pair<int32_t, bool> need(formula.literal.predicate, formula.literal.negated);
      if (std::ranges::find(needs, need) == needs.end()) needs.push_back(need);
    }
    for (const Formula& part : formula.parts) collect(part, derived, needs);
  }

  void parse_action(Item section) {
    const std::vector<Item> items = source_.children(section);
    if (items.size() < 2 || source_.is_list(items[1]) || source_.word(items[1]).starts_with(':'))
      source_.fail(items.size() < 2 ? section : items[1], "expected the name of the action");
    LiftedAction action;
    action.name = source_.word(items[1]);
    const std::string of = "action '" + source_.shown(items[1]) + "': ";
    if (!actions_.emplace(source_.word(items[1]), 0).second)
      source_.fail(section, "second action '" + source_.shown(items[1]) + "'");
    std::map<std::string_view, Item> fields;
    for (size_t i = 2; i < items.size(); i += 2) {
      const std::string_view field = source_.word(items[i]);
      if ((field != ":parameters" && field != ":precondition" && field != ":effect") ||
          fields.contains(field))
        source_.fail(items[i], of + "expected :parameters, :precondition or :effect, got '" +
                                   source_.shown(items[i]) + "'");
      if (i + 1 == items.size()) source_.fail(items[i], of + "'" + std::string(field) + "' has no value");
      fields[field] = items[i + 1];
    }
    parser_.open_scope(action.variables);
    if (fields.contains(":parameters")) {
      const auto [begin, end] = parser_.list(fields[":parameters"], "a list of variables");
      action.parameters = static_cast<int32_t>(parser_.variables(begin, end).size());
    }
    if (fields.contains(":precondition")) action.precondition = parser_.formula(fields[":precondition"]);
    if (fields.contains(":effect")) parser_.effects(fields[":effect"], action);
    task_.actions.push_back(std::move(action));
  }

  const Source& source_;
  LiftedTask& task_;
  Symbols& symbols_;
  Used& used_;
  FormulaParser parser_;
  Sections sections_;
  Names actions_;
};

class ProblemParser {
 public:
  ProblemParser(const Source& source, LiftedTask& task, Symbols& symbols, Used& used)
      : source_(source),
        task_(task),
        parser_(source, task, symbols, used),
        used_(used),
        sections_(split_sections(
            source, "problem",
            {":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length"})) {}

  std::set<std::string> parse(DomainParser& domain) {
    for (const char* keyword : {":domain", ":init", ":goal"})
      if (sections_[keyword].empty()) source_.fail(0, std::string("the problem has no '") + keyword + "'");
    const Item name = sections_[":domain"][0];
    parser_.check_length(name, 2);
    if (source_.word(name + 2) != task_.domain_name)
      task_.warnings.push_back(source_.file() + ": the problem is for domain '" + source_.shown(name + 2) +
                               "', the domain is called '" + task_.domain_name + "'");
    for (const Item section : sections_[":objects"]) domain.parse_objects(source_, parser_, section);
    parse_init(sections_[":init"][0]);
    const Item goal = sections_[":goal"][0];
    parser_.check_length(goal, 2);
    parser_.open_scope(task_.goal_variables);
    task_.goal = parser_.formula(goal + 2);
    for (const Item section : sections_[":metric"]) task_.metric = parse_metric(section);
    used_.costs |= task_.metric;
    return requirements(source_, sections_);
  }

 private:
  // Facts and function values. A negated fact adds nothing: what is not listed is false.
  void parse_init(Item section) {
    const std::vector<bool> derived = task_.derived();
    std::vector<SchemaVariable> none;
    parser_.open_scope(none);
    std::map<std::pair<int32_t, std::vector<int32_t>>, int64_t> values;
    for (Item item = section + 2; item < source_.end(section); item = source_.next(item)) {
      if (source_.head(item) == "=") {
        parser_.check_length(item, 3);
        FunctionValue value{-1, {}, 0};
        parser_.function(item + 2, value.function, value.objects);
        value.value = parser_.number(source_.next(item + 2));
        const auto [found, fresh] = values.emplace(std::pair(value.function, value.objects), value.value);
        if (!fresh && found->second != value.value)
          source_.fail(item, source_.shown(item + 2) + " has two values");
        if (fresh) task_.values.push_back(std::move(value));
        continue;
      }
      const bool negated = source_.head(item) == "not";
      if (negated) parser_.check_length(item, 2);
      Literal atom = parser_.atom(negated ? item + 2 : item);
      if (derived[atom.predicate])
        source_.fail(item, "derived predicate '" + task_.predicates[atom.predicate].name + "' in :init");
      if (atom.predicate == kEquals) source_.fail(item, "'=' of objects in :init");
      if (!negated) task_.init.push_back({atom.predicate, std::move(atom.terms)});
    }
  }

  // Whether the metric is the total cost; `total-time` of a sequential plan is its length.
  bool parse_metric(Item section) const {
    std::string text;
    for (Item item = section + 2; item < source_.end(section); ++item)
      if (!source_.is_list(item)) text += std::string(source_.word(item)) + " ";
    if (text == "minimize total-cost ") return true;
    if (text == "minimize total-time ") return false;
    source_.unsupported(section, "metric '" + source_.shown(section) + "'; only minimize (total-cost)");
  }

  const Source& source_;
  LiftedTask& task_;
  FormulaParser parser_;
  Used& used_;
  Sections sections_;
};

void warn_undeclared(const std::string& file, const Used& used, std::set<std::string> declared,
                     std::vector<std::string>& warnings) {
  if (declared.contains(":adl"))
    declared.insert({":typing", ":negative-preconditions", ":disjunctive-preconditions", ":equality",
                     ":quantified-preconditions", ":conditional-effects"});
  if (declared.contains(":negation")) declared.insert(":negative-preconditions");
  if (declared.contains(":fluents") || declared.contains(":numeric-fluents"))
    declared.insert(":action-costs");
  if (declared.contains(":existential-preconditions") || declared.contains(":universal-preconditions"))
    declared.insert(":quantified-preconditions");
  const std::pair<bool, const char*> all[] = {{used.costs, ":action-costs"},
                                              {used.conditional, ":conditional-effects"},
                                              {used.derived, ":derived-predicates"},
                                              {used.disjunction, ":disjunctive-preconditions"},
                                              {used.equality, ":equality"},
                                              {used.negation, ":negative-preconditions"},
                                              {used.quantifiers, ":quantified-preconditions"},
                                              {used.typing, ":typing"}};
  std::string missing;
  for (const auto& [is_used, name] : all)
    if (is_used && !declared.contains(name)) missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (!missing.empty()) warnings.push_back(file + ": used but not declared: " + missing);
}

}  // namespace

std::vector<bool> LiftedTask::derived() const {
  std::vector<bool> result(predicates.size(), false);
  for (const LiftedRule& rule : rules) result[rule.predicate] = true;
  return result;
}

LiftedTask parse_task(const Source& domain, const Source& problem) {
  LiftedTask task;
  Symbols symbols;
  Used used;
  DomainParser domain_parser(domain, task, symbols, used);
  std::set<std::string> declared = domain_parser.parse();
  task.domain_name = defined_name(domain);
  task.requirements.assign(declared.begin(), declared.end());
  task.constants = task.objects.size();
  declared.merge(ProblemParser(problem, task, symbols, used).parse(domain_parser));
  task.problem_name = defined_name(problem);
  warn_undeclared(domain.file(), used, std::move(declared), task.warnings);
  return task;
}

}  // namespace hstar::pddl
