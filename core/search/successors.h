// All successors of a state in one buffer, hashed, and their places in the registry's index fetched ahead, so
// that the look-ups that follow seldom wait for memory.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/heuristic.h"
#include "task/planning_space.h"
#include "task/state_registry.h"

namespace hstar {

class Successors {
 public:
  explicit Successors(const PlanningSpace& space) : space_(space), parent_(space) {}

  void generate(const uint32_t* packed, const StateRegistry& registry) {
    parent_.clear();
    parent_.push(packed);
    const Value* values = parent_.values();
    operators_.clear();
    space_.applicable(values, operators_);
    states_.resize(size() * space_.words());
    hashes_.resize(size());
    for (size_t i = 0; i < size(); ++i) {
      uint32_t* successor = &states_[i * space_.words()];
      space_.apply(packed, values, operators_[i], successor);
      hashes_[i] = registry.hash(successor);
      registry.prefetch(hashes_[i]);
    }
  }

  StateBatch& parent() { return parent_; }  // a batch of one
  size_t size() const { return operators_.size(); }
  int32_t op(size_t i) const { return operators_[i]; }
  const uint32_t* state(size_t i) const { return &states_[i * space_.words()]; }
  uint64_t hash(size_t i) const { return hashes_[i]; }

 private:
  const PlanningSpace& space_;
  StateBatch parent_;
  std::vector<int32_t> operators_;
  std::vector<uint32_t> states_;
  std::vector<uint64_t> hashes_;
};

}  // namespace hstar
