#include "task/successor_generator.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace hstar {

struct SuccessorGenerator::Builder {
  const Task& task;
  std::vector<int32_t>& code;
  std::vector<std::vector<Fact>> conditions;  // per operator, by variable

  // Builds the tree for operators [begin, end), which agree on their first `depth` conditions and are
  // sorted by them; returns its node, 0 for an empty one.
  int32_t build(std::span<const int32_t> operators, size_t depth) {
    if (operators.empty()) return 0;
    // 1. Operators without further conditions come first in the order.
    size_t ready = 0;
    while (ready < operators.size() && conditions[operators[ready]].size() == depth) ++ready;
    const std::span<const int32_t> waiting = operators.subspan(ready);
    if (waiting.empty()) return emit(operators, {}, true);

    // 2. Those that test the lowest next variable branch on it, the others go into the default child.
    const int32_t variable = conditions[waiting[0]][depth].variable;
    size_t testing = 0;
    while (testing < waiting.size() && conditions[waiting[testing]][depth].variable == variable) ++testing;
    std::vector<std::pair<int32_t, int32_t>> children;
    for (size_t i = 0; i < testing;) {
      size_t j = i;
      const Value value = conditions[waiting[i]][depth].value;
      while (j < testing && conditions[waiting[j]][depth].value == value) ++j;
      children.emplace_back(value, build(waiting.subspan(i, j - i), depth + 1));
      i = j;
    }
    const int32_t rest = build(waiting.subspan(testing), depth);

    // 3. Dense table or short list.
    std::vector<int32_t> branch;
    const int32_t domain = task.variables[variable].domain_size();
    if (children.size() <= 2 || static_cast<int32_t>(children.size()) * 8 < domain) {
      branch = {-variable - 1, rest, static_cast<int32_t>(children.size())};
      for (const auto& [value, child] : children) {
        branch.push_back(value);
        branch.push_back(child);
      }
    } else {
      branch.assign(2 + domain, 0);
      branch[0] = variable;
      branch[1] = rest;
      for (const auto& [value, child] : children) branch[2 + value] = child;
    }
    return emit(operators.first(ready), branch, false);
  }

  int32_t emit(std::span<const int32_t> operators, const std::vector<int32_t>& branch, bool leaf) {
    const auto node = static_cast<int32_t>(code.size());
    const auto n = static_cast<int32_t>(operators.size());
    code.push_back(leaf ? -n - 1 : n);
    code.insert(code.end(), operators.begin(), operators.end());
    code.insert(code.end(), branch.begin(), branch.end());
    return node;
  }
};

SuccessorGenerator::SuccessorGenerator(const Task& task) {
  code_.push_back(-1);  // node 0: an empty leaf, which stands for "no child"
  Builder builder{task, code_, {}};
  for (const Operator& op : task.operators) {
    builder.conditions.push_back(op.preconditions);
    std::ranges::sort(builder.conditions.back());
  }
  std::vector<int32_t> order(task.operators.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](int32_t op) -> const std::vector<Fact>& { return builder.conditions[op]; });
  root_ = builder.build(order, 0);
}

void SuccessorGenerator::walk(int32_t node, const Value* values, std::vector<int32_t>& operators) const {
  while (true) {
    const int32_t* at = &code_[node];
    const int32_t n = *at++;
    if (n < 0) {
      operators.insert(operators.end(), at, at + (-n - 1));
      return;
    }
    operators.insert(operators.end(), at, at + n);
    at += n;
    int32_t child = 0;
    const int32_t rest = at[1];
    if (at[0] >= 0) {
      child = at[2 + values[at[0]]];
    } else {
      const Value value = values[-at[0] - 1];
      for (int32_t i = 0; i < at[2]; ++i) {
        if (at[3 + 2 * i] != value) continue;
        child = at[4 + 2 * i];
        break;
      }
    }
    if (rest == 0) {
      if (child == 0) return;
      node = child;
    } else {
      if (child != 0) walk(child, values, operators);
      node = rest;
    }
  }
}

}  // namespace hstar
