// Root-parallel idastar: the tree of a round is cut some moves below the root, and threads take the subtrees
// in their order (tree splitting, as in Rao, Kumar and Ramesh, AAAI 1987, without giving work away later).
//
// Plan and counts are those of the search by one thread: of subtrees behind the first one with a goal nothing
// is counted, though some of them have been searched by then. Limits are of what all threads do, and a few
// thousand states more.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/errors.h"
#include "search/iterative_deepening.h"

namespace hstar {

template <Puzzle Space, IncrementalHeuristic<Space> Heuristic>
class RootParallel {
 public:
  using State = typename Space::State;
  using Search = IterativeDeepening<Space, Heuristic>;

  RootParallel(const Space& space, const Heuristic& heuristic, const DeepeningOptions& options,
               Control& control)
      : lead_(space, heuristic, options, control), control_(control) {
    if (options.table_bytes > 0) throw InputError("threads and a table of seen states do not go together");
    for (uint32_t i = 0; i < options.threads; ++i) members_.emplace_back(space, heuristic, options, control);
  }

  DeepeningResult run(const State& start) {
    DeepeningResult result = lead_.run(start, [&](int32_t bound) { return search_round(start, bound); });
    result.cpu_time_s = cpu_s_;
    return result;
  }

 private:
  static constexpr uint64_t kFew = 100000;  // states so far: the next round is not worth threads
  static constexpr size_t kSubtreesPerThread = 64;
  static constexpr std::chrono::milliseconds kPatience{5};  // between two looks at limits
  static constexpr uint32_t kWorkOfPoll = 500;              // every look reads the clock

  struct Done {
    Counts counts;
    int32_t next_bound = 0;
    std::vector<int32_t> plan;
  };

  bool search_round(const State& start, int32_t bound) {
    if (lead_.result().counts.generated < kFew) return lead_.search_round(bound);
    if (cut(start, bound)) return true;
    Team team;
    search_subtrees(start, bound, team);
    // Put together, in the order of the tree.
    const size_t goal = team.goal;
    Counts counts = goal == Team::kNoGoal ? lead_.result().counts : subtrees_[goal].before;
    int32_t next_bound = lead_.next_bound();
    for (size_t i = 0; i < subtrees_.size() && (goal == Team::kNoGoal || i <= goal); ++i) {
      counts.generated += done_[i].counts.generated;
      counts.expanded += done_[i].counts.expanded;
      next_bound = std::min(next_bound, done_[i].next_bound);
    }
    lead_.set_counts(counts);
    if (goal != Team::kNoGoal) {
      std::vector<int32_t> plan = subtrees_[goal].moves;
      plan.insert(plan.end(), done_[goal].plan.begin(), done_[goal].plan.end());
      return lead_.end(Status::kSolved, std::move(plan));
    }
    if (team.stopped) return lead_.end(control_.status());
    lead_.set_next_bound(next_bound);
    return false;
  }

  // Deep enough for some subtrees for each thread, so that a large one is not waited for alone.
  bool cut(const State& start, int32_t bound) {
    const Counts before = lead_.result().counts;
    for (int32_t depth = 1;; ++depth) {
      lead_.set_counts(before);
      if (lead_.cut(start, bound, depth, subtrees_)) return true;
      if (subtrees_.size() >= kSubtreesPerThread * members_.size() || depth == bound) return false;
    }
  }

  void search_subtrees(const State& start, int32_t bound, Team& team) {
    const Counts before = lead_.result().counts;
    team.generated = before.generated;
    team.most = control_.limits().evaluations - 1;
    done_.assign(subtrees_.size(), Done{});
    std::vector<std::future<double>> running;
    try {
      for (Search& member : members_)
        running.push_back(std::async(std::launch::async, [&, this] {
          const double cpu_before_s = thread_cpu_s();
          take_subtrees(member, start, bound, team);
          return thread_cpu_s() - cpu_before_s;
        }));
      for (const std::future<double>& one : running) {
        while (one.wait_for(kPatience) != std::future_status::ready) look(before, team);
      }
      if (team.stopped) look(before, team);
      for (std::future<double>& one : running) cpu_s_ += one.get();
    } catch (...) {
      team.stopped = true;  // futures wait for their threads
      throw;
    }
  }

  void take_subtrees(Search& member, const State& start, int32_t bound, Team& team) {
    while (true) {
      const size_t i = team.next++;
      if (i >= subtrees_.size() || team.stopped || team.goal < i) return;
      const bool solved = subtrees_[i].goal || member.search_subtree(start, subtrees_[i], bound, team, i);
      if (!subtrees_[i].goal) done_[i] = {member.result().counts, member.next_bound(), member.result().plan};
      size_t first = team.goal;
      while (solved && i < first && !team.goal.compare_exchange_weak(first, i)) {
      }
    }
  }

  void look(const Counts& before, Team& team) {
    Counts counts = before;
    counts.generated = team.generated;
    counts.evaluated = counts.generated + 1;
    if (control_.poll(counts, lead_.result().initial_h, kWorkOfPoll)) team.stopped = true;
  }

  Search lead_;
  std::deque<Search> members_;
  Control& control_;
  std::vector<Subtree> subtrees_;  // of the round
  std::vector<Done> done_;
  double cpu_s_ = 0;
};

}  // namespace hstar
