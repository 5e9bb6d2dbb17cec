// The atoms of a task as input numbers: facts whose name is a positive atom, in the order of variables and
// values. Negated and "none of those" values are no atoms: there all atoms of the variable are false.
#pragma once

#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

using BitWord = uint64_t;

class Atoms {
 public:
  explicit Atoms(const Task& task);

  int32_t size() const { return static_cast<int32_t>(facts_.size()); }
  size_t words() const { return (facts_.size() + 63) / 64; }
  // The atom of a fact, -1 for none.
  int32_t atom(Fact fact) const { return atom_of_[ids_(fact)]; }
  const std::vector<Fact>& facts() const { return facts_; }
  // The atoms of a variable are `first(v)` up to and without `first(v + 1)`.
  int32_t first(int32_t variable) const { return first_[variable]; }

  // Sets the bits of the atoms that hold; `bits` has words() words.
  void encode(const Value* values, BitWord* bits) const;

 private:
  FactIds ids_;
  std::vector<Fact> facts_;
  std::vector<int32_t> atom_of_;  // per fact
  std::vector<int32_t> first_;    // per variable, and the end
};

inline bool test_bit(const BitWord* bits, int32_t i) { return bits[i >> 6] >> (i & 63) & 1; }
inline void set_bit(BitWord* bits, int32_t i) { bits[i >> 6] |= BitWord{1} << (i & 63); }
inline void clear_bit(BitWord* bits, int32_t i) { bits[i >> 6] &= ~(BitWord{1} << (i & 63)); }

}  // namespace hstar
