// A state of a lifted task: the ground atoms that hold, indexed by predicate and by argument, and joins of
// conditions over them by backtracking, the most constrained condition first.
//
// Invariant: changes can be undone in reverse order, and then all lists are in the order of before. So a join
// may go on after its visitor has tried actions and undone them.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/control.h"
#include "base/hash.h"
#include "policy/goal_rules.h"

namespace hstar::policy {

constexpr int32_t kNone = -1;
constexpr int32_t kInfinite = std::numeric_limits<int32_t>::max() / 4;

inline int32_t value(int32_t term, const Words& binding) { return term >= 0 ? binding[term] : ~term; }

// The atoms that hold, by predicate and by argument.
class LiftedState {
 public:
  explicit LiftedState(const RuleTask& task) : objects_(task.objects) {
    int32_t lists = 0;
    for (const int32_t arity : task.arities) {
      base_.push_back(lists);
      lists += 1 + arity * task.objects;
    }
    lists_.resize(lists);
    for (const Words& atom : task.init) set(number(atom), true);
  }

  // Atoms get their number when they are first asked for.
  int32_t number(const Words& atom) {
    const auto [at, added] = numbers_.try_emplace(atom, static_cast<int32_t>(atoms_.size()));
    if (added) {
      atoms_.push_back(atom);
      first_.push_back(static_cast<int32_t>(places_.size()));
      places_.resize(places_.size() + atom.size());
      holds_.push_back(0);
      reserved_.push_back(0);
    }
    return at->second;
  }
  int32_t find(const Words& atom) const {
    const auto at = numbers_.find(atom);
    return at == numbers_.end() ? kNone : at->second;
  }

  bool holds(int32_t atom) const { return holds_[atom] != 0; }
  bool holds(const Words& atom) const {
    const int32_t found = find(atom);
    return found != kNone && holds(found);
  }
  const Words& atom(int32_t number) const { return atoms_[number]; }
  const Words& all(int32_t predicate) const { return lists_[base_[predicate]]; }
  const Words& with(int32_t predicate, int32_t place, int32_t object) const {
    return lists_[list(predicate, place, object)];
  }

  void set(int32_t atom, bool holds) { set(atom, holds, false); }
  // Undoes the last change that is not undone yet: lists are in the order of before.
  void flip_back(int32_t atom) { set(atom, !holds(atom), true); }

  // How many goals keep an atom for themselves.
  void reserve(int32_t atom, int32_t change) { reserved_[atom] += change; }
  bool reserved(int32_t atom) const { return reserved_[atom] > 0; }

 private:
  int32_t list(int32_t predicate, int32_t place, int32_t object) const {
    return base_[predicate] + 1 + (place - 1) * objects_ + object;
  }

  void set(int32_t atom, bool holds, bool back) {
    if (this->holds(atom) == holds) return;
    holds_[atom] = holds;
    const Words& words = atoms_[atom];
    for (size_t i = 0; i < words.size(); ++i) {
      Words& members = lists_[i == 0 ? base_[words[0]] : list(words[0], static_cast<int32_t>(i), words[i])];
      int32_t& place = places_[first_[atom] + i];
      if (!holds) {
        const int32_t last = members.back();
        members[place] = last;
        places_[first_[last] + i] = place;
        members.pop_back();
        // `place` stays as it was, for `flip_back`, also if the atom was the last one.
      } else if (back && place < static_cast<int32_t>(members.size())) {
        const int32_t there = members[place];
        places_[first_[there] + i] = static_cast<int32_t>(members.size());
        members.push_back(there);
        members[place] = atom;
      } else {
        place = static_cast<int32_t>(members.size());
        members.push_back(atom);
      }
    }
  }

  int32_t objects_;
  std::unordered_map<Words, int32_t, HashNumbers> numbers_;
  std::vector<Words> atoms_;
  Words first_, places_;  // per atom: where it stands in its lists
  std::vector<uint8_t> holds_;
  Words reserved_;
  Words base_;  // per predicate: its first list
  std::vector<Words> lists_;
};

// All bindings under which conditions hold. `Visit` gets each of them; `Prune` is asked after each extension
// whether it can be given up.
class Join {
 public:
  Join(const LiftedState& state, bool respect_reserved, int32_t most_nodes = kInfinite)
      : state_(state), respect_reserved_(respect_reserved), most_nodes_(most_nodes) {}

  // How many atoms it has looked at.
  int32_t nodes() const { return nodes_; }

  template <class Prune, class Visit>
  void run(const std::vector<Words>& conditions, Words& binding, const Prune& prune, const Visit& visit) {
    conditions_ = &conditions;
    used_.assign(conditions.size(), 0);
    extend(conditions.size(), binding, prune, visit);
  }
  // Only bindings under which one of the conditions is this atom, which holds.
  template <class Prune, class Visit>
  void run_with(int32_t atom, const std::vector<Words>& conditions, Words& binding, const Prune& prune,
                const Visit& visit) {
    conditions_ = &conditions;
    for (size_t i = 0; i < conditions.size(); ++i) {
      if (conditions[i][0] != state_.atom(atom)[0]) continue;
      used_.assign(conditions.size(), 0);
      used_[i] = 1;
      match(atom, i, conditions.size(), binding, prune, visit);
    }
  }

 private:
  template <class Prune, class Visit>
  void extend(size_t left, Words& binding, const Prune& prune, const Visit& visit) {
    if (prune()) return;
    if (left == 0) {
      visit();
      return;
    }
    keep_limits(1);
    size_t best = 0, fewest = std::numeric_limits<size_t>::max();
    const Words* candidates = nullptr;
    for (size_t i = 0; i < conditions_->size(); ++i) {
      if (used_[i]) continue;
      const Words& condition = (*conditions_)[i];
      const Words* list = &state_.all(condition[0]);
      for (size_t k = 1; k < condition.size(); ++k)
        if (const int32_t object = value(condition[k], binding); object != kNone)
          if (const Words& with = state_.with(condition[0], static_cast<int32_t>(k), object);
              with.size() < list->size())
            list = &with;
      if (list->empty()) return;
      if (list->size() < fewest) {
        fewest = list->size();
        best = i;
        candidates = list;
      }
    }
    used_[best] = 1;
    for (size_t at = 0; at < candidates->size() && nodes_ < most_nodes_; ++at)
      match((*candidates)[at], best, left, binding, prune, visit);
    used_[best] = 0;
  }

  // Extends the binding so that a condition is this atom, and goes on from there.
  template <class Prune, class Visit>
  void match(int32_t atom, size_t which, size_t left, Words& binding, const Prune& prune,
             const Visit& visit) {
    if (respect_reserved_ && state_.reserved(atom)) return;
    ++nodes_;
    const Words& condition = (*conditions_)[which];
    const Words& words = state_.atom(atom);
    size_t bound = 1;  // terms that agree
    const size_t trail = trail_.size();
    for (; bound < words.size(); ++bound) {
      const int32_t term = condition[bound], object = value(term, binding);
      if (object == words[bound]) continue;
      if (object != kNone) break;
      binding[term] = words[bound];
      trail_.push_back(term);
    }
    if (bound == words.size()) extend(left - 1, binding, prune, visit);
    for (; trail_.size() > trail; trail_.pop_back()) binding[trail_.back()] = kNone;
  }

  const LiftedState& state_;
  bool respect_reserved_;
  const std::vector<Words>* conditions_ = nullptr;
  std::vector<uint8_t> used_;
  Words trail_;
  int32_t most_nodes_, nodes_ = 0;
};

}  // namespace hstar::policy
