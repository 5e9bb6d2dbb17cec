// Which landmarks were reached on the way to a state, kept with each state of a search, a bit for each
// landmark; and which reached ones are required again. For heuristics that look at landmarks along paths.
//
// A landmark is reached by a step if it is true after the step and, where orders count, all landmarks that
// are ordered before it were reached before the step (one that is derived by axioms: before or by the step).
// With several paths to a state, what all of them have reached counts. A reached landmark that is false is
// required again if it is a goal, or ordered greedy-necessarily before one that is not reached.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/landmark_graph.h"
#include "task/atoms.h"

namespace hstar {

class LandmarkHeuristic : public SymbolicHeuristic {
 public:
  bool path_dependent() const override { return true; }
  void start_paths(const uint32_t* initial) override {
    std::vector<Value> values(space_.width());
    space_.unpack(initial, values.data());
    if (values != initial_) build(std::move(values));
    segments_.clear();
    segments_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kSegment * words_));
    std::ranges::copy(initially_, reached_of(0));
  }

  void follow(const PathStep& step) override {
    while (step.child / kSegment >= segments_.size())
      segments_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kSegment * words_));
    const auto get = [&](int32_t variable) { return space_.packer().get(step.packed, variable); };
    uint64_t* known = reached_of(step.child);
    if (step.is_new) {
      advance(reached_of(step.parent), get, known);
      return;
    }
    advance(reached_of(step.parent), get, scratch_.data());
    for (size_t w = 0; w < words_; ++w) known[w] &= scratch_[w];
  }

  Cost value(const Value* values) override { return value(values, reached_anyhow(values)); }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) h[i] = value(batch, i);
  }

 protected:
  // `ordered`: orders count, reasonable ones, too. Without them a landmark is reached when it was true, so
  // that values can be admissible, and more disjunctive landmarks are looked for. Whoever derives calls
  // `build`.
  LandmarkHeuristic(const HeuristicInfo& info, const PlanningSpace& space, CostType type, bool ordered)
      : SymbolicHeuristic(info), space_(space), ids_(space.task()), type_(type), ordered_(ordered) {}

  // Finds the landmarks of another initial state.
  virtual void build(std::vector<Value> initial) {
    initial_ = std::move(initial);
    graph_ = std::make_unique<LandmarkGraph>(space_, initial_, type_,
                                             ordered_ ? Backchaining::kQuick : Backchaining::kThorough);
    const size_t n = graph_->landmarks.size();
    words_ = (n + 63) / 64;
    before_ = greedy_after_ = LandmarkSets(n);
    is_derived_.assign(words_, 0);
    recurring_.assign(words_, 0);
    with_fact_.assign(ids_.size(), {});
    for (size_t i = 0; i < n; ++i) {
      const Landmark& landmark = graph_->landmarks[i];
      if (landmark.derived) set_bit(is_derived_.data(), i);
      if (landmark.goal) set_bit(recurring_.data(), i);
      for (const Fact& fact : landmark.facts) with_fact_[ids_(fact)].push_back(static_cast<int32_t>(i));
      for (size_t before = 0; before < n; ++before) {
        if (ordered_ && (graph_->natural.has(i, before) || graph_->reasonable.has(i, before)))
          before_.add(i, before);
        if (!graph_->greedy.has(i, before)) continue;
        greedy_after_.add(before, i);
        set_bit(recurring_.data(), before);
      }
    }
    scratch_.assign(words_, 0);
    sort_landmarks();
    reach_initially();
  }

  // The value of a state where these landmarks are reached; and those that count as reached without a path.
  virtual Cost value(const Value* values, const uint64_t* reached) = 0;
  virtual const uint64_t* reached_anyhow(const Value* values) = 0;

  // Of state i of a batch. A path begins at the initial state, which may say that there is no plan.
  Cost value(StateBatch& batch, size_t i) {
    if (!graph_->solvable && batch.id(i) != kNoState) return kDeadEnd;
    return value(batch.values(i), reached_in(batch, i));
  }
  const uint64_t* reached_in(StateBatch& batch, size_t i) {
    return batch.id(i) == kNoState ? reached_anyhow(batch.values(i)) : reached_of(batch.id(i));
  }
  uint64_t* reached_of(StateId id) { return segments_[id / kSegment].get() + id % kSegment * words_; }

  // Calls function(i, again) for each landmark that is not reached, or required again.
  template <class Function>
  void each_needed(const Value* values, const uint64_t* reached, const Function& function) const {
    const auto get = [&](int32_t variable) { return values[variable]; };
    for (size_t w = 0; w < words_; ++w) {
      each_of(w, all_of(w) & ~reached[w], [&](size_t i) { function(i, false); });
      each_of(w, reached[w] & recurring_[w], [&](size_t i) {
        if (!holds(i, get) && required_again(i, reached)) function(i, true);
      });
    }
  }

  // `get` gives the value of a variable.
  template <class Get>
  bool holds(size_t landmark, const Get& get) const {
    for (const Fact& fact : graph_->landmarks[landmark].facts)
      if (get(fact.variable) == fact.value) return true;
    return false;
  }
  bool all_before(size_t landmark, const uint64_t* reached) const {
    const uint64_t* before = before_[landmark];
    for (size_t w = 0; w < words_; ++w)
      if (before[w] & ~reached[w]) return false;
    return true;
  }
  const PlanningSpace& space_;
  const FactIds ids_;
  std::unique_ptr<const LandmarkGraph> graph_;
  size_t words_ = 0;                             // of a set of landmarks
  std::vector<std::vector<int32_t>> with_fact_;  // per fact: landmarks

 private:
  static constexpr size_t kSegment = 1 << 12;  // states

  void sort_landmarks() {
    const size_t n = graph_->landmarks.size();
    std::vector<size_t> waiting(n, 0);
    order_.clear();
    for (size_t i = 0; i < n; ++i) {
      for (size_t before = 0; before < n; ++before) waiting[i] += before_.has(i, before);
      if (waiting[i] == 0) order_.push_back(i);
    }
    for (size_t next = 0; next < order_.size(); ++next)
      for (size_t i = 0; i < n; ++i)
        if (before_.has(i, order_[next]) && --waiting[i] == 0) order_.push_back(i);
    derived_.clear();
    for (const size_t i : order_)
      if (graph_->landmarks[i].derived) derived_.push_back(i);
  }

  void reach_initially() {
    initially_.assign(words_, 0);
    for (const size_t i : order_)
      if (graph_->landmarks[i].initial && all_before(i, initially_.data())) set_bit(initially_.data(), i);
  }

  // Calls function(i) for each member of word number `word`.
  template <class Function>
  static void each_of(size_t word, uint64_t bits, const Function& function) {
    for (; bits; bits &= bits - 1) function(word * 64 + std::countr_zero(bits));
  }
  // That word of the set of all landmarks.
  uint64_t all_of(size_t word) const {
    const size_t rest = graph_->landmarks.size() - word * 64;
    return rest >= 64 ? ~uint64_t{0} : (uint64_t{1} << rest) - 1;
  }

  bool required_again(size_t landmark, const uint64_t* reached) const {
    if (graph_->landmarks[landmark].goal) return true;
    const uint64_t* after = greedy_after_[landmark];
    for (size_t w = 0; w < words_; ++w)
      if (after[w] & ~reached[w]) return true;
    return false;
  }

  // Adds what a state has reached to what was reached before it.
  template <class Get>
  void advance(const uint64_t* before, const Get& get, uint64_t* reached) const {
    std::copy_n(before, words_, reached);
    for (size_t w = 0; w < words_; ++w)
      each_of(w, all_of(w) & ~before[w] & ~is_derived_[w], [&](size_t i) {
        if (holds(i, get) && all_before(i, before)) set_bit(reached, i);
      });
    for (const size_t i : derived_)
      if (!test_bit(reached, i) && holds(i, get) && all_before(i, reached)) set_bit(reached, i);
  }

  const CostType type_;
  const bool ordered_;
  std::vector<Value> initial_;   // of the graph
  LandmarkSets before_;          // per landmark: all that are ordered before it
  LandmarkSets greedy_after_;    // per landmark: those that it is ordered greedy-necessarily before
  std::vector<size_t> derived_;  // landmarks derived by axioms, those that are ordered before others first
  std::vector<size_t> order_;    // all landmarks in such an order
  std::vector<uint64_t> is_derived_, recurring_;       // sets; recurring: may be required again
  std::vector<uint64_t> initially_;                    // reached in the initial state
  std::vector<std::unique_ptr<uint64_t[]>> segments_;  // per state of the search: what is reached
  std::vector<uint64_t> scratch_;
};

}  // namespace hstar
