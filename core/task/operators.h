// The operators of a task, packed: a grounded task may have tens of millions of them.
//
// An operator takes 24 bytes, 8 for each fact and 4 for each word of its name, which is put together when
// somebody asks for it. `Operator` and `Effect` are views of it, made on the fly.
//
// Layout, in cells of two numbers: {cost, words of the name}, {preconditions, effects}, the words two a cell,
// the preconditions, the effects. If no effect has a condition, each is its fact. Otherwise the number of
// effects is kept as -number - 1, and each is {conditions, 0}, its fact, its conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spaces/search_space.h"

namespace hstar {

struct Fact {
  int32_t variable;
  Value value;
  auto operator<=>(const Fact&) const = default;
};

struct Effect {
  std::span<const Fact> conditions;
  Fact fact;
};

class Effects {
 public:
  class Iterator {
   public:
    using value_type = Effect;
    using difference_type = ptrdiff_t;
    Iterator() = default;
    Iterator(const Fact* cell, bool conditional) : cell_(cell), conditional_(conditional) {}
    Effect operator*() const {
      if (!conditional_) return {{}, *cell_};
      return {{cell_ + 2, static_cast<size_t>(cell_->variable)}, cell_[1]};
    }
    Iterator& operator++() {
      cell_ += conditional_ ? 2 + cell_->variable : 1;
      ++number_;
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, ++Iterator(*this)); }
    bool operator==(const Iterator& other) const { return number_ == other.number_; }

   private:
    friend class Effects;
    const Fact* cell_ = nullptr;
    bool conditional_ = false;
    int32_t number_ = 0;
  };

  Effects() = default;
  Effects(const Fact* cells, int32_t number) : begin_(cells, number < 0) {
    end_.number_ = number < 0 ? -number - 1 : number;
  }
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  size_t size() const { return static_cast<size_t>(end_.number_); }
  bool empty() const { return size() == 0; }
  bool may_have_conditions() const { return begin_.conditional_; }

 private:
  Iterator begin_, end_;
};

class Operators;

struct Operator {
  Cost cost = 1;
  std::span<const Fact> preconditions;  // at most one a variable
  Effects effects;

  std::string name() const;

 private:
  friend class Operators;
  const Operators* all_ = nullptr;
  const Fact* cells_ = nullptr;
};

class Operators {
 public:
  class Iterator {
   public:
    using value_type = Operator;
    using difference_type = ptrdiff_t;
    Iterator() = default;
    Iterator(const Operators* all, size_t number) : all_(all), number_(number) {}
    Operator operator*() const { return (*all_)[number_]; }
    Iterator& operator++() {
      ++number_;
      return *this;
    }
    Iterator operator++(int) { return {all_, number_++}; }
    bool operator==(const Iterator& other) const { return number_ == other.number_; }

   private:
    const Operators* all_ = nullptr;
    size_t number_ = 0;
  };

  Operators() = default;
  Operators(const Operators& other);
  Operators(Operators&&) noexcept = default;
  Operators& operator=(Operators&&) noexcept = default;

  size_t size() const { return cells_.size(); }
  bool empty() const { return cells_.empty(); }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  Operator operator[](size_t i) const {
    Operator op;
    op.all_ = this;
    op.cells_ = cells_[i];
    op.cost = cells_[i][0].variable;
    op.preconditions = preconditions(cells_[i]);
    op.effects = Effects(op.preconditions.data() + op.preconditions.size(), cells_[i][1].value);
    return op;
  }
  std::string name(const Operator& op) const;

  // The number of a word for names.
  int32_t word(std::string_view text);
  // `effects` is a range of things with a fact and a range of conditions.
  template <class EffectRange>
  void add(std::span<const int32_t> words, Cost cost, std::span<const Fact> preconditions,
           const EffectRange& effects);
  void add(std::string_view name, Cost cost, std::span<const Fact> preconditions, const auto& effects) {
    add(words_of(name), cost, preconditions, effects);
  }
  void reserve(size_t number) { cells_.reserve(number); }
  void set_unit_cost() {
    for (Fact* const cells : cells_) cells[0].variable = 1;
  }
  // The preconditions, to be put into another order.
  std::span<Fact> preconditions_of(size_t i) { return preconditions(cells_[i]); }

  enum class Renamed { kFact, kAlways, kNever };
  // `rename` changes a fact and says what it is now. A condition that always holds goes; so do effects and
  // operators that ask for one that never holds, effects of facts that are none, and operators without
  // effects.
  template <class Rename>
  void rename(Rename&& rename);

 private:
  static std::span<Fact> preconditions(Fact* cells) {
    return {cells + 2 + (cells[0].value + 1) / 2, static_cast<size_t>(cells[1].variable)};
  }
  Fact* room(size_t cells);
  std::vector<int32_t> words_of(std::string_view name);

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> numbers_;  // of words
  std::vector<Fact*> cells_;                                                 // per operator
  std::vector<std::unique_ptr<Fact[]>> blocks_;
  Fact* free_ = nullptr;  // the rest of the last block
  size_t left_ = 0;
};

inline std::string Operator::name() const { return all_->name(*this); }

template <class EffectRange>
void Operators::add(std::span<const int32_t> words, Cost cost, std::span<const Fact> preconditions,
                    const EffectRange& effects) {
  size_t number = 0, conditions = 0;
  for (const auto& effect : effects) {
    ++number;
    conditions += effect.conditions.size();
  }
  const size_t of_effects = conditions == 0 ? number : 2 * number + conditions;
  Fact* cell = room(2 + (words.size() + 1) / 2 + preconditions.size() + of_effects);
  cells_.push_back(cell);
  const auto count = static_cast<int32_t>(number);
  *cell++ = {cost, static_cast<int32_t>(words.size())};
  *cell++ = {static_cast<int32_t>(preconditions.size()), conditions == 0 ? count : -count - 1};
  for (size_t i = 0; i < words.size(); i += 2) *cell++ = {words[i], i + 1 < words.size() ? words[i + 1] : 0};
  for (const Fact& fact : preconditions) *cell++ = fact;
  for (const auto& effect : effects) {
    if (conditions > 0) *cell++ = {static_cast<int32_t>(effect.conditions.size()), 0};
    *cell++ = effect.fact;
    for (const Fact& fact : effect.conditions) *cell++ = fact;
  }
}

template <class Rename>
void Operators::rename(Rename&& rename) {
  // Renames `count` facts from `from` on, which may be `to`; -1 if they cannot hold, else how many are left.
  const auto rename_all = [&](const Fact* from, int32_t count, Fact* to) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; ++i) {
      Fact fact = from[i];
      const Renamed now = rename(fact);
      if (now == Renamed::kNever) return -1;
      if (now == Renamed::kFact) to[kept++] = fact;
    }
    return kept;
  };
  size_t operators = 0;
  for (Fact* const cells : cells_) {
    Fact* to = preconditions(cells).data();
    const Fact* from = to + cells[1].variable;
    const int32_t kept = rename_all(to, cells[1].variable, to);
    if (kept < 0) continue;
    to += kept;
    const bool conditional = cells[1].value < 0;
    const int32_t number = conditional ? -cells[1].value - 1 : cells[1].value;
    int32_t effects = 0;
    for (int32_t i = 0; i < number; ++i) {
      const int32_t conditions = conditional ? from->variable : 0;
      Fact fact = from[conditional];
      const Fact* const first = from + 1 + conditional;
      from = first + conditions;
      if (rename(fact) != Renamed::kFact) continue;
      const int32_t left = rename_all(first, conditions, to + 1 + conditional);
      if (left < 0) continue;
      if (conditional) *to++ = {left, 0};
      *to++ = fact;
      to += left;
      ++effects;
    }
    cells[1] = {kept, conditional ? -effects - 1 : effects};
    if (effects > 0) cells_[operators++] = cells;
  }
  cells_.resize(operators);
}

}  // namespace hstar
