// landmarks: the cost of the landmarks that are still to be reached (Richter, Helmert and Westphal, AAAI
// 2008; Richter and Westphal, JAIR 2010). Path-dependent: which landmarks were reached on the way to a state
// is kept with the state, a bit for each landmark.
//
// A landmark is reached by a step if it is true after the step and all landmarks that are ordered before it
// were reached before the step (one that is derived by axioms: before or by the step). With several paths to
// a state, what all of them have reached counts. A reached landmark that is false is required again if it is
// a goal, or ordered greedy-necessarily before one that is not reached. The value is the sum of the costs of
// landmarks that are not reached or required again, each at least 1: it is 0 at goals alone. A state is a
// dead end if a goal fact is false that nothing makes true, or if the goal cannot be reached without deletes.
// Of a state whose path is not known (evaluated outside a search, or by idastar) those landmarks count as
// reached that are true in it or in the initial state, and those that are ordered before them naturally.
//
// Preferred operators: those that make a landmark true that would be reached by it; if there are any such
// for landmarks of single facts, these alone.
// Difference from the paper: if there are none, no relaxed plan to the nearest landmarks is made; lazy search
// alternates with ff, which has one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/landmark_graph.h"

namespace hstar {

class Landmarks : public SymbolicHeuristic {
 public:
  static const HeuristicInfo info;
  explicit Landmarks(const PlanningSpace& space, CostType type = CostType::kNormal);

  bool path_dependent() const override { return true; }
  void start_paths(const uint32_t* initial) override;
  void follow(const PathStep& step) override;
  Cost value(const Value* values) override;
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;
  Cost evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) override;

 private:
  static constexpr size_t kSegment = 1 << 12;  // states

  void build(std::vector<Value> initial);
  void sort_landmarks();
  void reach_initially();
  uint64_t* reached_of(StateId id) { return segments_[id / kSegment].get() + id % kSegment * words_; }

  // `get` gives the value of a variable.
  template <class Get>
  bool holds(size_t landmark, const Get& get) const;
  bool all_before(size_t landmark, const uint64_t* reached) const;
  bool required_again(size_t landmark, const uint64_t* reached) const;
  // Adds what a state has reached to what was reached before it.
  template <class Get>
  void advance(const uint64_t* before, const Get& get, uint64_t* reached) const;
  Cost cost(const Value* values, const uint64_t* reached) const;
  // What is reached in state i of a batch, or in a state without a path.
  const uint64_t* reached_in(const StateBatch& batch, size_t i, const Value* values);
  bool doomed(const StateBatch& batch, size_t i) const {
    return !graph_->solvable && batch.id(i) != kNoState;
  }
  const uint64_t* reached_anyhow(const Value* values);

  const PlanningSpace& space_;
  const CostType type_;
  const FactIds ids_;
  std::vector<Value> initial_;  // of the graph
  std::unique_ptr<const LandmarkGraph> graph_;
  size_t words_ = 0;             // of a set of landmarks
  LandmarkSets before_;          // per landmark: all that are ordered before it
  LandmarkSets greedy_after_;    // per landmark: those that it is ordered greedy-necessarily before
  std::vector<size_t> derived_;  // landmarks derived by axioms, those that are ordered before others first
  std::vector<size_t> order_;    // all landmarks in such an order
  std::vector<uint64_t> is_derived_, recurring_;       // sets; recurring: may be required again
  std::vector<uint64_t> initially_;                    // reached in the initial state
  std::vector<std::vector<int32_t>> with_fact_;        // per fact: landmarks
  std::vector<std::unique_ptr<uint64_t[]>> segments_;  // per state of the search: what is reached
  std::vector<uint64_t> scratch_;
  std::vector<int32_t> applicable_;
};

}  // namespace hstar
