// Costs of facts in the delete relaxation: Dijkstra's algorithm over the relaxed operators (the
// "generalized Dijkstra" of Liu, Koenig and Furcy, AAAI 2002). The cost of a set of preconditions is their
// maximum (hmax) or their sum (add). Stops as soon as the cost of the goal is known.
//
// Invariant: a fact's cost is final when it leaves the queue. So the cost of a relaxed operator is needed
// only once, when its last precondition leaves: a two-byte counter is all that is kept and reset
// for each operator. An operator with one precondition needs no counter at all: it becomes an edge from
// fact to fact for each of its effects, stored with the fact, of parallel edges only the cheapest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/errors.h"
#include "heuristics/cost_queue.h"
#include "heuristics/relaxed_task.h"

namespace hstar {

enum class Combine { kMax, kSum };

template <Combine kCombine>
class RelaxedExploration {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  explicit RelaxedExploration(const Task& task) : relaxed_(task), goal_operator_(relaxed_.operators()) {
    std::vector<std::vector<int32_t>> counted(relaxed_.facts);
    std::vector<std::vector<Edge>> edges(relaxed_.facts);
    for (int32_t op = 0; op <= goal_operator_; ++op) {
      const auto preconditions = preconditions_of(op);
      if (preconditions.size() > std::numeric_limits<uint16_t>::max())
        throw UnsupportedError("an operator has more than 65535 preconditions; use blind");
      initial_counters_.push_back(static_cast<uint16_t>(preconditions.size()));
      if (preconditions.empty()) always_.push_back(op);
      if (preconditions.size() == 1 && op != goal_operator_)
        for (const int32_t fact : relaxed_.effects[op])
          edges[preconditions[0]].push_back({fact, relaxed_.costs[op], op});
      else
        for (const int32_t fact : preconditions) counted[fact].push_back(op);
    }
    edge_begin_.push_back(0);
    for (std::vector<Edge>& list : edges) {
      std::ranges::stable_sort(list, [](const Edge& a, const Edge& b) {
        return std::pair(a.to, a.cost) < std::pair(b.to, b.cost);
      });
      const auto rest = std::ranges::unique(list, {}, &Edge::to);
      edges_.insert(edges_.end(), list.begin(), rest.begin());
      edge_begin_.push_back(static_cast<int32_t>(edges_.size()));
    }
    counts_down_ = Rows(counted);
    counters_.resize(initial_counters_.size());
    costs_.resize(relaxed_.facts);
    supporters_.resize(relaxed_.facts, -1);
  }

  // The cost of the goal in a state, kUnreached if it cannot be reached.
  Cost run(const Value* values) {
    // 1. Nothing is reached.
    std::ranges::fill(costs_, kUnreached);
    std::memcpy(counters_.data(), initial_counters_.data(), counters_.size() * sizeof(uint16_t));
    queue_.clear();
    goal_cost_ = kUnreached;
    // 2. The facts of the state hold at no cost.
    const int32_t variables = relaxed_.variables();
    for (int32_t v = 0; v < variables; ++v) reach(relaxed_.ids.offset(v) + values[v], 0, -1);
    for (const int32_t op : always_) fire(op, 0);
    // 3. Cheapest fact first.
    Cost cost;
    int32_t fact;
    while (goal_cost_ == kUnreached && queue_.pop(cost, fact)) {
      if (cost > costs_[fact]) continue;
      for (int32_t i = edge_begin_[fact]; i < edge_begin_[fact + 1]; ++i)
        reach(edges_[i].to, std::min(cost + edges_[i].cost, kMaxCost), edges_[i].op);
      for (const int32_t op : counts_down_[fact])
        if (--counters_[op] == 0) fire(op, cost);
    }
    return goal_cost_;
  }

  const RelaxedTask& relaxed() const { return relaxed_; }
  // After run(): the relaxed operator that made a reached fact true, -1 for facts of the state.
  int32_t supporter(int32_t fact) const { return supporters_[fact]; }

 private:
  struct Edge {
    int32_t to;
    Cost cost;
    int32_t op;
  };
  std::span<const int32_t> preconditions_of(int32_t op) const {
    return op == goal_operator_ ? std::span<const int32_t>(relaxed_.goal) : relaxed_.preconditions[op];
  }

  void reach(int32_t fact, Cost cost, int32_t supporter) {
    if (cost >= costs_[fact]) return;
    costs_[fact] = cost;
    supporters_[fact] = supporter;
    queue_.push(cost, fact);
  }

  // All preconditions of `op` have left the queue, the last one at `last_cost`.
  void fire(int32_t op, Cost last_cost) {
    Cost cost = last_cost;
    if constexpr (kCombine == Combine::kSum) {
      const auto preconditions = preconditions_of(op);
      if (preconditions.size() > 1) {
        int64_t sum = 0;
        for (const int32_t fact : preconditions) sum += costs_[fact];
        cost = static_cast<Cost>(std::min<int64_t>(sum, kMaxCost));
      }
    }
    if (op == goal_operator_) [[unlikely]] {
      goal_cost_ = cost;
      return;
    }
    cost = std::min(cost + relaxed_.costs[op], kMaxCost);
    for (const int32_t fact : relaxed_.effects[op]) reach(fact, cost, op);
  }

  RelaxedTask relaxed_;
  int32_t goal_operator_;
  std::vector<int32_t> edge_begin_;  // per fact: operators of which it is the only precondition
  std::vector<Edge> edges_;
  Rows counts_down_;  // per fact: operators with more preconditions, and the goal
  std::vector<int32_t> always_;
  std::vector<uint16_t> initial_counters_;
  std::vector<uint16_t> counters_;
  std::vector<Cost> costs_;
  std::vector<int32_t> supporters_;
  CostQueue queue_;
  Cost goal_cost_ = kUnreached;
};

}  // namespace hstar
