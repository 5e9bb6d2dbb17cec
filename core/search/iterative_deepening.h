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
// counts have; an automaton and a table of seen states prune more. `root_parallel.cc` gives the subtrees of a
// round to several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
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
  uint32_t threads = 1;
};

struct DeepeningResult : Outcome {
  std::vector<int32_t> plan;  // actions of the space
  int32_t initial_h = 0;
  int32_t bound = 0;        // of the last round
  int32_t lower_bound = 0;  // on the cost of all plans, if the heuristic is admissible
  int32_t rounds = 0;
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

// What does not depend on space and heuristic: compiled once, and seen by threads.
class Deepening {
 public:
  virtual ~Deepening() = default;

  // One bound after another, as many threads as are asked for.
  DeepeningResult run();

  // `round` searches below a bound: true if that ends the whole search.
  DeepeningResult run(const std::function<bool(int32_t)>& round);
  virtual bool search_round(int32_t bound) = 0;

  // Gives the subtrees of a round that begin `depth` moves below the root, in the order of the search, up to
  // a goal above them; what is counted is the tree above them. True if a limit ends it.
  virtual bool cut(int32_t bound, int32_t depth, std::vector<Subtree>& subtrees) = 0;
  // Another search of the same kind, for subtrees.
  virtual std::unique_ptr<Deepening> member() const = 0;
  // Searches one of them for the team: false if it is stopped. The result is of this subtree alone.
  virtual bool search_subtree(const Subtree& subtree, int32_t bound, Team& team, size_t place) = 0;

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

 protected:
  static constexpr int32_t kInfinity = std::numeric_limits<int32_t>::max();

  Deepening(const DeepeningOptions& options, Control& control) : options_(options), control_(control) {}
  virtual void set_root() = 0;  // with its value

  // Asks for limits and interrupts, and says when to ask again: in time for an exact count of evaluations.
  bool out_of_budget();

  const DeepeningOptions options_;
  Control& control_;
  DeepeningResult result_;
  int32_t next_bound_ = kInfinity;
  uint64_t poll_at_ = 0;
  Team* team_ = nullptr;
  size_t place_ = 0;   // of the subtree
  uint64_t told_ = 0;  // generated states that the team knows of
};

// The same by threads.
DeepeningResult root_parallel(Deepening& lead, size_t threads, Control& control);

template <Puzzle Space, IncrementalHeuristic<Space> Heuristic>
class IterativeDeepening final : public Deepening {
 public:
  using State = typename Space::State;
  using Action = typename Space::Action;

  IterativeDeepening(const Space& space, const Heuristic& heuristic, const State& start,
                     const DeepeningOptions& options, Control& control)
      : Deepening(options, control),
        space_(space),
        heuristic_(heuristic),
        start_(start),
        prunes_undo_(options.pruning != Pruning::kNone) {
    if (options.pruning == Pruning::kAutomaton) {
      if constexpr (requires { PruningAutomaton::of(space); })
        automaton_ = PruningAutomaton::of(space);
      else
        throw UnsupportedError(
            "an automaton needs moves that do not depend on the state; use pruning 'undo'");
    }
    if (options.table_bytes > 0) {
      if (automaton_) throw InputError("an automaton and a table of seen states do not go together");
      if (options.threads > 1) throw InputError("threads and a table of seen states do not go together");
      table_ = std::make_shared<TranspositionTable>(space.words(), options.table_bytes);
      packed_.resize(space.words());
    }
  }

  bool search_round(int32_t bound) override {
    make_room(bound);
    return automaton_ || table_ ? search_below<true>(bound) : search_below<false>(bound);
  }

  bool cut(int32_t bound, int32_t depth, std::vector<Subtree>& subtrees) override {
    set_root();
    make_room(bound);
    next_bound_ = kInfinity;
    cut_depth_ = depth;
    subtrees_ = &subtrees;
    subtrees.clear();
    const bool ended = search_below<true>(bound);
    subtrees_ = nullptr;
    return ended;
  }

  std::unique_ptr<Deepening> member() const override { return std::make_unique<IterativeDeepening>(*this); }

  bool search_subtree(const Subtree& subtree, int32_t bound, Team& team, size_t place) override {
    set_root();
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

 private:
  struct Level {
    typename Heuristic::Node node;
    const Action* next = nullptr;  // the move to look at next
    const Action* end = nullptr;
    Action back = Space::kNoAction;       // takes back the move that led here
    Action forbidden = Space::kNoAction;  // the same, if that is pruned
    int32_t automaton = 0;
    [[no_unique_address]] typename Space::Buffer buffer;
  };

  [[gnu::noinline]] void set_root() override {
    state_ = start_;
    if (levels_.empty()) levels_.resize(1);
    result_.initial_h = heuristic_.root(state_, levels_[0].node);
  }
  void make_room(int32_t bound) {  // a move costs 1
    if (levels_.size() < static_cast<size_t>(bound) + 2) levels_.resize(static_cast<size_t>(bound) + 2);
  }

  // One depth-first search below the state at depth g; true if it ends the whole search: solved or stopped.
  // With `kMore` there is an automaton or a table, or nothing is searched below `cut_depth_`.
  template <bool kMore>
  bool search_below(const int32_t bound, int32_t g = 0) {
    Level* const root = levels_.data() + g;
    Level* here = root;
    if (space_.is_goal(state_)) return solved(root, here);
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
      const bool goal = space_.is_goal(state_);
      if constexpr (kMore) {
        if (subtrees_ && (goal || g + 1 == cut_depth_)) {
          add_subtree(child, goal);
          space_.apply(state_, child->back);
          if (goal) return false;
          continue;
        }
      }
      if (goal) return solved(root, child);
      if constexpr (kMore) {
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

  [[gnu::noinline]] bool solved(const Level* root, const Level* goal) {
    result_.status = Status::kSolved;
    for (const Level* level = root; level != goal; ++level) result_.plan.push_back(level->next[-1]);
    return true;
  }

  [[gnu::noinline]] void add_subtree(const Level* child, bool goal) {
    Subtree& subtree = subtrees_->emplace_back();
    for (const Level* level = levels_.data(); level != child; ++level)
      subtree.moves.push_back(level->next[-1]);
    subtree.before = result_.counts;
    subtree.goal = goal;
  }

  const Space& space_;
  const Heuristic& heuristic_;
  const State start_;
  const bool prunes_undo_;
  PruningAutomaton::Shared automaton_;
  std::shared_ptr<TranspositionTable> table_;
  std::vector<uint32_t> packed_;
  State state_;
  std::vector<Level> levels_;
  int32_t cut_depth_ = 0;
  std::vector<Subtree>* subtrees_ = nullptr;  // not null: they are wanted
};

}  // namespace hstar
