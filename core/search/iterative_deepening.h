// idastar for native puzzles: iterative-deepening A* (Korf, AIJ 1985) as a template over space and heuristic,
// so that the loop has no virtual call. `idastar.cc` is the same algorithm for planning tasks, where states
// are packed and successors are evaluated in batches.
//
// One state is moved along with apply and undo, and each level has the node of its heuristic. Bounds begin
// with the value of the start; the next one is the least f that the last one cut off. A goal is accepted when
// its own f is within the bound, so a heuristic should be 0 there. `generated` counts every move that is
// looked at, in all rounds, without the root; a move that is pruned does not count.
//
// Differences from the paper: pruning is a choice. Only taking back the last move is what most published
// counts have; an automaton and a table of seen states prune more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/control.h"
#include "base/errors.h"
#include "heuristics/incremental.h"
#include "search/pruning_automaton.h"
#include "search/transposition_table.h"

namespace hstar {

enum class Pruning { kNone, kUndo, kAutomaton };

struct DeepeningOptions {
  Pruning pruning = Pruning::kUndo;
  size_t table_bytes = 0;  // of the table of seen states; 0 for none
  // No round has a greater bound: the search ends as incomplete, and has shown that every plan costs more.
  int32_t greatest_bound = std::numeric_limits<int32_t>::max();
};

struct DeepeningResult {
  Status status = Status::kUnsolvable;
  std::vector<int32_t> plan;  // actions of the space
  Counts counts;
  int32_t initial_h = 0;
  int32_t bound = 0;        // of the last round
  int32_t lower_bound = 0;  // on the cost of all plans, if the heuristic is admissible
  int32_t rounds = 0;
  double search_time_s = 0;  // wall clock
  double cpu_time_s = 0;     // of the searching thread
};

template <Puzzle Space, IncrementalHeuristic<Space> Heuristic>
class IterativeDeepening {
 public:
  using State = typename Space::State;
  using Action = typename Space::Action;

  IterativeDeepening(const Space& space, const Heuristic& heuristic, const DeepeningOptions& options,
                     Control& control)
      : space_(space),
        heuristic_(heuristic),
        prunes_undo_(options.pruning != Pruning::kNone),
        greatest_bound_(options.greatest_bound),
        control_(control) {
    if (options.pruning == Pruning::kAutomaton) {
      if constexpr (requires { PruningAutomaton::of(space); })
        automaton_ = PruningAutomaton::of(space);
      else
        throw UnsupportedError(
            "an automaton needs moves that do not depend on the state; use pruning 'undo'");
    }
    if (options.table_bytes > 0) {
      if (automaton_) throw InputError("an automaton and a table of seen states do not go together");
      table_.emplace(space.words(), options.table_bytes);
      packed_.resize(space.words());
    }
  }

  DeepeningResult run(const State& start) {
    state_ = start;
    levels_.resize(1);
    int32_t bound = result_.initial_h = heuristic_.root(state_, levels_[0].node);
    while (bound != kInfinity) {
      if (bound < 0 || bound > kDeepest)
        throw InputError("the heuristic gives values of " + std::to_string(bound) + " moves; 0.." +
                         std::to_string(kDeepest) + " are allowed");
      result_.lower_bound = bound;
      if (bound > greatest_bound_) {
        result_.status = Status::kIncomplete;
        break;
      }
      levels_.resize(static_cast<size_t>(bound) + 2);  // a move costs 1
      result_.bound = bound;
      ++result_.rounds;
      const bool ended = automaton_ || table_ ? search_below<true>(bound) : search_below<false>(bound);
      if (ended) break;
      bound = next_bound_;
    }
    result_.counts.evaluated = result_.counts.generated + 1;
    return std::move(result_);
  }

 private:
  static constexpr int32_t kInfinity = std::numeric_limits<int32_t>::max();
  static constexpr int32_t kDeepest = 1000000;
  static constexpr uint64_t kNodesPerPoll = 8192;  // tenths of a millisecond; of milliseconds with a network

  struct Level {
    typename Heuristic::Node node;
    const Action* next = nullptr;  // the move to look at next
    const Action* end = nullptr;
    Action back = Space::kNoAction;       // takes back the move that led here
    Action forbidden = Space::kNoAction;  // the same, if that is pruned
    int32_t automaton = 0;
    [[no_unique_address]] typename Space::Buffer buffer;
  };

  // One depth-first search; true if it ends the whole search: solved or stopped. With `kMore` there is an
  // automaton or a table.
  template <bool kMore>
  bool search_below(const int32_t bound) {
    next_bound_ = kInfinity;
    Level* const root = levels_.data();
    Level* here = root;
    int32_t g = 0;
    if (space_.is_goal(state_)) return solved(here);
    if constexpr (kMore) start_round();
    expand(*here);
    while (true) {
      // 1. Back up when all moves have had their turn.
      if (here->next == here->end) {
        if (here == root) return false;
        space_.apply(state_, here->back);
        --here;
        --g;
        continue;
      }
      // 2. Pass over what is pruned.
      const Action action = *here->next++;
      if (action == here->forbidden) continue;
      Level* const child = here + 1;
      if constexpr (kMore)
        if (automaton_ && (child->automaton = automaton_->next(here->automaton, action)) < 0) continue;
      // 3. Cut off what lies above the bound.
      if (result_.counts.generated == poll_at_ && out_of_budget()) return true;
      ++result_.counts.generated;
      const int32_t f = g + 1 + heuristic_.child(here->node, state_, action, child->node);
      if (f > bound) {
        next_bound_ = std::min(next_bound_, f);
        continue;
      }
      // 4. Go down.
      child->back = space_.apply(state_, action);
      if (space_.is_goal(state_)) return solved(child);
      if constexpr (kMore) {
        if (table_ && seen(g + 1)) {
          space_.apply(state_, child->back);
          continue;
        }
      }
      child->forbidden = prunes_undo_ ? child->back : Space::kNoAction;
      expand(*child);
      here = child;
      ++g;
    }
  }

  void expand(Level& level) {
    ++result_.counts.expanded;
    const std::span<const Action> actions = space_.actions(state_, level.buffer);
    level.next = actions.data();
    level.end = actions.data() + actions.size();
  }

  void start_round() {
    if (!table_) return;
    table_->clear();
    seen(0);
  }
  bool seen(int32_t g) {
    space_.pack(state_, packed_.data());
    return table_->seen(packed_.data(), static_cast<uint32_t>(g));
  }

  bool solved(const Level* goal) {
    result_.status = Status::kSolved;
    for (const Level* level = levels_.data(); level != goal; ++level) result_.plan.push_back(level->next[-1]);
    return true;
  }

  // Asks for limits and interrupts, and says when to ask again: in time for an exact count of evaluations.
  bool out_of_budget() {
    Counts& counts = result_.counts;
    counts.evaluated = counts.generated + 1;
    if (control_.poll(counts, result_.initial_h, kWorkOfPoll)) {
      result_.status = control_.status();
      return true;
    }
    poll_at_ = counts.generated + std::min(kNodesPerPoll, control_.limits().evaluations - counts.evaluated);
    return false;
  }
  static constexpr uint32_t kWorkOfPoll = 500;  // microseconds: every call reads the clock

  const Space& space_;
  const Heuristic& heuristic_;
  const bool prunes_undo_;
  const int32_t greatest_bound_;
  Control& control_;
  PruningAutomaton::Shared automaton_;
  std::optional<TranspositionTable> table_;
  std::vector<uint32_t> packed_;
  State state_;
  std::vector<Level> levels_;
  DeepeningResult result_;
  int32_t next_bound_ = kInfinity;
  uint64_t poll_at_ = 0;
};

}  // namespace hstar
