// lazy: greedy best-first search with deferred evaluation (Helmert, JAIR 2006; Richter and Helmert, ICAPS
// 2009): successors are queued by the value of their parent, unseen, and evaluated when their turn comes.
// One evaluation an expansion, which pays when many successors are never looked at.
// With `guide_weight` it is weighted A* with deferred evaluation, g + guide_weight * h of the parent, as in
// the later iterations of LAMA (Richter and Westphal, JAIR 2010): states are evaluated and expanded again
// when a cheaper path to them turns up. With `max_cost` paths that cost as much are given up; a weighted
// search that runs out of states has then proven that there is no cheaper plan.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/errors.h"
#include "search/search_graph.h"

namespace hstar {
namespace {

struct Edge {
  StateId parent;
  int32_t op;
};

class Lazy : private GraphSearch {
 public:
  explicit Lazy(const SearchContext& context)
      : GraphSearch(context, context.heuristics),
        open_(heuristics_.size(), options_.preferred, options_.boost, options_.ties, options_.seed),
        current_(space_),
        preferred_(context),
        h_(heuristics_.size()),
        keys_(heuristics_.size()),
        best_(heuristics_.size(), kDeadEnd) {
    if (!(options_.guide_weight >= 0)) throw InputError("the weight of the guide must not be negative");
    weighted_ = !std::isinf(options_.guide_weight);
    if (weighted_) h_unit_ = std::llround(std::min(options_.guide_weight, 1e6) * kWeightUnit);
  }

  SearchResult run() {
    result_.status = guard_limits(control_, [&] { return search(); });
    graph_.report(result_, open_.bytes());
    result_.best_h = best_[0];
    return std::move(result_);
  }

 private:
  Status search() {
    if (options_.max_cost <= 0) return Status::kUnsolvable;
    std::vector<uint32_t> packed(initial_, initial_ + space_.words());
    StateId id = graph_.add_root(initial_);
    while (true) {
      // 1. A state that is new, or reached more cheaply than before: evaluate it, and unless it is a dead end
      // queue its successors.
      if (space_.is_goal(graph_.state(id))) {
        // The heuristic is not asked about goals, but the root's value is reported.
        if (id == 0) evaluate(id);
        return solved(id);
      }
      const bool alive = evaluate(id);
      if (alive)
        expand(id);
      else
        ++counts().dead_ends;
      graph_[id].set_status(alive ? NodeStatus::kClosed : NodeStatus::kDeadEnd);
      control_.keep(counts(), best_[0], kSlowWork);

      // 2. The next edge that leads to such a state.
      for (bool found = false; !found;) {
        if (open_.empty()) return exhausted();
        const Edge edge = open_.pop();
        const Cost cost = space_.apply(graph_.state(edge.parent), edge.op, packed.data(), scratch_);
        const Cost g = graph_[edge.parent].g + cost;
        if (g >= options_.max_cost) {
          given_up_ = true;
          continue;
        }
        const uint64_t hash = graph_.registry().hash(packed.data());
        std::tie(id, found) = graph_.reach(edge.parent, edge.op, g, packed.data(), hash);
        if (!found && weighted_ && graph_.improve(id, edge.parent, edge.op, g)) {
          ++counts().reopened;
          found = true;
        }
      }
    }
  }

  // Without reopening a path may have been given up whose end has a cheaper one.
  Status exhausted() {
    return given_up_ && !weighted_ ? Status::kIncomplete : exhausted_status(heuristics_, counts());
  }

  // Fills h_ and preferred_; false for a dead end.
  bool evaluate(StateId id) {
    current_.clear();
    current_.push(graph_.state(id), 0, id);
    preferred_.clear();
    ++counts().evaluated;
    bool doomed = false, alive = false, progress = false;
    for (size_t k = 0; k < heuristics_.size(); ++k) {
      Heuristic& heuristic = *heuristics_[k];
      h_[k] = preferred_.evaluate(heuristic, current_);
      doomed |= h_[k] == kDeadEnd && heuristic.safe();
      alive |= h_[k] != kDeadEnd;
      progress |= h_[k] < best_[k];
      best_[k] = std::min(best_[k], h_[k]);
    }
    graph_[id].h = h_[0];
    if (id == 0) result_.initial_h = h_[0];
    if (progress) open_.reward_progress();
    return alive && !doomed;
  }

  void expand(StateId id) {
    ++counts().expanded;
    space_.operators_of(graph_.state(id), scratch_);
    const std::vector<int32_t>& operators = scratch_.operators;
    counts().generated += operators.size();
    preferred_.mark();
    for (size_t k = 0; k < heuristics_.size(); ++k)
      keys_[k] = (weighted_ ? kWeightUnit * heuristics_[k]->scale() * graph_[id].g : 0) + h_unit_ * h_[k];
    for (const int32_t op : operators)
      for (size_t k = 0; k < heuristics_.size(); ++k)
        if (h_[k] != kDeadEnd) open_.push(k, keys_[k], 0, preferred_.has(op), {id, op});
  }

  AlternationOpenList<Edge> open_;
  StateBatch current_;
  PreferredOperators preferred_;
  std::vector<Cost> h_;
  std::vector<int64_t> keys_;  // of the successors of a state, per heuristic
  std::vector<Cost> best_;
  bool given_up_ = false;  // some path, because of max_cost
  bool weighted_ = false;  // g counts, too
  int64_t h_unit_ = 1;     // what a unit of h counts, if g does
  Expansion scratch_;
};

}  // namespace

const SearchEntry lazy_search = {
    .name = "lazy",
    .description = "greedy best-first search with deferred evaluation",
    .reference = "Helmert, JAIR 2006",
    .complete = true,
    .run = [](const SearchContext& context) { return Lazy(context).run(); },
};

}  // namespace hstar
