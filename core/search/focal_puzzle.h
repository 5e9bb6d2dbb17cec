// focal for native puzzles: what `focal_search.h` asks of a space whose states are packed words here, and
// whose heuristics are parts of templates.
//
// A best-first search jumps between states, and nodes of heuristics are too large to be kept with all of
// them: the node of an expanded state is made anew, those of its successors follow it. All successors get
// their values by one indirect call, so that the engine is compiled once for a space and not for every pair
// of guide and anchor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/incremental.h"
#include "search/focal_search.h"
#include "task/state_registry.h"

namespace hstar {

template <Puzzle Space>
class SuccessorValues {
 public:
  using State = typename Space::State;
  using Action = typename Space::Action;

  virtual ~SuccessorValues() = default;
  virtual Cost of(const State& state) = 0;
  // After those of the moves that are chosen.
  virtual void after(const State& before, const Action* actions, std::span<const uint32_t> chosen,
                     Cost* values) = 0;
};

template <Puzzle Space, IncrementalHeuristic<Space> Heuristic>
class SuccessorValuesBy final : public SuccessorValues<Space> {
 public:
  using State = typename Space::State;
  using Action = typename Space::Action;

  explicit SuccessorValuesBy(const Heuristic& heuristic) : heuristic_(heuristic) {}

  Cost of(const State& state) override { return heuristic_.root(state, parent_); }
  void after(const State& before, const Action* actions, std::span<const uint32_t> chosen,
             Cost* values) override {
    heuristic_.root(before, parent_);
    for (const uint32_t i : chosen) *values++ = heuristic_.child(parent_, before, actions[i], child_);
  }

 private:
  const Heuristic& heuristic_;
  typename Heuristic::Node parent_, child_;
};

template <Puzzle Space>
class PuzzleDomain {
 public:
  using State = typename Space::State;
  using Action = typename Space::Action;

  // Without an anchor the guide is one.
  PuzzleDomain(const Space& space, SuccessorValues<Space>& guide, SuccessorValues<Space>* anchor)
      : space_(space), guide_(guide), anchor_(anchor), goal_(space.words()) {
    space_.pack(space_.goal(), goal_.data());
  }

  size_t words() const { return goal_.size(); }
  int32_t scale() const { return 1; }
  int32_t guide_scale() const { return 1; }
  bool guide_is_anchor() const { return !anchor_; }
  bool anchor_at_once() const { return true; }
  bool trusts_guide() const { return false; }
  bool is_goal(const uint32_t* packed) const { return std::equal(goal_.begin(), goal_.end(), packed); }

  void expand(const uint32_t* packed, const StateRegistry& registry) {
    state_ = space_.unpack(packed);
    actions_ = space_.actions(state_, buffer_);
    if (states_.size() < size() * words()) states_.resize(size() * words());
    if (hashes_.size() < size()) hashes_.resize(size());
    for (size_t i = 0; i < size(); ++i) {
      uint32_t* successor = &states_[i * words()];
      const Action back = space_.apply(state_, actions_[i]);
      space_.pack(state_, successor);
      space_.apply(state_, back);
      hashes_[i] = registry.hash(successor);
      registry.prefetch(hashes_[i]);
    }
  }
  size_t size() const { return actions_.size(); }
  int32_t op(size_t i) const { return actions_[i]; }
  Cost cost(size_t) const { return 1; }
  const uint32_t* state(size_t i) const { return &states_[i * words()]; }
  uint64_t hash(size_t i) const { return hashes_[i]; }

  void evaluate_root(const uint32_t* packed, Cost* guide, Cost* anchor) {
    const State state = space_.unpack(packed);
    *guide = guide_.of(state);
    *anchor = anchor_ ? anchor_->of(state) : *guide;
  }
  template <class Stop>
  bool evaluate(std::span<const uint32_t> chosen, Cost* guide, Cost* anchor, const Stop&) {
    guide_.after(state_, actions_.data(), chosen, guide);
    if (anchor_)
      anchor_->after(state_, actions_.data(), chosen, anchor);
    else
      std::copy_n(guide, chosen.size(), anchor);
    return true;
  }
  Cost ask_anchor(const uint32_t*) { return 0; }  // never called: the anchor comes at once

 private:
  const Space& space_;
  SuccessorValues<Space>& guide_;
  SuccessorValues<Space>* const anchor_;
  std::vector<uint32_t> goal_;
  State state_;  // the one being expanded
  [[no_unique_address]] typename Space::Buffer buffer_;
  std::span<const Action> actions_;
  std::vector<uint32_t> states_;  // its successors
  std::vector<uint64_t> hashes_;
};

}  // namespace hstar
