// Root-parallel idastar: the tree of a round is cut some moves below the root, and threads take the subtrees
// in their order (tree splitting, as in Rao, Kumar and Ramesh, AAAI 1987, without giving work away later).
//
// Plan and counts are those of the search by one thread: of subtrees behind the first one with a goal nothing
// is counted, though some of them have been searched by then. A limit is of what all threads do, so that it
// may end a search that one thread would finish just within it; of evaluations there may be some thousand
// more for each thread.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/control.h"
#include "base/errors.h"
#include "search/iterative_deepening.h"

namespace hstar {
namespace {

class RootParallel {
 public:
  RootParallel(Deepening& lead, size_t threads, Control& control)
      : lead_(lead), threads_(threads), control_(control) {}

  DeepeningResult run() {
    DeepeningResult result = lead_.run([&](int32_t bound) { return search_round(bound); });
    result.cpu_time_s = cpu_s_;
    return result;
  }

 private:
  static constexpr uint64_t kFew = 100000;  // states so far: the next round is not worth threads
  static constexpr size_t kSubtreesPerThread = 64;
  static constexpr std::chrono::milliseconds kPatience{5};  // between two looks at limits
  static constexpr uint32_t kWorkOfPoll = 500;              // every look reads the clock

  struct Done {
    bool whole = false;  // searched to its end, or to its goal
    Counts counts;
    int32_t next_bound = 0;
    std::vector<int32_t> plan;
  };

  bool search_round(int32_t bound) {
    if (lead_.result().counts.generated < kFew) return lead_.search_round(bound);
    if (cut(bound)) return true;
    Team team;
    search_subtrees(bound, team);
    // Put together. A goal counts if nothing before it was stopped, for there may be another one.
    const size_t goal = team.goal;
    const auto whole = [](const Done& one) { return one.whole; };
    const bool solved = goal != Team::kNoGoal && std::all_of(done_.begin(), done_.begin() + goal + 1, whole);
    Counts counts = solved ? subtrees_[goal].before : lead_.result().counts;
    int32_t next_bound = lead_.next_bound();
    for (size_t i = 0; i < (solved ? goal + 1 : subtrees_.size()); ++i) {
      counts.generated += done_[i].counts.generated;
      counts.expanded += done_[i].counts.expanded;
      next_bound = std::min(next_bound, done_[i].next_bound);
    }
    lead_.set_counts(counts);
    if (solved) {
      std::vector<int32_t> plan = subtrees_[goal].moves;
      plan.insert(plan.end(), done_[goal].plan.begin(), done_[goal].plan.end());
      return lead_.end(Status::kSolved, std::move(plan));
    }
    if (team.stopped) return lead_.end(control_.status());
    lead_.set_next_bound(next_bound);
    return false;
  }

  // Deep enough for some subtrees for each thread, so that a large one is not waited for alone. Trees of
  // later rounds are wider.
  bool cut(int32_t bound) {
    const Counts before = lead_.result().counts;
    for (depth_ = std::max(depth_ - 1, 1);; ++depth_) {
      lead_.set_counts(before);
      if (lead_.cut(bound, depth_, subtrees_)) return true;
      if (subtrees_.size() >= kSubtreesPerThread * threads_ || depth_ >= bound) return false;
    }
  }

  void search_subtrees(int32_t bound, Team& team) {
    const Counts before = lead_.result().counts;
    team.generated = before.generated;
    team.most = control_.limits().evaluations - 1;
    done_.assign(subtrees_.size(), Done{});
    const size_t wanted = std::min<size_t>(threads_, subtrees_.size());
    while (members_.size() < wanted) members_.push_back(lead_.member());
    std::vector<std::future<double>> running;
    try {
      for (size_t i = 0; i < wanted; ++i)
        running.push_back(std::async(std::launch::async, [&, i] {
          const double cpu_before_s = thread_cpu_s();
          try {
            take_subtrees(*members_[i], bound, team);
          } catch (...) {
            team.stopped = true;
            throw;
          }
          return thread_cpu_s() - cpu_before_s;
        }));
      for (const std::future<double>& one : running)
        while (one.wait_for(kPatience) != std::future_status::ready) look(before, team);
      for (std::future<double>& one : running) cpu_s_ += one.get();
    } catch (const std::system_error&) {
      team.stopped = true;  // futures wait for their threads
      throw InputError("cannot start " + std::to_string(threads_) + " threads");
    } catch (...) {
      team.stopped = true;
      throw;
    }
    // Whoever generates the last state that is allowed stops the others, and does not know the word for it.
    if (team.stopped && !ended_) control_.stop(Status::kEvaluationLimit);
  }

  void take_subtrees(Deepening& member, int32_t bound, Team& team) {
    while (true) {
      const size_t i = team.next++;
      if (i >= subtrees_.size() || team.stopped || team.goal < i) return;
      if (subtrees_[i].goal) {
        done_[i].whole = true;
        found(team, i);
        continue;
      }
      const bool whole = member.search_subtree(subtrees_[i], bound, team, i);
      done_[i] = {whole, member.result().counts, member.next_bound(), member.result().plan};
      if (member.result().status == Status::kSolved) found(team, i);
    }
  }

  static void found(Team& team, size_t i) {
    size_t first = team.goal;
    while (i < first && !team.goal.compare_exchange_weak(first, i)) {
    }
  }

  void look(const Counts& before, Team& team) {
    if (ended_) return;  // the first reason is the one to tell
    Counts counts = before;
    counts.generated = team.generated;
    counts.evaluated = counts.generated + 1;
    ended_ = control_.poll(counts, lead_.result().initial_h, kWorkOfPoll);
    if (ended_) team.stopped = true;
  }

  Deepening& lead_;
  const size_t threads_;
  std::vector<std::unique_ptr<Deepening>> members_;
  Control& control_;
  std::vector<Subtree> subtrees_;  // of the round
  std::vector<Done> done_;
  int32_t depth_ = 1;  // of these
  bool ended_ = false;
  double cpu_s_ = 0;
};

}  // namespace

DeepeningResult root_parallel(Deepening& lead, size_t threads, Control& control) {
  return RootParallel(lead, threads, control).run();
}

}  // namespace hstar
