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
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "heuristics/catalogue.h"
#include "heuristics/landmark_graph.h"
#include "task/atoms.h"

namespace hstar {
namespace {

// Calls function(i) for each member of word number `word`.
template <class Function>
void each_of(size_t word, uint64_t bits, const Function& function) {
  for (; bits; bits &= bits - 1) function(word * 64 + std::countr_zero(bits));
}

class Landmarks : public SymbolicHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "landmarks",
      .description = "cost of the landmarks that are not reached or required again",
      .reference = "Richter and Westphal, JAIR 2010",
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
      .preferred_operators = true,
      .path_dependent = true,
  };
  explicit Landmarks(const PlanningSpace& space, CostType type = CostType::kNormal)
      : SymbolicHeuristic(info), space_(space), type_(type), ids_(space.task()) {
    build(space.initial_state());
  }

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

  Cost value(const Value* values) override { return cost(values, reached_anyhow(values)); }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) {
      const Value* values = batch.values(i);
      h[i] = doomed(batch, i) ? kDeadEnd : cost(values, reached_in(batch, i, values));
    }
  }

  Cost evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) override {
    if (doomed(batch, i)) return kDeadEnd;
    const Value* values = batch.values(i);
    const uint64_t* reached = reached_in(batch, i, values);
    const Cost h = cost(values, reached);
    if (h == kDeadEnd) return h;
    applicable_.clear();
    space_.applicable(values, applicable_);
    // Those for single facts come after `begin`, the others wait.
    const size_t begin = preferred.size();
    std::vector<int32_t> for_sets;
    for (const int32_t op : applicable_) {
      bool single = false, several = false;
      for (const Effect& effect : space_.task().operators[op].effects) {
        const std::vector<int32_t>& candidates = with_fact_[ids_(effect.fact)];
        if (candidates.empty()) continue;
        const bool fires = hstar::holds(effect.conditions, values);
        for (const int32_t landmark : candidates) {
          if (!fires || test_bit(reached, landmark) || !all_before(landmark, reached)) continue;
          (graph_->landmarks[landmark].facts.size() == 1 ? single : several) = true;
        }
      }
      if (single)
        preferred.push_back(op);
      else if (several)
        for_sets.push_back(op);
    }
    if (preferred.size() == begin) preferred.insert(preferred.end(), for_sets.begin(), for_sets.end());
    return h;
  }

 private:
  static constexpr size_t kSegment = 1 << 12;  // states

  void build(std::vector<Value> initial) {
    initial_ = std::move(initial);
    graph_ = std::make_unique<LandmarkGraph>(space_, initial_, type_);
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
        if (graph_->natural.has(i, before) || graph_->reasonable.has(i, before)) before_.add(i, before);
        if (!graph_->greedy.has(i, before)) continue;
        greedy_after_.add(before, i);
        set_bit(recurring_.data(), before);
      }
    }
    scratch_.assign(words_, 0);
    sort_landmarks();
    reach_initially();
  }

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

  uint64_t* reached_of(StateId id) { return segments_[id / kSegment].get() + id % kSegment * words_; }

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
    const size_t n = graph_->landmarks.size();
    for (size_t w = 0; w < words_; ++w) {
      const uint64_t all = w + 1 < words_ || n % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << n % 64) - 1;
      each_of(w, all & ~before[w] & ~is_derived_[w], [&](size_t i) {
        if (holds(i, get) && all_before(i, before)) set_bit(reached, i);
      });
    }
    for (const size_t i : derived_)
      if (!test_bit(reached, i) && holds(i, get) && all_before(i, reached)) set_bit(reached, i);
  }

  const uint64_t* reached_anyhow(const Value* values) {
    std::ranges::fill(scratch_, 0);
    const auto get = [&](int32_t variable) { return values[variable]; };
    for (size_t i = 0; i < graph_->landmarks.size(); ++i) {
      const bool now = holds(i, get);
      if (now || graph_->landmarks[i].initial) set_bit(scratch_.data(), i);
      if (!now) continue;
      for (size_t w = 0; w < words_; ++w) scratch_[w] |= graph_->natural[i][w];
    }
    return scratch_.data();
  }

  // What is reached in state i of a batch, or in a state without a path.
  const uint64_t* reached_in(const StateBatch& batch, size_t i, const Value* values) {
    return batch.id(i) == kNoState ? reached_anyhow(values) : reached_of(batch.id(i));
  }
  bool doomed(const StateBatch& batch, size_t i) const {
    return !graph_->solvable && batch.id(i) != kNoState;
  }

  Cost cost(const Value* values, const uint64_t* reached) const {
    if (hstar::holds(space_.task().goal, values)) return 0;
    bool doomed = false;
    int64_t total = 0;
    const size_t n = graph_->landmarks.size();
    const auto get = [&](int32_t variable) { return values[variable]; };
    for (size_t w = 0; w < words_; ++w) {
      const uint64_t all = w + 1 < words_ || n % 64 == 0 ? ~uint64_t{0} : (uint64_t{1} << n % 64) - 1;
      each_of(w, all & ~reached[w], [&](size_t i) { total += graph_->landmarks[i].cost; });
      each_of(w, reached[w] & recurring_[w], [&](size_t i) {
        if (holds(i, get) || !required_again(i, reached)) return;
        total += graph_->landmarks[i].cost;
        doomed |= graph_->landmarks[i].goal && !graph_->landmarks[i].achievable;
      });
    }
    return doomed ? kDeadEnd : static_cast<Cost>(std::clamp<int64_t>(total, 1, kMaxCost));
  }

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

}  // namespace

const HeuristicEntry landmarks_entry = entry<Landmarks>();

}  // namespace hstar
