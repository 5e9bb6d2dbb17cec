#include <algorithm>

#include "task/sas.h"

namespace hstar {
namespace {

class Writer {
 public:
  explicit Writer(const Task& task) : task_(task) {}

  std::string write() {
    text_ = "begin_version\n3\nend_version\nbegin_metric\n";
    text_ += task_.uses_metric ? "1\nend_metric\n" : "0\nend_metric\n";
    line(task_.variables.size());
    for (const Variable& variable : task_.variables) add(variable);
    line(task_.mutex_groups.size());
    for (const std::vector<Fact>& group : task_.mutex_groups) {
      text_ += "begin_mutex_group\n";
      add(group);
      text_ += "end_mutex_group\n";
    }
    text_ += "begin_state\n";
    for (const Value value : task_.initial_values) line(value);
    text_ += "end_state\nbegin_goal\n";
    add(task_.goal);
    text_ += "end_goal\n";
    line(task_.operators.size());
    for (const Operator& op : task_.operators) add(op);
    line(task_.axioms.size());
    for (const Axiom& axiom : task_.axioms) add(axiom);
    return std::move(text_);
  }

 private:
  template <class Number>
  void line(Number number) {
    text_ += std::to_string(number) + "\n";
  }
  void fact(const Fact& fact, char end) {
    text_ += std::to_string(fact.variable) + " " + std::to_string(fact.value) + end;
  }
  void add(std::span<const Fact> facts) {
    line(facts.size());
    for (const Fact& each : facts) fact(each, '\n');
  }

  void add(const Variable& variable) {
    text_ += "begin_variable\n" + variable.name + "\n";
    line(variable.axiom_layer);
    line(variable.domain_size());
    for (const std::string& name : variable.fact_names) text_ += name + "\n";
    text_ += "end_variable\n";
  }

  // A precondition on a variable with an effect is a part of that effect in this format.
  void add(const Operator& op) {
    const auto changed = [&](const Fact& fact) {
      return std::ranges::any_of(op.effects,
                                 [&](const Effect& effect) { return effect.fact.variable == fact.variable; });
    };
    // The format ends the names of actions without parameters with a space.
    const std::string name = op.name();
    text_ += "begin_operator\n" + name + (name.find(' ') == std::string::npos ? " \n" : "\n");
    std::vector<Fact> prevail;
    std::ranges::remove_copy_if(op.preconditions, std::back_inserter(prevail), changed);
    add(prevail);
    line(op.effects.size());
    for (const Effect& effect : op.effects) {
      text_ += std::to_string(effect.conditions.size()) + " ";
      for (const Fact& condition : effect.conditions) fact(condition, ' ');
      const auto before =
          std::ranges::find(op.preconditions, effect.fact.variable, [](const Fact& f) { return f.variable; });
      const Value value = before == op.preconditions.end() ? -1 : before->value;
      text_ += std::to_string(effect.fact.variable) + " " + std::to_string(value) + " " +
               std::to_string(effect.fact.value) + "\n";
    }
    line(op.cost);
    text_ += "end_operator\n";
  }

  void add(const Axiom& axiom) {
    text_ += "begin_rule\n";
    add(axiom.conditions);
    text_ += std::to_string(axiom.head.variable) + " " +
             std::to_string(task_.initial_values[axiom.head.variable]) + " " +
             std::to_string(axiom.head.value) + "\nend_rule\n";
  }

  const Task& task_;
  std::string text_;
};

}  // namespace

std::string write_sas(const Task& task) { return Writer(task).write(); }

}  // namespace hstar
