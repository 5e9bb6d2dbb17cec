// Ground atoms of one predicate, each once, and indices over them.
//
// Invariant: rows are never removed and keep their numbers. The first `visible` rows take part in joins; the
// others wait for their turn. An index holds visible rows only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hstar::pddl {

inline uint64_t hash_objects(uint64_t hash, int32_t object) {
  hash = (hash ^ static_cast<uint32_t>(object)) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

class Relation {
 public:
  explicit Relation(int32_t arity) : arity_(arity), slots_(kFirstSlots, 0) {}

  int32_t arity() const { return arity_; }
  int32_t size() const { return size_; }
  std::span<const int32_t> row(int32_t row) const {
    return {rows_.data() + static_cast<size_t>(row) * arity_, static_cast<size_t>(arity_)};
  }

  int32_t find(const int32_t* objects) const {  // -1: not there
    for (size_t slot = hash(objects) & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == 0) return -1;
      if (equal(slots_[slot] - 1, objects)) return slots_[slot] - 1;
    }
  }

  // True if it is new; it then has the number size() - 1. `objects` must not point into the relation.
  bool insert(const int32_t* objects) {
    size_t slot = hash(objects) & (slots_.size() - 1);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
      if (equal(slots_[slot] - 1, objects)) return false;
    slots_[slot] = ++size_;
    rows_.insert(rows_.end(), objects, objects + arity_);
    if (static_cast<size_t>(size_) * 2 > slots_.size()) grow();
    return true;
  }

  int32_t visible = 0;

 private:
  static constexpr size_t kFirstSlots = 8;

  uint64_t hash(const int32_t* objects) const {
    uint64_t result = 0;
    for (int32_t i = 0; i < arity_; ++i) result = hash_objects(result, objects[i]);
    return result >> 7;
  }
  bool equal(int32_t row, const int32_t* objects) const {
    const int32_t* stored = rows_.data() + static_cast<size_t>(row) * arity_;
    for (int32_t i = 0; i < arity_; ++i)
      if (stored[i] != objects[i]) return false;
    return true;
  }
  void grow() {
    std::vector<int32_t> old(slots_.size() * 2, 0);
    slots_.swap(old);
    for (int32_t row = 0; row < size_; ++row) {
      size_t slot = hash(rows_.data() + static_cast<size_t>(row) * arity_) & (slots_.size() - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = row + 1;
    }
  }

  int32_t arity_;
  int32_t size_ = 0;
  std::vector<int32_t> rows_;
  std::vector<int32_t> slots_;  // row + 1, 0: empty; a power of two
};

// Rows by their objects at some positions: a chain of rows for each key.
class Index {
 public:
  explicit Index(std::vector<int32_t> positions) : positions_(std::move(positions)), slots_(8, 0) {}

  const std::vector<int32_t>& positions() const { return positions_; }

  // Rows are added in their order, all of them.
  void add(const Relation& relation) {
    const int32_t row = static_cast<int32_t>(next_.size());
    size_t slot = hash(relation.row(row)) & (slots_.size() - 1);
    while (slots_[slot] != 0 && !equal(relation, slots_[slot] - 1, row))
      slot = (slot + 1) & (slots_.size() - 1);
    next_.push_back(slots_[slot] - 1);
    keys_ += slots_[slot] == 0;
    slots_[slot] = row + 1;
    if (keys_ * 2 > slots_.size()) grow(relation);
  }

  // The last row with this key, -1: none. `key` has an object for each of the positions.
  int32_t first(const Relation& relation, const int32_t* key) const {
    uint64_t result = 0;
    for (size_t i = 0; i < positions_.size(); ++i) result = hash_objects(result, key[i]);
    for (size_t slot = (result >> 7) & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == 0) return -1;
      const std::span<const int32_t> row = relation.row(slots_[slot] - 1);
      bool same = true;
      for (size_t i = 0; i < positions_.size(); ++i) same &= row[positions_[i]] == key[i];
      if (same) return slots_[slot] - 1;
    }
  }
  int32_t next(int32_t row) const { return next_[row]; }

 private:
  uint64_t hash(std::span<const int32_t> row) const {
    uint64_t result = 0;
    for (const int32_t position : positions_) result = hash_objects(result, row[position]);
    return result >> 7;
  }
  bool equal(const Relation& relation, int32_t a, int32_t b) const {
    for (const int32_t position : positions_)
      if (relation.row(a)[position] != relation.row(b)[position]) return false;
    return true;
  }
  void grow(const Relation& relation) {
    std::vector<int32_t> old(slots_.size() * 2, 0);
    slots_.swap(old);
    for (const int32_t entry : old) {
      if (entry == 0) continue;
      size_t slot = hash(relation.row(entry - 1)) & (slots_.size() - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = entry;
    }
  }

  std::vector<int32_t> positions_;
  std::vector<int32_t> slots_;  // last row + 1 of a key, 0: empty
  std::vector<int32_t> next_;   // per row: the one before with the same key, -1: none
  size_t keys_ = 0;
};

}  // namespace hstar::pddl
