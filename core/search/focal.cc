// focal: a plan that is proven to cost at most `bound` times the optimum (A*_epsilon: Pearl and Kim, IEEE
// PAMI 1982), and better ones until a limit (`anytime`).
//
// An admissible heuristic, the anchor, gives every open node a key that no solution through it can beat; the
// least key is a lower bound on all solutions. FOCAL has the open nodes whose key is at most `bound` times
// that, in the order of the guide, which may be any heuristic. Every `anchor_every`-th expansion is a node
// with the least key, as in searches with several queues (Aine et al., IJRR 2016), so that the lower bound
// rises however bad the guide is. A goal becomes the incumbent when it is generated; nodes whose key is not
// below its cost are given up. The search ends when the incumbent is proven.
//
// Why it is sound: there is always an open node on an optimal path that was reached at least cost, since
// closed nodes are opened again when a cheaper path turns up, and its key is at most the optimum. The choice
// of nodes matters for speed alone.
//
// Difference from the papers: the anchor is asked when a node is about to be expanded or decides the lower
// bound, not when it is generated; until then a node has the key of its parent. So an expensive anchor such
// as lmcut is asked once an expansion, and never for the many states that the guide passes by.
#include "search/focal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/segmented.h"
#include "search/node_table.h"
#include "search/successors.h"
#include "task/state_registry.h"

namespace hstar {

const SearchInfo focal_info = {
    .name = "focal",
    .description = "a plan within a proven bound of the optimum, an admissible anchor beside the guide",
    .reference = "Pearl and Kim, IEEE PAMI 1982",
    .optimal = true,
    .complete = true,
};

namespace {

class Focal {
 public:
  explicit Focal(const SearchContext& context)
      : space_(context.space),
        guide_(*context.heuristics[0]),
        // A guide that is admissible itself needs no other anchor; without any the costs of paths have to do.
        anchor_(context.anchor),
        guide_is_anchor_(!anchor_ && guide_.admissible()),
        scale_(anchor_            ? anchor_->scale()
               : guide_is_anchor_ ? guide_.scale()
                                  : 1),
        options_(context.options),
        control_(context.control),
        on_plan_(context.on_plan),
        registry_(space_.words()),
        open_(options_.ties, options_.seed),
        waiting_(TieBreaking::kFifo, 0),
        focal_(options_.ties, options_.seed + 1),
        successors_(space_),
        batch_(space_),
        asked_(space_) {
    if (context.heuristics.size() > 1)
      throw InputError("focal takes one heuristic; combine several by max or sum");
    if (anchor_ && !anchor_->admissible())
      throw InputError("the anchor must be admissible, and " + anchor_->name() + " is not");
    if (!(options_.bound >= 1)) throw InputError("the bound must be at least 1");
  }

  SearchResult run(const std::vector<Value>& initial) {
    result_.status = guard_memory([&] { return search(initial); });
    result_.registered_states = registry_.size();
    result_.state_bytes = registry_.bytes() + nodes_.bytes() + beliefs_.bytes() + open_.bytes() +
                          waiting_.bytes() + focal_.bytes();
    result_.best_h = best_h_;
    if (result_.status != Status::kUnsolvable && result_.status != Status::kIncomplete)
      result_.lower_bound = static_cast<Cost>(lower_bound());
    return std::move(result_);
  }

 private:
  static constexpr Cost kUnknown = -1;
  static constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();
  static constexpr uint32_t kSlowWork = 50;  // a guess at the microseconds of a symbolic evaluation

  // What the anchor says about a node, in units of 1/scale_.
  struct Belief {
    int64_t key = 0;  // no solution through the node, by the path to it that is known, costs less
    Cost h = kUnknown;
  };

  Counts& counts() { return result_.counts; }

  Status search(const std::vector<Value>& initial) {
    // 1. The initial state.
    std::vector<uint32_t> packed(space_.words());
    space_.packer().pack(initial.data(), packed.data());
    const StateId root = registry_.insert(packed.data(), registry_.hash(packed.data())).first;
    nodes_.push({kNoState, kNoOperator, 0});
    beliefs_.push_back({});
    add_to_batch(root);
    const bool within_limits = evaluate_batch();
    result_.initial_h = nodes_[root].h;
    if (!within_limits) return control_.status();
    if (space_.is_goal(packed.data()) && !found(root)) return control_.status();

    while (true) {
      // 2. The lower bound, and whether the incumbent is proven.
      if (!raise_lower_bound()) return control_.status();
      if (proven()) return Status::kSolved;
      if (open_.empty()) return Status::kUnsolvable;  // an admissible anchor is right about dead ends
      // 3. A node: by the guide or by the anchor.
      StateId id = kNoState;
      const bool by_anchor = options_.anchor_every > 0 && ++turn_ % options_.anchor_every == 0;
      if (!by_anchor && !take_from_focal(id)) return control_.status();
      if (id == kNoState) {
        if (!raise_lower_bound()) return control_.status();
        if (open_.empty() || proven()) continue;
        id = open_.front();
      }
      nodes_[id].set_status(NodeStatus::kClosed);
      ++counts().expanded;
      // 4. Its successors without duplicates, evaluated by the guide.
      if (!expand(id)) return control_.status();
      if (!evaluate_batch()) return control_.status();
      if (control_.poll(counts(), best_h_)) return control_.status();
    }
  }

  // The incumbent, and what is proven about it.

  // Costs are whole numbers: a bound between two of them can be rounded up.
  int64_t lower_bound() const { return std::min((least_key_ + scale_ - 1) / scale_, incumbent_); }

  bool proven() const {
    if (incumbent_ == kInfinity) return false;
    if (options_.anytime) return incumbent_ == lower_bound();
    return meets_bound();
  }
  bool meets_bound() const { return static_cast<double>(incumbent_) <= within_bound(lower_bound()); }
  // A product such as 1.15 * 20 may come out a hair too small.
  double within_bound(int64_t value) const {
    if (std::isinf(options_.bound)) return options_.bound;  // also of 0
    return options_.bound * static_cast<double>(value) * (1 + 1e-12);
  }

  bool given_up(StateId id) const {
    return incumbent_ != kInfinity && beliefs_[id].key >= incumbent_ * scale_;
  }

  // A goal with the least cost so far; false if the observer of plans wants to stop.
  bool found(StateId goal) {
    incumbent_ = nodes_[goal].g;
    result_.plan = nodes_.path(goal);
    if (!on_plan_ || on_plan_({result_.plan, static_cast<Cost>(lower_bound()), control_.elapsed_s()}))
      return true;
    control_.stop(Status::kInterrupted);
    return false;
  }

  // The queues.

  // The node with the least key goes to the front of the open list, its anchor known; false if a limit ran
  // out.
  bool raise_lower_bound() {
    while (!open_.empty()) {
      const StateId id = open_.front();
      const bool stale = nodes_[id].status() != NodeStatus::kOpen || beliefs_[id].key != open_.front_key();
      if (!stale && given_up(id)) break;  // and so are all behind it
      if (!stale && beliefs_[id].h != kUnknown) {
        least_key_ = std::max(least_key_, beliefs_[id].key);
        return true;
      }
      open_.pop();
      if (stale) continue;
      if (!ask_anchor(id)) return false;
      if (nodes_[id].status() == NodeStatus::kOpen) push_open(id);
    }
    least_key_ = incumbent_ == kInfinity ? least_key_ : incumbent_ * scale_;
    return true;
  }

  // The open node of FOCAL that the guide likes best, its anchor known; `best` is left alone if FOCAL is
  // empty. False if a limit ran out.
  bool take_from_focal(StateId& best) {
    const int64_t limit = focal_limit();
    while (!waiting_.empty() && waiting_.front_key() <= limit) push_focal(waiting_.pop());
    while (!focal_.empty()) {
      const StateId id = focal_.pop();
      if (nodes_[id].status() != NodeStatus::kOpen) continue;
      if (beliefs_[id].h == kUnknown) {
        if (!ask_anchor(id)) return false;
        if (nodes_[id].status() != NodeStatus::kOpen) continue;
        push_open(id);
      }
      if (given_up(id)) continue;
      if (beliefs_[id].key <= limit) {
        best = id;
        return true;
      }
      waiting_.push(beliefs_[id].key, 0, id);
    }
    return true;
  }

  // The greatest key in FOCAL. Once the bound is met, an anytime search takes all that can be better.
  int64_t focal_limit() const {
    const double limit = within_bound(least_key_);
    if (limit >= static_cast<double>(kInfinity) || (incumbent_ != kInfinity && meets_bound()))
      return kInfinity;
    return static_cast<int64_t>(limit);
  }

  // What the anchor has not seen comes last: while others have the least key, it need not be asked.
  void push_open(StateId id) {
    const Cost h = beliefs_[id].h;
    open_.push(beliefs_[id].key, h == kUnknown ? kDeadEnd : h, id);
  }
  void push_focal(StateId id) {
    // What only the guide takes for a dead end is left to the anchor.
    if (nodes_[id].h != kDeadEnd) focal_.push(nodes_[id].h, 0, id);
  }
  void push(StateId id) {
    push_open(id);
    push_focal(id);
  }

  // False if a limit ran out.
  bool ask_anchor(StateId id) {
    Belief& belief = beliefs_[id];
    belief.h = 0;
    if (anchor_) {
      asked_.clear();
      asked_.push(registry_[id]);
      anchor_->evaluate(asked_, 0, 1, &belief.h);
      ++counts().anchored;
    }
    if (belief.h == kDeadEnd) {
      nodes_[id].set_status(NodeStatus::kDeadEnd);
      ++counts().dead_ends;
    } else {
      belief.key = std::max(belief.key, int64_t{nodes_[id].g} * scale_ + belief.h);
    }
    return !anchor_ || !control_.poll(counts(), best_h_, kSlowWork);
  }

  // Successors.

  // False if a limit ran out.
  bool expand(StateId parent) {
    successors_.generate(registry_[parent], registry_);
    counts().generated += successors_.size();
    batch_.set_parent(successors_.parent().values());
    for (size_t i = 0; i < successors_.size(); ++i)
      if (!place(parent, successors_.op(i), successors_.state(i), successors_.hash(i))) return false;
    return true;
  }

  bool place(StateId parent, int32_t op, const uint32_t* successor, uint64_t hash) {
    if (const size_t more = registry_.bytes_if_full(); more && !control_.allows(more))
      return !control_.stop(Status::kMemoryLimit);
    const Cost g = nodes_[parent].g + space_.cost(op);
    if (g > kMaxCost) throw UnsupportedError("path costs above 2^29 are not supported");
    const auto [id, is_new] = registry_.insert(successor, hash);
    const int64_t key = beliefs_[parent].key;
    if (is_new) {
      nodes_.push({parent, static_cast<uint32_t>(op), g});
      beliefs_.push_back({key, kUnknown});
    } else {
      Node& node = nodes_[id];
      if (g >= node.g || node.status() == NodeStatus::kDeadEnd) return true;
      node.g = g;
      node.parent = parent;
      node.set_op(static_cast<uint32_t>(op));
      Belief& belief = beliefs_[id];
      belief.key = belief.h == kUnknown ? key : std::max(key, int64_t{g} * scale_ + belief.h);
    }
    if (space_.is_goal(successor)) {
      nodes_[id].set_status(NodeStatus::kClosed);  // a plan goes no further
      return g >= incumbent_ || found(id);
    }
    if (is_new) {
      add_to_batch(id);
      return true;
    }
    Node& node = nodes_[id];
    if (node.status() == NodeStatus::kNew) return true;  // in the batch
    if (node.status() == NodeStatus::kClosed) {
      ++counts().reopened;
      node.set_status(NodeStatus::kOpen);
    }
    push(id);
    return true;
  }

  void add_to_batch(StateId id) {
    batch_.push(registry_[id]);
    batch_ids_.push_back(id);
  }

  // False if a limit ran out.
  bool evaluate_batch() {
    const size_t n = batch_.size();
    counts().evaluated += n;
    h_.resize(n);
    const size_t grain = guide_.grain();
    for (size_t begin = 0; begin < n; begin += grain) {
      guide_.evaluate(batch_, begin, std::min(begin + grain, n), h_.data());
      if (grain < 64 && control_.poll(counts(), best_h_, kSlowWork)) return false;
    }
    for (size_t i = 0; i < n; ++i) {
      const StateId id = batch_ids_[i];
      Node& node = nodes_[id];
      node.h = h_[i];
      if (h_[i] == kDeadEnd && (guide_.safe() || guide_is_anchor_)) {
        node.set_status(NodeStatus::kDeadEnd);
        ++counts().dead_ends;
        continue;
      }
      node.set_status(NodeStatus::kOpen);
      best_h_ = std::min(best_h_, h_[i]);
      if (guide_is_anchor_) {
        Belief& belief = beliefs_[id];
        belief.h = h_[i];
        belief.key = std::max(belief.key, int64_t{node.g} * scale_ + h_[i]);
      }
      push(id);
    }
    batch_.clear();
    batch_ids_.clear();
    return true;
  }

  const PlanningSpace& space_;
  Heuristic& guide_;
  Heuristic* const anchor_;
  const bool guide_is_anchor_;
  const int32_t scale_;
  const SearchOptions options_;
  Control& control_;
  const PlanObserver& on_plan_;
  StateRegistry registry_;
  NodeTable nodes_;
  Segmented<Belief> beliefs_;  // by state
  OpenList<StateId> open_;     // all open nodes by key; where a node has several entries, one has its key
  OpenList<StateId> waiting_;  // open nodes that left FOCAL because of their key
  OpenList<StateId> focal_;    // by the guide
  SearchResult result_;
  int64_t least_key_ = 0;
  int64_t incumbent_ = kInfinity;  // cost of the best plan
  int32_t turn_ = 0;
  Cost best_h_ = kDeadEnd;

  Successors successors_;  // of the state being expanded
  StateBatch batch_;       // those that are new
  std::vector<StateId> batch_ids_;
  StateBatch asked_;  // the state that the anchor is asked about
  std::vector<Cost> h_;
};

}  // namespace

SearchResult run_focal(const SearchContext& context) { return Focal(context).run(context.initial); }

}  // namespace hstar
