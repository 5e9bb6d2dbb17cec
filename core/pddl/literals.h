// Whether a conjunction of literals over the variables of a schema can hold, and what follows from it.
//
// Classes of terms that must be equal; all others are taken to be able to differ. Then a conjunction can hold
// exactly if no two different objects, no two unequal terms, and no atom and its negation coincide.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "pddl/lifted.h"

namespace hstar::pddl {

class Conditions {
 public:
  // Terms are objects below `objects` and variables below `variables`.
  explicit Conditions(int32_t variables) : parents_(variables) {
    std::iota(parents_.begin(), parents_.end(), 0);
    constant_.resize(variables, -1);
  }

  void add(Literal literal) {
    if (literal.predicate == kEquals) {
      if (literal.negated)
        unequal(literal.terms[0], literal.terms[1]);
      else
        equal(literal.terms[0], literal.terms[1]);
    } else {
      literals_.push_back(std::move(literal));
    }
  }
  void equal(Term a, Term b) {
    const Term x = root(a), y = root(b);
    if (x == y) return;
    if (!is_variable(x) && !is_variable(y)) {
      possible_ = false;
    } else if (!is_variable(x)) {
      constant_[variable_of(y)] = x;
    } else if (!is_variable(y)) {
      constant_[variable_of(x)] = y;
    } else {
      parents_[variable_of(x)] = variable_of(y);
    }
  }
  void unequal(Term a, Term b) { unequal_.emplace_back(a, b); }

  // The representative of a term: an object, or a variable as a term.
  Term root(Term term) const {
    if (!is_variable(term)) return term;
    int32_t v = variable_of(term);
    while (parents_[v] != v) v = parents_[v];
    return constant_[v] >= 0 ? constant_[v] : variable_term(v);
  }
  bool same(Term a, Term b) const { return root(a) == root(b); }
  bool same(const std::vector<Term>& a, const std::vector<Term>& b) const {
    return std::ranges::equal(a, b, [&](Term x, Term y) { return same(x, y); });
  }

  bool possible() const {
    if (!possible_) return false;
    for (const auto& [a, b] : unequal_)
      if (same(a, b)) return false;
    for (const Literal& literal : literals_)
      for (const Literal& other : literals_)
        if (!literal.negated && other.negated && literal.predicate == other.predicate &&
            same(literal.terms, other.terms))
          return false;
    return true;
  }
  bool implies(const Literal& literal) const {
    if (literal.predicate == kEquals && !literal.negated) return same(literal.terms[0], literal.terms[1]);
    if (literal.predicate == kEquals) {
      const Term a = root(literal.terms[0]), b = root(literal.terms[1]);
      if (!is_variable(a) && !is_variable(b)) return a != b;
      return std::ranges::any_of(unequal_, [&](const auto& pair) {
        const Term x = root(pair.first), y = root(pair.second);
        return (x == a && y == b) || (x == b && y == a);
      });
    }
    return std::ranges::any_of(literals_, [&](const Literal& other) {
      return other.predicate == literal.predicate && other.negated == literal.negated &&
             same(other.terms, literal.terms);
    });
  }
  const std::vector<Literal>& literals() const { return literals_; }

 private:
  std::vector<int32_t> parents_;
  std::vector<int32_t> constant_;  // of the representative of a class: its object, -1: none
  std::vector<std::pair<Term, Term>> unequal_;
  std::vector<Literal> literals_;
  bool possible_ = true;
};

}  // namespace hstar::pddl
