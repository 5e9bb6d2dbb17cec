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
// counts have; an automaton and a table of seen states prune more. `root_parallel.h` gives the subtrees of a
// round to several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
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
  uint32_t threads = 1;
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
  double cpu_time_s = 0;     // of the searching threads
};

// The tree of a round below one state: the moves that lead there, and what a search counts before it comes
// to that state, other subtrees left out. `goal`: the state is one, and the search ends there.
struct Subtree {
  std::vector<int32_t> moves;
  Counts before;
  bool goal = false;
};

// What searches share that do the subtrees of a round together, each by its place in the order of the tree.
struct Team {
  static constexpr size_t kNoGoal = std::numeric_limits<size_t>::max();

  std::atomic<size_t> next = 0;         // subtree to begin
  std::atomic<size_t> goal = kNoGoal;   // the first subtree that is known to have one
  std::atomic<uint64_t> generated = 0;  // states by all, as far as they have told
  std::atomic<bool> stopped = false;    // by a limit, or from outside
  uint64_t most = 0;                    // states to generate
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
    return run(start, [this](int32_t bound) { return search_round(bound); });
  }

  // `round` searches below a bound: true if that ends the whole search.
  template <class Round>
  DeepeningResult run(const State& start, const Round& round) {
    set_root(start);
    int32_t bound = result_.initial_h;
    while (bound != kInfinity) {
      if (bound < 0 || bound > kDeepest)
        throw InputError("the heuristic gives values of " + std::to_string(bound) + " moves; 0.." +
                         std::to_string(kDeepest) + " are allowed");
      result_.lower_bound = bound;
      if (bound > greatest_bound_) {
        result_.status = Status::kIncomplete;
        break;
      }
      result_.bound = bound;
      ++result_.rounds;
      next_bound_ = kInfinity;
      if (round(bound)) break;
      bound = next_bound_;
    }
    result_.counts.evaluated = result_.counts.generated + 1;
    return std::move(result_);
  }

  bool search_round(int32_t bound) {
    make_room(bound);
    return automaton_ || table_ ? search_below<true>(bound) : search_below<false>(bound);
  }

  // Gives the subtrees of a round that begin `depth` moves below the root, in the order of the search, up to
  // a goal above them; what is counted is the tree above them. True if a limit ends it.
  bool cut(const State& start, int32_t bound, int32_t depth, std::vector<Subtree>& subtrees) {
    set_root(start);
    make_room(bound);
    next_bound_ = kInfinity;
    cut_depth_ = depth;
    subtrees_ = &subtrees;
    subtrees.clear();
    return search_below<true, true>(bound);
  }

  // Another search of the same kind, for subtrees.
  IterativeDeepening member() const { return IterativeDeepening(*this, Member{}); }

  // Searches one of them for the team: false if it is stopped. The result is of this subtree alone.
  bool search_subtree(const State& start, const Subtree& subtree, int32_t bound, Team& team, size_t place) {
    set_root(start);
    make_room(bound);
    result_ = {};
    next_bound_ = kInfinity;
    team_ = &team;
    place_ = place;
    told_ = poll_at_ = 0;
    Level* here = levels_.data();
    for (const int32_t move : subtree.moves) {
      const Action action = static_cast<Action>(move);
      Level* const child = here + 1;
      if (automaton_) child->automaton = automaton_->next(here->automaton, action);
      heuristic_.child(here->node, state_, action, child->node);
      child->back = space_.apply(state_, action);
      child->forbidden = prunes_undo_ ? child->back : Space::kNoAction;
      here = child;
    }
    const int32_t g = static_cast<int32_t>(subtree.moves.size());
    const bool ended = automaton_ ? search_below<true>(bound, g) : search_below<false>(bound, g);
    team.generated += result_.counts.generated - told_;
    return !ended || result_.status == Status::kSolved;
  }

  // So far. Whoever searches subtrees has to put together what they come to.
  const DeepeningResult& result() const { return result_; }
  int32_t next_bound() const { return next_bound_; }
  void set_counts(const Counts& counts) {
    result_.counts = counts;
    poll_at_ = counts.generated;
  }
  void set_next_bound(int32_t bound) { next_bound_ = bound; }
  bool end(Status status, std::vector<int32_t> plan = {}) {
    result_.status = status;
    result_.plan = std::move(plan);
    return true;
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

  struct Member {};
  IterativeDeepening(const IterativeDeepening& other, Member)
      : space_(other.space_),
        heuristic_(other.heuristic_),
        prunes_undo_(other.prunes_undo_),
        greatest_bound_(other.greatest_bound_),
        control_(other.control_),
        automaton_(other.automaton_) {}

  void set_root(const State& start) {
    state_ = start;
    if (levels_.empty()) levels_.resize(1);
    result_.initial_h = heuristic_.root(state_, levels_[0].node);
  }
  void make_room(int32_t bound) {  // a move costs 1
    if (levels_.size() < static_cast<size_t>(bound) + 2) levels_.resize(static_cast<size_t>(bound) + 2);
  }

  // One depth-first search below the state at depth g; true if it ends the whole search: solved or stopped.
  // With `kMore` there is an automaton or a table, with `kCut` nothing is searched below `cut_depth_`.
  template <bool kMore, bool kCut = false>
  bool search_below(const int32_t bound, int32_t g = 0) {
    Level* const root = levels_.data() + g;
    Level* here = root;
    if (space_.is_goal(state_)) return solved(root, here);
    if constexpr (kMore && !kCut) start_round();
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
      const bool goal = space_.is_goal(state_);
      if constexpr (kCut) {
        if (goal || g + 1 == cut_depth_) {
          add_subtree(child, goal);
          space_.apply(state_, child->back);
          if (goal) return false;
          continue;
        }
      }
      if (goal) return solved(root, child);
      if constexpr (kMore && !kCut) {
        if (table_ && bound - f >= kLeastSlack<Space> && seen(g + 1)) {
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

  bool solved(const Level* root, const Level* goal) {
    result_.status = Status::kSolved;
    for (const Level* level = root; level != goal; ++level) result_.plan.push_back(level->next[-1]);
    return true;
  }

  void add_subtree(const Level* child, bool goal) {
    Subtree& subtree = subtrees_->emplace_back();
    for (const Level* level = levels_.data(); level != child; ++level)
      subtree.moves.push_back(level->next[-1]);
    subtree.before = result_.counts;
    subtree.goal = goal;
  }

  // Asks for limits and interrupts, and says when to ask again: in time for an exact count of evaluations.
  bool out_of_budget() {
    Counts& counts = result_.counts;
    if (team_) {
      team_->generated += counts.generated - told_;
      told_ = counts.generated;
      poll_at_ = counts.generated + kNodesPerPoll;
      if (team_->generated >= team_->most) team_->stopped = true;
      return team_->stopped || team_->goal < place_;
    }
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
  int32_t cut_depth_ = 0;
  std::vector<Subtree>* subtrees_ = nullptr;
  Team* team_ = nullptr;
  size_t place_ = 0;   // of the subtree
  uint64_t told_ = 0;  // generated states that the team knows of
};

}  // namespace hstar
