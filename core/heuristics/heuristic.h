// The contract between a search and what guides it.
//
// A search hands over a batch of states that are new to it and gets one value for each: an estimate of the
// cost to the goal, or kDeadEnd. Values are in units of 1/scale() of an operator's cost (symbolic
// heuristics: 1). The search need not check that values are at most kMaxCost; a heuristic need not expect
// a state twice in one batch. Heuristics keep scratch memory and serve one search at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/control.h"
#include "base/errors.h"
#include "spaces/search_space.h"
#include "task/state_registry.h"

namespace hstar {

constexpr Cost kDeadEnd = std::numeric_limits<Cost>::max();

// Claims are data: docs and contract tests read them. What is not said is not claimed.
struct Claims {
  std::string name;
  bool admissible = false;
  bool consistent = false;
  bool safe = false;  // kDeadEnd only for states from which no goal can be reached
};
struct HeuristicInfo {
  const char* name;
  const char* description;
  const char* reference;
  bool admissible = false;
  bool consistent = false;
  bool safe = false;
  bool supports_axioms = false;
  bool supports_conditional_effects = false;
  bool preferred_operators = false;
  bool path_dependent = false;  // in a search the value depends on the paths to the state, too
};

// States in search order; packed always, their values unpacked only if a heuristic asks.
class StateBatch {
 public:
  explicit StateBatch(const SearchSpace& space)
      : space_(space), words_(space.words()), width_(space.width()) {}

  void clear() {
    size_ = 0;
    unpacked_ = 0;
    has_parent_ = false;
  }
  // `op`: the step that leads to the state from the parent of the batch, if it has one; `id`: the number of
  // the state in a search that reports its paths.
  void push(const uint32_t* packed, int32_t op = 0, StateId id = kNoState) {
    if (packed_.size() < (size_ + 1) * words_) packed_.resize((size_ + 1) * words_ * 2);
    if (origins_.size() <= size_) origins_.resize(2 * size_ + 1);
    origins_[size_] = {op, id};
    std::copy_n(packed, words_, &packed_[size_++ * words_]);
  }
  // Says that all states of the batch are successors of this one, for heuristics that work with differences.
  void set_parent(const uint32_t* packed) {
    parent_.assign(packed, packed + words_);
    has_parent_ = true;
    parent_unpacked_ = false;
  }
  // The parent, or nullptr; packed, and its values.
  const uint32_t* packed_parent() const { return has_parent_ ? parent_.data() : nullptr; }
  const Value* parent() {
    if (!has_parent_) return nullptr;
    if (!parent_unpacked_) {
      parent_values_.resize(width_);
      space_.unpack(parent_.data(), parent_values_.data());
      parent_unpacked_ = true;
    }
    return parent_values_.data();
  }

  size_t size() const { return size_; }
  const SearchSpace& space() const { return space_; }
  const uint32_t* packed(size_t i) const { return &packed_[i * words_]; }
  int32_t op(size_t i) const { return origins_[i].op; }
  StateId id(size_t i) const { return origins_[i].id; }
  // The values of states i, i+1, ... in consecutive rows of `space().width()`.
  const Value* values(size_t i = 0) {
    unpack();
    return values_.data() + i * width_;
  }

 private:
  struct Origin {
    int32_t op;
    StateId id;
  };
  void unpack() {
    if (values_.size() < size_ * width_) values_.resize(size_ * width_ * 2);
    for (; unpacked_ < size_; ++unpacked_)
      space_.unpack(packed(unpacked_), values_.data() + unpacked_ * width_);
  }

  const SearchSpace& space_;
  const size_t words_, width_;
  size_t size_ = 0;
  size_t unpacked_ = 0;
  std::vector<uint32_t> packed_;
  std::vector<Value> values_;
  std::vector<Origin> origins_;
  bool has_parent_ = false, parent_unpacked_ = false;
  std::vector<uint32_t> parent_;
  std::vector<Value> parent_values_;
};

// A step of a search, with the number and the packed state that it leads to.
struct PathStep {
  StateId parent;
  int32_t op;
  StateId child;
  bool is_new;  // the first step to this state
  const uint32_t* packed;
};

class Heuristic {
 public:
  explicit Heuristic(Claims claims, int32_t scale = 1) : claims_(std::move(claims)), scale_(scale) {}
  virtual ~Heuristic() = default;

  const std::string& name() const { return claims_.name; }
  bool admissible() const { return claims_.admissible; }
  bool consistent() const { return claims_.consistent; }
  bool safe() const { return claims_.safe; }
  int32_t scale() const { return scale_; }

  // Sets h[i] for begin <= i < end.
  virtual void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) = 0;

  // As many states as may be evaluated between two looks at the clock. What may take long for one of them
  // looks at it, too (keep_limits).
  virtual size_t grain() const { return 1; }

  virtual bool has_preferred_operators() const { return false; }
  // Value of state i (the second argument); appends its preferred (helpful) operators, all of them
  // applicable.
  virtual Cost evaluate_preferred(StateBatch&, size_t, std::vector<int32_t>&) {
    throw UnsupportedError("heuristic '" + name() + "' has no preferred operators; use ff");
  }

  // A path-dependent heuristic is told where a search starts (at state 0), and of every step before the state
  // that it leads to is evaluated; states then come with their numbers. Steps to known states count, too.
  virtual bool path_dependent() const { return false; }
  virtual void start_paths(const uint32_t*) {}
  virtual void follow(const PathStep&) {}

 private:
  Claims claims_;
  int32_t scale_;
};

// The heuristics of a search that are to be told of its steps, of which there are none as a rule.
class PathListeners {
 public:
  PathListeners(const std::vector<Heuristic*>& heuristics, const uint32_t* initial) {
    for (Heuristic* heuristic : heuristics)
      if (heuristic->path_dependent()) list_.push_back(heuristic);
    for (Heuristic* heuristic : list_) heuristic->start_paths(initial);
  }
  void follow(const PathStep& step) const {
    for (Heuristic* heuristic : list_) heuristic->follow(step);
  }

 private:
  std::vector<Heuristic*> list_;
};

// A heuristic with entries in the catalogue, evaluated state by state.
class SymbolicHeuristic : public Heuristic {
 public:
  explicit SymbolicHeuristic(const HeuristicInfo& info)
      : Heuristic({info.name, info.admissible, info.consistent, info.safe}), info_(info) {}
  bool has_preferred_operators() const override { return info_.preferred_operators; }

  virtual Cost value(const Value* values) = 0;
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    for (size_t i = begin; i < end; ++i) {
      h[i] = value(batch.values(i));
      keep_limits(1);
    }
  }

 private:
  const HeuristicInfo& info_;
};

}  // namespace hstar
