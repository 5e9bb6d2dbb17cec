// Partial states by their facts: which of them does a given partial state contain?
//
// A trie over facts, rarest first (a set-trie: Savnik, CD-ARES 2013); where only one partial state is left
// its remaining facts are compared one by one. A look-up follows only facts that the given state has. Each
// partial state has a weight, and a look-up is for those below a limit, which may fall on the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "task/regression.h"

namespace hstar {

class FactTrie {
 public:
  // Partial states as rows of values, kUnset for none; all different.
  FactTrie(const Task& task, const std::vector<std::vector<Value>>& states,
           const std::vector<int32_t>& weights);

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
  struct Builder;

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
