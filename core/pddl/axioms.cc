#include "pddl/axioms.h"

#include <algorithm>

#include "base/errors.h"
#include "base/scc.h"

namespace hstar::pddl {

void drop_unneeded(std::vector<GroundRule>& rules, std::vector<bool> needed) {
  std::vector<std::vector<size_t>> rules_for(needed.size());
  std::vector<int32_t> stack;
  for (size_t i = 0; i < rules.size(); ++i) rules_for[rules[i].head].push_back(i);
  for (size_t atom = 0; atom < needed.size(); ++atom)
    if (needed[atom]) stack.push_back(static_cast<int32_t>(atom));
  while (!stack.empty()) {
    const int32_t atom = stack.back();
    stack.pop_back();
    for (const size_t i : rules_for[atom]) {
      for (const GroundLiteral literal : rules[i].body) {
        if (needed[atom_of(literal)]) continue;
        needed[atom_of(literal)] = true;
        stack.push_back(atom_of(literal));
      }
    }
  }
  std::erase_if(rules, [&](const GroundRule& rule) { return !needed[rule.head]; });
}

void drop_dominated(std::vector<GroundRule>& rules, Watch& watch) {
  std::vector<uint64_t> bits(rules.size());
  for (GroundRule& rule : rules) {
    std::ranges::sort(rule.body);
    rule.body.erase(std::unique(rule.body.begin(), rule.body.end()), rule.body.end());
  }
  // Short bodies first: only those can dominate. Otherwise the order stays.
  std::vector<size_t> order(rules.size());
  for (size_t i = 0; i < rules.size(); ++i) {
    order[i] = i;
    for (const GroundLiteral literal : rules[i].body)
      bits[i] |= uint64_t{1} << (static_cast<uint64_t>(literal) * 0x9e3779b97f4a7c15ull >> 58);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(rules[a].head, rules[a].body.size()) < std::pair(rules[b].head, rules[b].body.size());
  });
  std::vector<bool> dropped(rules.size(), false);
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin; end < order.size() && rules[order[end]].head == rules[order[begin]].head;) ++end;
    for (size_t i = begin; i < end; ++i) {
      const std::vector<GroundLiteral>& body = rules[order[i]].body;
      for (size_t j = begin; j < i && !dropped[order[i]]; ++j) {
        watch();
        const size_t other = order[j];
        if (!dropped[other] && (bits[other] & ~bits[order[i]]) == 0)
          dropped[order[i]] = std::ranges::includes(body, rules[other].body);
      }
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (dropped[i]) continue;
    if (kept != i) rules[kept] = std::move(rules[i]);
    ++kept;
  }
  rules.resize(kept);
}

std::vector<int32_t> axiom_layers(const std::vector<GroundRule>& rules, const Atoms& atoms) {
  std::vector<int32_t> derived(atoms.size(), -1), names;
  for (const GroundRule& rule : rules) {
    if (derived[rule.head] >= 0) continue;
    derived[rule.head] = static_cast<int32_t>(names.size());
    names.push_back(rule.head);
  }
  std::vector<std::vector<int32_t>> needs(names.size());
  std::vector<std::vector<std::pair<int32_t, bool>>> literals(names.size());
  for (const GroundRule& rule : rules) {
    for (const GroundLiteral literal : rule.body) {
      const int32_t other = derived[atom_of(literal)];
      if (other < 0) continue;
      needs[derived[rule.head]].push_back(other);
      literals[derived[rule.head]].emplace_back(other, is_negated(literal));
    }
  }
  std::vector<int32_t> layer(names.size(), 0), component(names.size(), -1);
  const std::vector<std::vector<int32_t>> all = components(needs);  // what is needed comes first
  for (size_t c = 0; c < all.size(); ++c) {
    int32_t most = 0;
    for (const int32_t v : all[c]) component[v] = static_cast<int32_t>(c);
    for (const int32_t v : all[c]) {
      for (const auto& [other, negated] : literals[v]) {
        if (negated && component[other] == component[v])
          throw UnsupportedError("derived atom " + atoms.name(names[v]) +
                                 " depends on its own negation through " + atoms.name(names[other]));
        if (component[other] != component[v]) most = std::max(most, layer[other] + negated);
      }
    }
    for (const int32_t v : all[c]) layer[v] = most;
  }
  std::vector<int32_t> result(atoms.size(), -1);
  for (size_t i = 0; i < names.size(); ++i) result[names[i]] = layer[i];
  return result;
}

}  // namespace hstar::pddl
