// Partial states by their facts: which of them does a given partial state contain?
//
// A trie over facts, rarest first (a set-trie: Savnik, CD-ARES 2013); where only one partial state is left
// its remaining facts are compared one by one. A look-up follows only facts that the given state has. Each
// partial state has a weight, and a look-up is for those below a limit, which may fall on the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "task/regression.h"

namespace hstar {

class FactTrie {
 public:
  // Partial states as rows of values, kUnset for none. Of equal ones the lightest counts.
  FactTrie(const Task& task, const std::vector<std::vector<Value>>& states,
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
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return weights[i]; });
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
      return std::ranges::lexicographical_compare(builder.facts[a], builder.facts[b], {}, rank, rank);
    });
    const auto facts_of = [&](uint32_t i) -> const auto& { return builder.facts[i]; };
    const auto repeated = std::ranges::unique(order, {}, facts_of);
    order.erase(repeated.begin(), repeated.end());

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

  // Calls found(number) for each partial state that `values` contains and whose weight is below `limit`.
  template <class Found>
  void subsets(const Value* values, int32_t& limit, Found&& found) const {
    for (const uint32_t node : always_) walk(node, values, limit, found);
    for (int32_t v = 0; ids_.offset(v) < ids_.size(); ++v) {
      if (values[v] == kUnset) continue;
      if (const uint32_t node = first_[ids_({v, values[v]})]; node != kNone) walk(node, values, limit, found);
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Edge {
    Fact fact;
    uint32_t node;
    int32_t least;  // weight in the node and below
  };
  // Contains `state` if all facts of the tail hold; goes on along the edges that hold.
  struct Node {
    uint32_t tail_begin = 0;
    uint32_t tail_end = 0;
    uint32_t edges_begin = 0;
    uint32_t edges_end = 0;
    uint32_t state = kNone;
    int32_t weight = 0;  // of the state
    int32_t least = 0;   // in the node and below
  };
  struct Builder {
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
        trie.tails_.insert(trie.tails_.end(), all.begin() + depth, all.end());
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

  template <class Found>
  void walk(uint32_t id, const Value* values, int32_t& limit, Found& found) const {
    const Node& node = nodes_[id];
    if (node.least >= limit) return;
    for (uint32_t i = node.tail_begin; i < node.tail_end; ++i)
      if (values[tails_[i].variable] != tails_[i].value) return;
    if (node.state != kNone && node.weight < limit) found(node.state);
    for (uint32_t i = node.edges_begin; i < node.edges_end; ++i) {
      const Edge& edge = edges_[i];
      if (values[edge.fact.variable] == edge.fact.value && edge.least < limit)
        walk(edge.node, values, limit, found);
    }
  }

  FactIds ids_;
  std::vector<uint32_t> first_;   // per fact: the root's child, kNone for none
  std::vector<uint32_t> always_;  // the root's child for the state without facts
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Fact> tails_;
};

}  // namespace hstar
