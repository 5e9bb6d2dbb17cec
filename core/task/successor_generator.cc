#include "task/successor_generator.h"

#include <algorithm>
#include <compare>
#include <span>
#include <string>

#include "base/errors.h"
#include "base/rows.h"

namespace hstar {
namespace {

constexpr size_t kMaxPreconditions = 5000;  // the depth of the tree, and of the recursions over it

}  // namespace

struct SuccessorGenerator::Builder {
  const Task& task;
  std::vector<int32_t>& code;
  RowsOfType<Fact> conditions;  // of each operator, by variable

  // Builds the tree for operators that agree on their first `depth` conditions and are sorted by them;
  // returns its node, 0 for an empty one. Recursion goes as deep as an operator has preconditions.
  int32_t build(std::span<const int32_t> operators, size_t depth) {
    if (operators.empty()) return 0;
    // 1. Operators without further conditions come first in the order.
    size_t ready = 0;
    while (ready < operators.size() && conditions[operators[ready]].size() == depth) ++ready;
    const std::span<const int32_t> waiting = operators.subspan(ready);
    if (waiting.empty()) return emit(operators, {}, true);

    // 2. The others by the variable they test next. Each such group is a branch with the later groups as its
    // default child, so the last group is built first.
    const auto variable_of = [&](size_t i) { return conditions[waiting[i]][depth].variable; };
    int32_t rest = 0;
    for (size_t end = waiting.size(); end > 0;) {
      size_t begin = end;
      while (begin > 0 && variable_of(begin - 1) == variable_of(end - 1)) --begin;
      const std::vector<int32_t> branch = build_branch(waiting.subspan(begin, end - begin), depth, rest);
      rest = emit(begin == 0 ? operators.first(ready) : std::span<const int32_t>(), branch, false);
      end = begin;
    }
    return rest;
  }

  // A branch on the variable that all `operators` test at `depth`: a dense table or a short list.
  std::vector<int32_t> build_branch(std::span<const int32_t> operators, size_t depth, int32_t rest) {
    const int32_t variable = conditions[operators[0]][depth].variable;
    std::vector<std::pair<int32_t, int32_t>> children;
    for (size_t i = 0; i < operators.size();) {
      size_t j = i;
      const Value value = conditions[operators[i]][depth].value;
      while (j < operators.size() && conditions[operators[j]][depth].value == value) ++j;
      children.emplace_back(value, build(operators.subspan(i, j - i), depth + 1));
      i = j;
    }
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
    return branch;
  }

  // The operators in the order of their conditions. The first two of them make a key, which settles most
  // comparisons without a look at the facts.
  std::vector<int32_t> sorted() const {
    const FactIds ids(task);
    std::vector<std::pair<uint64_t, int32_t>> keyed;
    keyed.reserve(task.operators.size());
    for (int32_t op = 0; op < static_cast<int32_t>(conditions.size()); ++op) {
      const std::span<const Fact> facts = conditions[op];
      uint64_t key = 0;
      for (size_t i = 0; i < 2; ++i) key = key << 32 | (i < facts.size() ? ids(facts[i]) + 1u : 0u);
      keyed.emplace_back(key, op);
    }
    std::ranges::sort(keyed, [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      const std::span<const Fact> x = conditions[a.second], y = conditions[b.second];
      const auto order = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
      return order != 0 ? order < 0 : a.second < b.second;
    });
    std::vector<int32_t> order;
    order.reserve(keyed.size());
    for (const auto& [key, op] : keyed) order.push_back(op);
    return order;
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
  std::vector<Fact> facts;
  for (const Operator& op : task.operators) {
    if (op.preconditions.size() > kMaxPreconditions)
      throw UnsupportedError("operator '" + op.name() + "' has more than " +
                             std::to_string(kMaxPreconditions) + " preconditions");
    facts.assign(op.preconditions.begin(), op.preconditions.end());
    std::ranges::sort(facts);
    builder.conditions.push_row(facts);
  }
  root_ = builder.build(builder.sorted(), 0);
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
