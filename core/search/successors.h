// All successors of a few states in one buffer, hashed, and their places in the registry's index fetched
// ahead, so that the look-ups that follow seldom wait for memory.
#pragma once

#include <cstdint>
#include <vector>

#include "spaces/search_space.h"
#include "task/state_registry.h"

namespace hstar {

class Successors {
 public:
  explicit Successors(const SearchSpace& space) : space_(space), words_(space.words()) {}

  void generate(const uint32_t* packed, size_t n, const StateRegistry& registry) {
    space_.expand(packed, n, expansion_);
    hashes_.resize(size());
    for (size_t i = 0; i < size(); ++i) {
      hashes_[i] = registry.hash(state(i));
      registry.prefetch(hashes_[i]);
    }
  }

  size_t size() const { return expansion_.size(); }
  size_t end(size_t parent) const { return expansion_.ends[parent]; }
  int32_t op(size_t i) const { return expansion_.operators[i]; }
  Cost cost(size_t i) const { return expansion_.costs[i]; }
  const uint32_t* state(size_t i) const { return &expansion_.states[i * words_]; }
  uint64_t hash(size_t i) const { return hashes_[i]; }

  // Whether each of them is a goal.
  void goals(std::vector<char>& flags) const {
    flags.resize(size());
    if (size() > 0) space_.goals(state(0), size(), flags.data());
  }

 private:
  const SearchSpace& space_;
  const size_t words_;
  Expansion expansion_;
  std::vector<uint64_t> hashes_;
};

}  // namespace hstar
