// The atoms of a task as input numbers: facts whose name is a positive atom, in the order of variables and
// values. Negated and "none of those" values are no atoms: there all atoms of the variable are false.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

using BitWord = uint64_t;
inline bool test_bit(const BitWord* bits, size_t i) { return bits[i >> 6] >> (i & 63) & 1; }
inline void set_bit(BitWord* bits, size_t i) { bits[i >> 6] |= BitWord{1} << (i & 63); }
inline void clear_bit(BitWord* bits, size_t i) { bits[i >> 6] &= ~(BitWord{1} << (i & 63)); }

class Atoms {
 public:
  explicit Atoms(const Task& task) : ids_(task) {
    for (int32_t v = 0; v < static_cast<int32_t>(task.variables.size()); ++v) {
      first_.push_back(size());
      for (Value value = 0; value < task.variables[v].domain_size(); ++value) {
        const bool positive = task.variables[v].fact_names[value].starts_with("Atom ");
        atom_of_.push_back(positive ? size() : -1);
        if (positive) facts_.push_back({v, value});
      }
    }
    first_.push_back(size());
  }

  int32_t size() const { return static_cast<int32_t>(facts_.size()); }
  size_t words() const { return (facts_.size() + 63) / 64; }
  // The atom of a fact, -1 for none.
  int32_t atom(Fact fact) const { return atom_of_[ids_(fact)]; }
  const std::vector<Fact>& facts() const { return facts_; }
  // The atoms of a variable are `first(v)` up to and without `first(v + 1)`.
  int32_t first(int32_t variable) const { return first_[variable]; }

  // Sets the bits of the atoms that hold; `bits` has words() words.
  void encode(const Value* values, BitWord* bits) const {
    std::fill_n(bits, words(), BitWord{0});
    for (int32_t v = 0; v + 1 < static_cast<int32_t>(first_.size()); ++v)
      if (const int32_t at = atom({v, values[v]}); at != -1) set_bit(bits, at);
  }

 private:
  FactIds ids_;
  std::vector<Fact> facts_;
  std::vector<int32_t> atom_of_;  // per fact
  std::vector<int32_t> first_;    // per variable, and the end
};

}  // namespace hstar
