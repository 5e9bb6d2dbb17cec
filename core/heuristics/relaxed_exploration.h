// Costs of facts in the delete relaxation: Dijkstra's algorithm over the relaxed operators (the
// "generalized Dijkstra" of Liu, Koenig and Furcy, AAAI 2002). The cost of a set of preconditions is their
// maximum (hmax) or their sum (add). Stops as soon as the cost of the goal is known.
//
// Invariant: a fact's cost is final when it leaves the queue. So an operator needs one word while it waits:
// how many preconditions are still to leave, and for add what the others cost. Both are updated by one
// subtraction, and resetting all operators is one copy. An operator with one precondition does not wait
// at all: it becomes an edge from fact to fact for each of its effects, stored with the fact, of parallel
// edges only the cheapest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
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

  explicit RelaxedExploration(const Task& task, CostType type = CostType::kNormal) : relaxed_(task, type) {
    relaxed_.remove_dominated();
    goal_operator_ = relaxed_.operators();
    std::vector<std::vector<int32_t>> waiting(relaxed_.facts);
    std::vector<std::vector<Edge>> edges(relaxed_.facts);
    for (int32_t op = 0; op < goal_operator_; ++op) {
      const auto preconditions = relaxed_.preconditions[op];
      if (preconditions.size() == 1) {
        for (const int32_t fact : relaxed_.effects[op])
          edges[preconditions[0]].push_back({fact, relaxed_.costs[op], op});
      } else {
        if (preconditions.empty()) always_.push_back(op);
        for (const int32_t fact : preconditions) waiting[fact].push_back(op);
      }
      initial_.push_back(word(preconditions.size(), relaxed_.costs[op]));
    }
    for (const int32_t fact : relaxed_.goal) waiting[fact].push_back(goal_operator_);
    initial_.push_back(word(relaxed_.goal.size(), 0));

    for (std::vector<Edge>& list : edges) {
      std::ranges::stable_sort(list, [](const Edge& a, const Edge& b) {
        return std::pair(a.to, a.cost) < std::pair(b.to, b.cost);
      });
      const auto rest = std::ranges::unique(list, {}, &Edge::to);
      edges_.push_row({list.begin(), rest.begin()});
    }
    waiting_ = Rows(waiting);
    words_.resize(initial_.size());
    costs_.resize(relaxed_.facts);
    supporters_.resize(relaxed_.facts, -1);
  }

  // The cost of the goal in a state, kUnreached if it cannot be reached.
  Cost run(const Value* values) {
    // 1. Nothing is reached.
    std::ranges::fill(costs_, kUnreached);
    std::ranges::copy(initial_, words_.begin());
    queue_.clear();
    if (relaxed_.goal.empty()) return 0;
    // 2. The facts of the state hold at no cost.
    const int32_t variables = relaxed_.variables();
    for (int32_t v = 0; v < variables; ++v) {
      const int32_t fact = relaxed_.ids.offset(v) + values[v];
      if (relaxed_.relevant[fact]) reach(fact, 0, -1);
    }
    for (const int32_t op : always_)
      for (const int32_t fact : relaxed_.effects[op]) reach(fact, relaxed_.costs[op], op);
    // 3. Cheapest fact first.
    Word* words = words_.data();
    Cost cost;
    int32_t fact;
    while (queue_.pop(cost, fact)) {
      if (cost > costs_[fact]) continue;
      for (const Edge& edge : edges_[fact]) reach(edge.to, std::min(cost + edge.cost, kMaxCost), edge.op);
      const Word step = leave_step(cost);
      for (const int32_t op : waiting_[fact]) {
        if (!ready(words[op] -= step)) continue;
        const Cost total = operator_cost(op, words[op], cost);
        if (op == goal_operator_) return total;
        for (const int32_t effect : relaxed_.effects[op]) reach(effect, total, op);
      }
    }
    return kUnreached;
  }

  const RelaxedTask& relaxed() const { return relaxed_; }
  // After run(): the relaxed operator that made a reached fact true, -1 for facts of the state.
  int32_t supporter(int32_t fact) const { return supporters_[fact]; }

 private:
  // add: the number of waiting preconditions in the upper 16 bits, the cost so far in the lower 48, which
  // hold 65535 times kMaxCost. hmax: the number alone, since the last precondition is the most expensive one.
  using Word = std::conditional_t<kCombine == Combine::kSum, uint64_t, uint16_t>;
  static constexpr int kCostBits = 48;

  static Word word(size_t preconditions, Cost cost) {
    if (preconditions > std::numeric_limits<uint16_t>::max())
      throw UnsupportedError("a condition has more than 65535 facts; use blind");
    if constexpr (kCombine == Combine::kSum)
      return static_cast<Word>(preconditions) << kCostBits | static_cast<Word>(cost);
    else
      return static_cast<Word>(preconditions);
  }
  // What is subtracted when a precondition of this cost leaves the queue.
  static Word leave_step(Cost cost) {
    if constexpr (kCombine == Combine::kSum)
      return (Word{1} << kCostBits) - static_cast<Word>(cost);
    else
      return 1;
  }
  static bool ready(Word word) {
    if constexpr (kCombine == Combine::kSum)
      return word >> kCostBits == 0;
    else
      return word == 0;
  }
  Cost operator_cost(int32_t op, Word word, Cost last) const {
    if constexpr (kCombine == Combine::kSum)
      return static_cast<Cost>(std::min<uint64_t>(word, kMaxCost));
    else
      return op == goal_operator_ ? last : std::min(last + relaxed_.costs[op], kMaxCost);
  }

  void reach(int32_t fact, Cost cost, int32_t supporter) {
    if (cost >= costs_[fact]) return;
    costs_[fact] = cost;
    supporters_[fact] = supporter;
    queue_.push(cost, fact);
  }

  struct Edge {
    int32_t to;
    Cost cost;
    int32_t op;
  };

  RelaxedTask relaxed_;
  int32_t goal_operator_;        // artificial, the last one: its preconditions are the goal
  RowsOfType<Edge> edges_;       // per fact: operators of which it is the only precondition
  Rows waiting_;                 // per fact: operators with more preconditions, and the goal
  std::vector<int32_t> always_;  // operators without preconditions
  std::vector<Word> initial_;
  std::vector<Word> words_;  // per operator
  std::vector<Cost> costs_;  // per fact
  std::vector<int32_t> supporters_;
  CostQueue queue_;
};

}  // namespace hstar
