// Landmarks of a task with their orders, for one initial state (Porteous, Sebastia and Hoffmann, ECP 2001;
// Hoffmann, Porteous and Sebastia, JAIR 2004; Zhu and Givan, ICAPS 2003; Richter and Westphal, JAIR 2010).
//
// A landmark is a set of facts of which every plan makes one true at some time; most are single facts, the
// others have two to four. An order A -> B says that A comes before B:
//   natural           A is true before B is true for the first time
//   greedy-necessary  A is true when the step is taken that makes B true for the first time
//   reasonable        whoever makes B true before A has to make it true again; no plan is bound to it
// Invariant: all landmarks, natural and greedy-necessary orders hold in every plan. Together with the
// reasonable ones that are kept the orders have no cycle.
//
// Differences from LAMA:
// 1. Single facts are found by propagating labels (Zhu and Givan), which finds all causal landmarks of the
//    delete relaxation, where LAMA's backchaining and domain transition graphs find some of them. The labels
//    also give the natural orders and the first achievers: operators that do not need the landmark itself.
// 2. Disjunctive landmarks come from backchaining as in LAMA: a fact of one predicate is among the
//    preconditions of every first achiever. A set that shares a fact with another landmark is left out.
// 3. A reasonable order that would close a cycle is left out when its turn comes, instead of being searched
//    for in a finished graph. There are no obedient-reasonable orders, as in LAMA 2011.
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/relaxed_task.h"
#include "task/atoms.h"
#include "task/planning_space.h"

namespace hstar {

// Sets of landmarks, one a row.
class LandmarkSets {
 public:
  LandmarkSets() = default;
  explicit LandmarkSets(size_t n) : words_((n + 63) / 64), bits_(n * words_, 0) {}
  size_t words() const { return words_; }
  const uint64_t* operator[](size_t row) const { return bits_.data() + row * words_; }
  bool has(size_t row, size_t i) const { return test_bit((*this)[row], i); }
  void add(size_t row, size_t i) { set_bit(&bits_[row * words_], i); }

 private:
  size_t words_ = 0;
  std::vector<uint64_t> bits_;
};

constexpr int32_t kAxiom = -1;

struct Landmark {
  std::vector<Fact> facts;  // one of them
  bool goal = false;
  bool initial = false;  // true in the initial state
  bool derived = false;  // by axioms: true at once when their conditions are
  Cost cost = 1;         // the least of an operator that makes it true, at least 1
  // Operators that make it true, kAxiom for axioms; and those that may do so for the first time. Sorted.
  std::vector<int32_t> achievers, first_achievers;
};

// How disjunctive landmarks are found. kThorough finds more, in more time: their first achievers by an
// exploration for each, since labels do not know of several facts of which one would do; and facts that all
// first achievers need are single landmarks, so that they are left out of the sets.
enum class Backchaining { kQuick, kThorough };

struct LandmarkGraph {
  LandmarkGraph(const PlanningSpace& space, const std::vector<Value>& initial,
                CostType type = CostType::kNormal, Backchaining backchaining = Backchaining::kQuick);

  bool solvable = true;  // without deletes; if not, there are no landmarks
  std::vector<Landmark> landmarks;
  // Row B has the landmarks A with an order A -> B; greedy-necessary ones are natural, too.
  LandmarkSets natural, greedy, reasonable;
};

}  // namespace hstar
