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
// The guide orders by h, or with `guide_weight` by g + guide_weight * h. `optimistic` (optimistic search:
// Thayer and Ruml, ICAPS 2008) has all open nodes in FOCAL until there is a plan, and then only raises the
// lower bound. Without the anchor's turns and with an admissible guide this is weighted A*, whose least key
// by `guide_weight` is a lower bound, too.
//
// Why it is sound: there is always an open node on an optimal path that was reached at least cost, since
// closed nodes are opened again when a cheaper path turns up, and its key is at most the optimum. The choice
// of nodes matters for speed alone.
//
// Difference from the papers: unless its values come with those of the guide, the anchor is asked when a node
// is about to be expanded or decides the lower bound, not when it is generated; until then a node has the key
// of its parent. (An anchor that is quick, such as the Manhattan distance, is asked at once.) So an expensive
// anchor such as lmcut is asked once an expansion, and never for the many states that the guide passes by.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "base/segmented.h"
#include "search/open_list.h"
#include "search/search_graph.h"

namespace hstar {
namespace {

class FocalSearch : private GraphSearch {
 public:
  explicit FocalSearch(const SearchContext& context)
      : GraphSearch(context, told(context)),
        guide_(*context.heuristics[0]),
        anchor_(context.anchor),
        guide_is_anchor_(!anchor_ && guide_.admissible()),
        anchor_at_once_(!anchor_ || anchor_->grain() >= kManyStates),
        scale_(anchor_            ? anchor_->scale()
               : guide_is_anchor_ ? guide_.scale()
                                  : 1),
        on_plan_(context.on_plan),
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
    if (!(options_.guide_weight >= 0)) throw InputError("the weight of the guide must not be negative");
    if (!std::isinf(options_.guide_weight)) {
      g_unit_ = kWeightUnit * guide_.scale();
      h_unit_ = std::llround(std::min(options_.guide_weight, 1e6) * kWeightUnit);
    }
  }

  SearchResult run() {
    result_.status = guard_limits(control_, [&] { return search(); });
    graph_.report(result_, beliefs_.bytes() + open_.bytes() + waiting_.bytes() + focal_.bytes());
    result_.best_h = best_h_;
    if (result_.status != Status::kUnsolvable && result_.status != Status::kIncomplete)
      result_.lower_bound = static_cast<Cost>(lower_bound());
    return std::move(result_);
  }

 private:
  // Who is told of paths.
  static Heuristics told(const SearchContext& context) {
    if (!context.anchor) return {context.heuristics[0]};
    return {context.heuristics[0], context.anchor};
  }

  static constexpr Cost kUnknown = -1;
  static constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();

  // What the anchor says about a node, in units of 1/scale_.
  struct Belief {
    int64_t key = 0;  // no solution through the node, by the path to it that is known, costs less
    Cost h = kUnknown;
  };

  Status search() {
    // 1. The initial state.
    const StateId root = graph_.add_root(initial_);
    beliefs_.push_back({});
    batch_.push(initial_, 0, root);
    evaluate_new();
    result_.initial_h = graph_[root].h;
    control_.keep(counts(), best_h_);
    if (space_.is_goal(initial_)) found(root);

    while (true) {
      // 2. The lower bound, and whether the incumbent is proven.
      raise_lower_bound();
      if (proven()) return Status::kSolved;
      if (open_.empty()) return Status::kUnsolvable;  // an admissible anchor is right about dead ends
      // 3. A node: by the guide or by the anchor.
      StateId id = by_anchor() ? kNoState : take_from_focal();
      if (proven()) return Status::kSolved;  // by what FOCAL told
      if (id == kNoState) {
        raise_lower_bound();
        if (open_.empty() || proven()) continue;
        id = open_.front();
      }
      graph_[id].set_status(NodeStatus::kClosed);
      ++counts().expanded;
      // 4. Its successors without duplicates, evaluated.
      expand(id);
      evaluate_new();
      control_.keep(counts(), best_h_);
    }
  }

  bool by_anchor() {
    if (options_.anchor_every <= 0) return false;
    if (options_.optimistic) return incumbent_ != kInfinity;
    return ++turn_ % options_.anchor_every == 0;
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

  // A goal with the least cost so far.
  void found(StateId goal) {
    incumbent_ = graph_[goal].g;
    solved(goal);
    if (!on_plan_ || on_plan_({result_.plan, static_cast<Cost>(lower_bound()), control_.elapsed_s()})) return;
    control_.stop(Status::kInterrupted);
    throw Stopped();
  }

  // The queues.

  // The node with the least key goes to the front of the open list, its anchor known.
  void raise_lower_bound() {
    while (!open_.empty()) {
      const StateId id = open_.front();
      const bool stale = graph_[id].status() != NodeStatus::kOpen || beliefs_[id].key != open_.front_key();
      if (!stale && given_up(id)) break;  // and so are all behind it
      if (!stale && beliefs_[id].h != kUnknown) {
        least_key_ = std::max(least_key_, beliefs_[id].key);
        return;
      }
      open_.pop();
      if (stale) continue;
      ask_anchor(id);
      if (graph_[id].status() == NodeStatus::kOpen) push_open(id);
    }
    least_key_ = incumbent_ == kInfinity ? least_key_ : incumbent_ * scale_;
  }

  // The open node of FOCAL that the guide likes best, its anchor known; kNoState if FOCAL is empty.
  StateId take_from_focal() {
    const int64_t limit = focal_limit();
    while (!waiting_.empty() && waiting_.front_key() <= limit) push_focal(waiting_.pop());
    while (!focal_.empty()) {
      if (limit == kInfinity && guide_is_anchor_) raise_by_guide();
      const StateId id = focal_.pop();
      if (graph_[id].status() != NodeStatus::kOpen) continue;
      if (beliefs_[id].h == kUnknown) {
        ask_anchor(id);
        if (graph_[id].status() != NodeStatus::kOpen) continue;
        push_open(id);
      }
      if (given_up(id)) continue;
      if (beliefs_[id].key <= limit) return id;
      waiting_.push(beliefs_[id].key, 0, id);
    }
    return kNoState;
  }

  // Of an admissible guide whose queue has all open nodes: the key of one on an optimal path, reached at
  // least cost, is at most the optimum times the greater of both weights.
  void raise_by_guide() {
    if (g_unit_ == 0) return;
    const int64_t unit = std::max(kWeightUnit, h_unit_);
    least_key_ = std::max(least_key_, (focal_.front_key() + unit - 1) / unit);
  }

  // The greatest key in FOCAL. Once the bound is met, an anytime search takes all that can be better.
  int64_t focal_limit() const {
    if (options_.optimistic) return kInfinity;
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
    const Node& node = graph_[id];
    if (node.h != kDeadEnd) focal_.push(g_unit_ * node.g + h_unit_ * node.h, node.h, id);
  }
  void push(StateId id) {
    push_open(id);
    const Belief& belief = beliefs_[id];
    if (belief.h != kUnknown && belief.key > focal_limit())
      waiting_.push(belief.key, 0, id);
    else
      push_focal(id);
  }

  void ask_anchor(StateId id) {
    Belief& belief = beliefs_[id];
    asked_.clear();
    asked_.push(graph_.state(id), 0, id);
    anchor_->evaluate(asked_, 0, 1, &belief.h);
    ++counts().anchored;
    if (belief.h == kDeadEnd) {
      graph_[id].set_status(NodeStatus::kDeadEnd);
      ++counts().dead_ends;
    } else {
      belief.key = std::max(belief.key, int64_t{graph_[id].g} * scale_ + belief.h);
    }
    control_.keep(counts(), best_h_, kSlowWork);
  }

  // Successors.

  void expand(StateId parent) {
    successors_.generate(graph_.state(parent), 1, graph_.registry());
    successors_.goals(goals_);
    counts().generated += successors_.size();
    batch_.clear();
    batch_.set_parent(graph_.state(parent));
    for (size_t i = 0; i < successors_.size(); ++i) place(parent, i);
  }

  void place(StateId parent, size_t i) {
    const Cost g = graph_[parent].g + successors_.cost(i);
    const int32_t op = successors_.op(i);
    const auto [id, is_new] = graph_.reach(parent, op, g, successors_.state(i), successors_.hash(i));
    const int64_t key = beliefs_[parent].key;
    if (is_new) {
      beliefs_.push_back({key, kUnknown});
    } else {
      if (!graph_.improve(id, parent, op, g)) return;
      Belief& belief = beliefs_[id];
      belief.key = belief.h == kUnknown ? key : std::max(key, int64_t{g} * scale_ + belief.h);
    }
    if (goals_[i]) {
      graph_[id].set_status(NodeStatus::kClosed);  // a plan goes no further
      if (g < incumbent_) found(id);
      return;
    }
    if (is_new) {
      batch_.push(successors_.state(i), op, id);
      return;
    }
    Node& node = graph_[id];
    if (node.status() == NodeStatus::kNew) return;  // among the new ones
    if (node.status() == NodeStatus::kClosed) {
      ++counts().reopened;
      node.set_status(NodeStatus::kOpen);
    }
    push(id);
  }

  void evaluate_new() {
    const size_t n = batch_.size();
    counts().evaluated += n;
    evaluate(guide_, batch_, control_, guide_values_);
    anchor_values_.assign(n, 0);
    if (anchor_ && anchor_at_once_ && n > 0) anchor_->evaluate(batch_, 0, n, anchor_values_.data());
    const std::vector<Cost>& anchored = guide_is_anchor_ ? guide_values_ : anchor_values_;
    for (size_t i = 0; i < n; ++i) open(batch_.id(i), guide_values_[i], anchored[i]);
  }

  void open(StateId id, Cost guide, Cost anchor) {
    Node& node = graph_[id];
    node.h = guide;
    const bool at_once = anchor_at_once_;
    if ((guide == kDeadEnd && (guide_.safe() || guide_is_anchor_)) || (at_once && anchor == kDeadEnd)) {
      node.set_status(NodeStatus::kDeadEnd);
      ++counts().dead_ends;
      return;
    }
    node.set_status(NodeStatus::kOpen);
    best_h_ = std::min(best_h_, guide);
    if (at_once) {
      Belief& belief = beliefs_[id];
      belief.h = anchor;
      belief.key = std::max(belief.key, int64_t{node.g} * scale_ + anchor);
    }
    push(id);
  }

  Heuristic& guide_;
  Heuristic* const anchor_;
  const bool guide_is_anchor_;  // a guide that is admissible itself needs no other anchor
  const bool anchor_at_once_;   // the anchor is quick, or the guide: it is asked about every new state
  const int32_t scale_;         // of the anchor; without any the costs of paths have to do
  const PlanObserver& on_plan_;
  Segmented<Belief> beliefs_;  // by state
  OpenList<StateId> open_;     // all open nodes by key; where a node has several entries, one has its key
  OpenList<StateId> waiting_;  // open nodes that are not in FOCAL because of their key
  OpenList<StateId> focal_;    // by the guide
  int64_t g_unit_ = 0, h_unit_ = 1;  // its key: g_unit_ * g + h_unit_ * h
  int64_t least_key_ = 0;
  int64_t incumbent_ = kInfinity;  // cost of the best plan
  int32_t turn_ = 0;
  Cost best_h_ = kDeadEnd;

  Successors successors_;  // of the node being expanded
  std::vector<char> goals_;
  StateBatch batch_;  // those that are new
  std::vector<Cost> guide_values_, anchor_values_;
  StateBatch asked_;  // the state that the anchor is asked about
};

}  // namespace

const SearchEntry focal_search = {
    .name = "focal",
    .description = "a plan within a proven bound of the optimum, an admissible anchor beside the guide",
    .reference = "Pearl and Kim, IEEE PAMI 1982",
    .optimal = true,
    .complete = true,
    .run = [](const SearchContext& context) { return FocalSearch(context).run(); },
};

}  // namespace hstar
