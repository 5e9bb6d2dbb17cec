#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/errors.h"
#include "task/sas.h"

namespace hstar {
namespace {

// The text line by line, and numbers within a line.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  [[noreturn]] void fail(const std::string& message) const { throw InputError(message, line_); }

  std::string_view next(const char* what) {
    if (rest_.empty()) {
      ++line_;
      fail(std::string("the file ends where ") + what + " is expected");
    }
    ++line_;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
      line.remove_suffix(1);
    return line;
  }

  void expect(const char* word) {
    if (const std::string_view line = next(word); line != word)
      fail("expected '" + std::string(word) + "', got '" + shown(line) + "'");
  }

  int32_t number(std::string_view& line, const char* what) const {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    int32_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    const size_t used = end - line.data();
    if (error == std::errc::result_out_of_range) fail(std::string(what) + " is out of range");
    if (error != std::errc() || (used < line.size() && line[used] != ' '))
      fail("expected " + std::string(what) + ", got '" + shown(line) + "'");
    line.remove_prefix(used);
    return value;
  }

  int32_t only_number(const char* what) {
    std::string_view line = next(what);
    const int32_t value = number(line, what);
    done(line);
    return value;
  }

  // A count of things of which each takes at least `bytes_each` of the remaining text.
  int32_t count(const char* what, size_t bytes_each) {
    return check_count(only_number(what), what, rest_.size() / bytes_each);
  }
  int32_t count_in_line(std::string_view& line, const char* what) const {
    return check_count(number(line, what), what, line.size() / 2);
  }

  void done(std::string_view line) const {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (!line.empty()) fail("unexpected '" + shown(line) + "' at the end of the line");
  }

  bool at_end() {
    while (!rest_.empty() && std::string_view(" \n\r\t").find(rest_.front()) != rest_.npos)
      rest_.remove_prefix(1);
    return rest_.empty();
  }

 private:
  int32_t check_count(int32_t n, const char* what, size_t most) const {
    if (n < 0) fail(std::string(what) + " is negative (" + std::to_string(n) + ")");
    if (static_cast<size_t>(n) > most)
      fail(std::string(what) + " (" + std::to_string(n) + ") is more than the file can hold");
    return n;
  }

  static std::string shown(std::string_view line) {
    std::string text(line.substr(0, 40));
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    return line.size() > 40 ? text + "..." : text;
  }

  std::string_view rest_;
  long line_ = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(text) {}

  Task read() {
    read_header();
    read_variables();
    read_mutex_groups();
    read_initial_state();
    lines_.expect("begin_goal");
    task_.goal = conditions(lines_.count("the number of goals", 4));
    lines_.expect("end_goal");
    read_operators();
    read_axioms();
    if (!lines_.at_end()) lines_.next(""), lines_.fail("text after the last section");
    return std::move(task_);
  }

 private:
  void read_header() {
    lines_.expect("begin_version");
    if (const int32_t version = lines_.only_number("the version"); version != 3)
      lines_.fail("version " + std::to_string(version) + " of the format; only 3 is known");
    lines_.expect("end_version");
    lines_.expect("begin_metric");
    const int32_t metric = lines_.only_number("the metric flag");
    if (metric != 0 && metric != 1) lines_.fail("the metric flag must be 0 or 1");
    task_.uses_metric = metric == 1;
    lines_.expect("end_metric");
  }

  void read_variables() {
    const int32_t n = lines_.count("the number of variables", 20);
    task_.variables.resize(n);
    for (Variable& variable : task_.variables) {
      lines_.expect("begin_variable");
      variable.name = lines_.next("a variable's name");
      variable.axiom_layer = lines_.only_number("the axiom layer");
      if (variable.axiom_layer < -1) lines_.fail("the axiom layer is below -1");
      const int32_t size = lines_.count("the domain size", 1);
      if (size < 1) lines_.fail("a variable needs at least one value");
      variable.fact_names.resize(size);
      for (std::string& fact : variable.fact_names) fact = lines_.next("a fact");
      lines_.expect("end_variable");
    }
    int64_t facts = 0;
    for (const Variable& variable : task_.variables) facts += variable.domain_size();
    if (facts > std::numeric_limits<int32_t>::max() / 4) lines_.fail("too many facts");
  }

  void read_mutex_groups() {
    task_.mutex_groups.resize(lines_.count("the number of mutex groups", 20));
    for (std::vector<Fact>& group : task_.mutex_groups) {
      lines_.expect("begin_mutex_group");
      const int32_t n = lines_.count("the size of a mutex group", 4);
      for (int32_t i = 0; i < n; ++i) group.push_back(fact_line());
      lines_.expect("end_mutex_group");
    }
  }

  void read_initial_state() {
    lines_.expect("begin_state");
    for (const Variable& variable : task_.variables) {
      const int32_t value = lines_.only_number("a value of the initial state");
      if (!variable.has(value)) lines_.fail(variable.refusal(value));
      task_.initial_values.push_back(value);
    }
    lines_.expect("end_state");
  }

  void read_operators() {
    const int32_t number = lines_.count("the number of operators", 30);
    task_.operators.reserve(number);
    std::vector<ReadEffect> effects;
    for (int32_t op = 0; op < number; ++op) {
      lines_.expect("begin_operator");
      const std::string name(lines_.next("an operator's name"));
      std::vector<Fact> preconditions = conditions(lines_.count("the number of prevail conditions", 4));
      effects.resize(lines_.count("the number of effects", 8));
      for (ReadEffect& effect : effects) read_effect(effect, preconditions);
      normalise(preconditions);
      const Cost cost = lines_.only_number("the cost");
      if (cost < 0) lines_.fail("the cost of '" + name + "' is negative");
      if (cost > kMaxCost) lines_.fail("the cost of '" + name + "' is above 2^29");
      task_.operators.add(name, task_.uses_metric ? cost : 1, preconditions, effects);
      lines_.expect("end_operator");
    }
    if (task_.operators.size() >= (1u << 29)) lines_.fail("too many operators");
  }

  struct ReadEffect {
    std::vector<Fact> conditions;
    Fact fact;
  };

  void read_effect(ReadEffect& effect, std::vector<Fact>& preconditions) {
    std::string_view line = lines_.next("an effect");
    effect.conditions.clear();
    const int32_t n = lines_.count_in_line(line, "the number of effect conditions");
    for (int32_t i = 0; i < n; ++i) effect.conditions.push_back(fact(line));
    normalise(effect.conditions);
    const int32_t variable = variable_index(line);
    if (task_.variables[variable].derived())
      lines_.fail("an operator sets the derived variable " + task_.variables[variable].name);
    const int32_t before = lines_.number(line, "a value or -1");
    if (before != -1) preconditions.push_back(checked(variable, before));
    effect.fact = checked(variable, lines_.number(line, "a value"));
    lines_.done(line);
  }

  void read_axioms() {
    task_.axioms.resize(lines_.count("the number of axioms", 20));
    for (Axiom& axiom : task_.axioms) {
      lines_.expect("begin_rule");
      axiom.conditions = conditions(lines_.count("the number of conditions", 4));
      std::string_view line = lines_.next("the head of an axiom");
      const int32_t variable = variable_index(line);
      if (!task_.variables[variable].derived())
        lines_.fail("an axiom sets " + task_.variables[variable].name + ", which is not derived");
      checked(variable, lines_.number(line, "a value"));
      axiom.head = checked(variable, lines_.number(line, "a value"));
      lines_.done(line);
      for (const Fact& condition : axiom.conditions)
        if (task_.variables[condition.variable].axiom_layer > task_.variables[variable].axiom_layer)
          lines_.fail("an axiom depends on a higher layer than its own");
      for (const Fact& condition : axiom.conditions)
        if (task_.variables[condition.variable].axiom_layer == task_.variables[variable].axiom_layer &&
            condition.value == task_.initial_values[condition.variable])
          lines_.fail("an axiom depends on the default of a variable of its own layer");
      lines_.expect("end_rule");
    }
  }

  std::vector<Fact> conditions(int32_t n) {
    std::vector<Fact> result;
    for (int32_t i = 0; i < n; ++i) result.push_back(fact_line());
    normalise(result);
    return result;
  }

  // Drops repetitions, keeps the order, and refuses two values of one variable.
  void normalise(std::vector<Fact>& facts) {
    asked_.resize(task_.variables.size(), -1);
    size_t kept = 0;
    for (const Fact& fact : facts) {
      Value& asked = asked_[fact.variable];
      if (asked != -1 && asked != fact.value)
        lines_.fail("a condition asks for two values of " + task_.variables[fact.variable].name);
      if (asked == -1) facts[kept++] = fact;
      asked = fact.value;
    }
    facts.resize(kept);
    for (const Fact& fact : facts) asked_[fact.variable] = -1;
  }

  Fact fact_line() {
    std::string_view line = lines_.next("a fact");
    const Fact result = fact(line);
    lines_.done(line);
    return result;
  }
  Fact fact(std::string_view& line) const {
    const int32_t variable = variable_index(line);
    return checked(variable, lines_.number(line, "a value"));
  }
  int32_t variable_index(std::string_view& line) const {
    const int32_t variable = lines_.number(line, "a variable");
    if (variable < 0 || variable >= static_cast<int32_t>(task_.variables.size()))
      lines_.fail("variable " + std::to_string(variable) + " does not exist");
    return variable;
  }
  Fact checked(int32_t variable, int32_t value) const {
    const Variable& of = task_.variables[variable];
    if (!of.has(value)) lines_.fail(of.refusal(value));
    return {variable, value};
  }

  Lines lines_;
  Task task_;
  std::vector<Value> asked_;  // per variable, -1 between calls of normalise
};

// Names are handed on as text, so the file has to be text: throws with the line of the first byte that is
// not.
void check_utf8(std::string_view text) {
  long line = 1;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    line += byte == '\n';
    size_t length = byte < 0x80 ? 1 : byte >> 5 == 6 ? 2 : byte >> 4 == 14 ? 3 : byte >> 3 == 30 ? 4 : 0;
    uint32_t code = length == 1 ? byte : byte & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) {
        length = 0;
        break;
      }
      code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    }
    const bool shortest = length < 2 || code >= (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    if (length == 0 || !shortest || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      throw InputError("not text: a byte that is not UTF-8", line);
    i += length;
  }
}

}  // namespace

Task read_sas(std::string_view text) {
  // Shortest possible first line; tells a binary or foreign file apart with a clear message.
  if (!text.starts_with("begin_version"))
    throw InputError("not a .sas file: it does not start with 'begin_version'", 1);
  check_utf8(text);
  return Reader(text).read();
}

}  // namespace hstar
