#include "sampling/fact_trie.h"

#include <algorithm>
#include <numeric>

namespace hstar {

struct FactTrie::Builder {
  FactTrie& trie;
  const std::vector<int32_t>& weights;
  std::vector<std::vector<Fact>> facts;  // per state, rarest first
  std::vector<int32_t> rank;             // per fact

  // A node for states [begin, end) of `order`, which agree on their first `depth` facts.
  uint32_t build(std::span<const uint32_t> order, size_t depth) {
    const auto id = static_cast<uint32_t>(trie.nodes_.size());
    trie.nodes_.emplace_back();
    Node node;
    node.least = weights[std::ranges::min(order, {}, [&](uint32_t state) { return weights[state]; })];
    if (order.size() == 1) {
      node.state = order[0];
      const std::vector<Fact>& all = facts[order[0]];
      node.tail_begin = static_cast<uint32_t>(trie.tails_.size());
      trie.tails_.insert(trie.tails_.end(), all.begin() + static_cast<long>(depth), all.end());
      node.tail_end = static_cast<uint32_t>(trie.tails_.size());
    } else {
      if (facts[order[0]].size() == depth) {
        node.state = order[0];
        order = order.subspan(1);
      }
      std::vector<Edge> children;
      for (size_t i = 0; i < order.size();) {
        const Fact fact = facts[order[i]][depth];
        size_t j = i;
        while (j < order.size() && facts[order[j]][depth] == fact) ++j;
        const uint32_t child = build(order.subspan(i, j - i), depth + 1);
        children.push_back({fact, child, trie.nodes_[child].least});
        i = j;
      }
      node.edges_begin = static_cast<uint32_t>(trie.edges_.size());
      trie.edges_.insert(trie.edges_.end(), children.begin(), children.end());
      node.edges_end = static_cast<uint32_t>(trie.edges_.size());
    }
    if (node.state != kNone) node.weight = weights[node.state];
    trie.nodes_[id] = node;
    return id;
  }
};

FactTrie::FactTrie(const Task& task, const std::vector<std::vector<Value>>& states,
                   const std::vector<int32_t>& weights)
    : ids_(task), first_(ids_.size(), kNone) {
  Builder builder{*this, weights, {}, std::vector<int32_t>(ids_.size(), 0)};
  // 1. Facts by how rare they are.
  std::vector<uint32_t> count(ids_.size(), 0);
  for (const std::vector<Value>& values : states) {
    builder.facts.emplace_back();
    for (int32_t v = 0; v < static_cast<int32_t>(values.size()); ++v) {
      if (values[v] == kUnset) continue;
      builder.facts.back().push_back({v, values[v]});
      ++count[ids_({v, values[v]})];
    }
  }
  std::vector<int32_t> by_count(ids_.size());
  std::iota(by_count.begin(), by_count.end(), 0);
  std::ranges::stable_sort(by_count, {}, [&](int32_t fact) { return count[fact]; });
  for (int32_t i = 0; i < ids_.size(); ++i) builder.rank[by_count[i]] = i;
  const auto rank = [&](const Fact& fact) { return builder.rank[ids_(fact)]; };
  for (std::vector<Fact>& facts : builder.facts) std::ranges::sort(facts, {}, rank);

  // 2. States in the order of those lists, so that those with a common beginning are neighbours.
  std::vector<uint32_t> order(states.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return std::ranges::lexicographical_compare(builder.facts[a], builder.facts[b], {}, rank, rank);
  });

  // 3. The root as a table.
  const std::span<const uint32_t> all(order);
  for (size_t i = 0; i < order.size();) {
    if (builder.facts[order[i]].empty()) {
      always_.push_back(builder.build(all.subspan(i++, 1), 0));
      continue;
    }
    const Fact fact = builder.facts[order[i]][0];
    size_t j = i;
    while (j < order.size() && builder.facts[order[j]][0] == fact) ++j;
    first_[ids_(fact)] = builder.build(all.subspan(i, j - i), 1);
    i = j;
  }
}

}  // namespace hstar
