// The eager best-first engine: A*, weighted A* and greedy best-first search are configurations of it.
//
// Every successor is generated into one buffer, its hash is computed and its place in the index is fetched
// ahead; then duplicates are found, and all new states of the expansion are evaluated as one batch.
#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "search/search_graph.h"

namespace hstar {
namespace {

// What does not apply to a search is ignored by it, as documented.
SearchOptions applicable_options(SearchOptions options, const BestFirstConfig& config) {
  if (config.greedy) return options;
  options.preferred = options.goal_at_generation = options.evaluate_duplicates = false;
  return options;
}

class BestFirst : private GraphSearch {
 public:
  BestFirst(const SearchContext& context, const BestFirstConfig& config)
      : GraphSearch(context, context.heuristics),
        config_(config),
        // Preferred operators are of one state.
        batch_limit_(options_.preferred ? 1
                     : options_.batch   ? options_.batch
                                        : space_.batch()),
        open_(heuristics_.size(), options_.preferred, options_.boost, options_.ties, options_.seed),
        successors_(space_),
        current_(space_),
        batch_(space_),
        preferred_(context),
        h_(heuristics_.size()),
        best_(heuristics_.size(), kDeadEnd) {}

  SearchResult run() {
    result_.status = guard_limits(control_, [&] { return search(); });
    graph_.report(result_, open_.bytes());
    result_.best_h = best_[0];
    if (!config_.greedy && heuristics_[0]->admissible()) result_.lower_bound = lower_bound();
    return std::move(result_);
  }

 private:
  // On an optimal path there is always an open node whose key is at most the optimum, or `weight` times it;
  // until a state stays closed to which there is a cheaper way.
  Cost lower_bound() const {
    const int64_t unit = std::max(config_.g_weight, config_.h_weight * heuristics_[0]->scale());
    return static_cast<Cost>((std::min(greatest_key_, proven_key_) + unit - 1) / unit);
  }

  Status search() {
    // 1. The initial state.
    const StateId root = graph_.add_root(initial_);
    add_to_batch(root, 0, false);
    if (options_.goal_at_generation && space_.is_goal(initial_)) goal_ = root;
    evaluate_batch();
    result_.initial_h = h_[0][0];
    control_.keep(counts(), best_[0]);
    if (goal_ != kNoState) return solved(goal_);

    while (!open_.empty()) {
      // 2. The best open node, or several; is one of them a goal?
      if (!take()) continue;
      space_.goals(taken_states(), taken_.size(), taken_goals_.data());
      for (size_t i = 0; i < taken_.size(); ++i)
        if (taken_goals_[i]) return solved(taken_[i]);
      // 3. All successors, 4. without duplicates, 5. evaluated and queued.
      generate();
      place_successors();
      if (goal_ == kNoState) evaluate_batch();
      control_.keep(counts(), best_[0]);
      if (goal_ != kNoState) return solved(goal_);
    }
    return exhausted_status(heuristics_, counts());
  }

  // Closes the best open node; where nodes are expanded together also those behind it, by g + h only while
  // they are as good. False if the first entry is stale: its node was expanded since.
  bool take() {
    taken_.clear();
    int64_t key = 0;
    do {
      const StateId id = open_.pop();
      Node& node = graph_[id];
      if (node.status() != NodeStatus::kOpen) {
        if (taken_.empty()) return false;
        continue;
      }
      node.set_status(NodeStatus::kClosed);
      key = config_.g_weight * node.g + config_.h_weight * node.h;
      greatest_key_ = std::max(greatest_key_, key);
      ++counts().expanded;
      taken_.push_back(id);
    } while (taken_.size() < batch_limit_ && !open_.empty() && (config_.greedy || open_.front_key() == key));
    taken_goals_.resize(taken_.size());
    return true;
  }

  // Packed, one after the other.
  const uint32_t* taken_states() {
    if (taken_.size() == 1) return graph_.state(taken_[0]);
    taken_packed_.clear();
    for (const StateId id : taken_)
      taken_packed_.insert(taken_packed_.end(), graph_.state(id), graph_.state(id) + space_.words());
    return taken_packed_.data();
  }

  void generate() {
    successors_.generate(taken_.size() == 1 ? graph_.state(taken_[0]) : taken_packed_.data(), taken_.size(),
                         graph_.registry());
    counts().generated += successors_.size();
    if (taken_.size() == 1) batch_.set_parent(graph_.state(taken_[0]));
    if (!options_.preferred) return;
    preferred_.clear();
    current_.clear();
    current_.push(graph_.state(taken_[0]), 0, taken_[0]);
    for (Heuristic* heuristic : heuristics_)
      if (heuristic->has_preferred_operators()) preferred_.evaluate(*heuristic, current_);
    preferred_.mark();
  }

  void place_successors() {
    size_t i = 0;
    for (size_t k = 0; k < taken_.size() && goal_ == kNoState; ++k)
      place_until(successors_.end(k), taken_[k], i);
  }

  void place_until(size_t end, StateId parent, size_t& i) {
    const Cost parent_g = graph_[parent].g;
    for (; i < end; ++i) {
      const int32_t op = successors_.op(i);
      const bool preferred = preferred_.has(op);
      const Cost g = parent_g + successors_.cost(i);
      const uint32_t* successor = successors_.state(i);
      const auto [id, is_new] = graph_.reach(parent, op, g, successor, successors_.hash(i));
      if (is_new) {
        if (options_.goal_at_generation && space_.is_goal(successor)) {
          // The successors before it count as evaluated, as if they had been looked at one by one.
          counts().evaluated += batch_.size();
          goal_ = id;
          return;
        }
        add_to_batch(id, op, preferred);
      } else {
        counts().evaluated += options_.evaluate_duplicates;
        if (graph_.improve(id, parent, op, g)) queue_again(id, preferred);
      }
    }
  }

  // A state to which there is a cheaper way.
  void queue_again(StateId id, bool preferred) {
    Node& node = graph_[id];
    if (node.status() == NodeStatus::kNew) return;  // in the batch: will be queued with this g
    if (node.status() == NodeStatus::kClosed) {
      if (!config_.reopen) {
        proven_key_ = std::min(proven_key_, greatest_key_);
        return;
      }
      ++counts().reopened;
      node.set_status(NodeStatus::kOpen);
    }
    if (!config_.greedy) push(0, node.h, node.g, id, preferred);
  }

  void push(size_t heuristic, Cost h, Cost g, StateId id, bool preferred) {
    open_.push(heuristic, config_.g_weight * g + config_.h_weight * h, config_.ties_by_h ? h : 0, preferred,
               id);
  }

  void add_to_batch(StateId id, int32_t op, bool preferred) {
    batch_.push(graph_.state(id), op, id);
    batch_preferred_.push_back(preferred);
  }

  void evaluate_batch() {
    const size_t n = batch_.size();
    counts().evaluated += n;
    for (size_t k = 0; k < heuristics_.size(); ++k) evaluate(*heuristics_[k], batch_, control_, h_[k]);
    bool progress = false;
    for (size_t i = 0; i < n; ++i) {
      const StateId id = batch_.id(i);
      Node& node = graph_[id];
      if (is_dead_end(i)) {
        node.set_status(NodeStatus::kDeadEnd);
        ++counts().dead_ends;
        continue;
      }
      node.set_status(NodeStatus::kOpen);
      node.h = h_[0][i];
      for (size_t k = 0; k < heuristics_.size(); ++k) {
        if (h_[k][i] == kDeadEnd) continue;
        push(k, h_[k][i], node.g, id, batch_preferred_[i]);
        if (h_[k][i] < best_[k]) {
          best_[k] = h_[k][i];
          progress = true;
        }
      }
    }
    if (progress) open_.reward_progress();
    batch_.clear();
    batch_preferred_.clear();
  }

  // A safe heuristic says so, or all heuristics do.
  bool is_dead_end(size_t i) const {
    bool all = true;
    for (size_t k = 0; k < heuristics_.size(); ++k) {
      const bool dead = h_[k][i] == kDeadEnd;
      if (dead && heuristics_[k]->safe()) return true;
      all &= dead;
    }
    return all;
  }

  const BestFirstConfig config_;
  const size_t batch_limit_;  // nodes that are expanded together
  AlternationOpenList<StateId> open_;
  StateId goal_ = kNoState;   // found at generation
  int64_t greatest_key_ = 0;  // of the nodes expanded, each the least one of its time
  int64_t proven_key_ = std::numeric_limits<int64_t>::max();  // the same when a state first stayed closed

  std::vector<StateId> taken_;  // the nodes being expanded
  std::vector<uint32_t> taken_packed_;
  std::vector<char> taken_goals_;
  Successors successors_;  // of these
  StateBatch current_;     // the one whose preferred operators are asked for
  StateBatch batch_;       // successors that are new
  std::vector<char> batch_preferred_;
  PreferredOperators preferred_;
  std::vector<std::vector<Cost>> h_;  // per heuristic, per state of the batch
  std::vector<Cost> best_;            // per heuristic
};

}  // namespace

SearchResult best_first(const SearchContext& context, const BestFirstConfig& config) {
  if (!config.greedy && context.heuristics.size() > 1)
    throw InputError("a search by g + h takes one heuristic; combine several by max or sum");
  const SearchOptions options = applicable_options(context.options, config);
  const SearchJob job{context.space, context.initial, context.heuristics, context.anchor, options};
  return BestFirst({job, context.control, context.on_plan}, config).run();
}

}  // namespace hstar
