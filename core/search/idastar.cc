// idastar: iterative-deepening A* (Korf, AIJ 1985): depth-first searches bounded by f = g + h, each bound the
// least f that the last one cut off. Memory linear in the length of the plan.
//
// Difference from the paper: a state that stands on the current path is not entered again, so that a
// space with cycles of cost 0 does not trap it, and an unsolvable finite task ends.
#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "search/search.h"
#include "task/state_registry.h"

namespace hstar {
namespace {

class IDAStar {
 public:
  explicit IDAStar(const SearchContext& context)
      : space_(context.space),
        heuristic_(*context.heuristics[0]),
        control_(context.control),
        scale_(heuristic_.scale()),
        batch_(space_) {
    if (context.heuristics.size() > 1)
      throw InputError("idastar takes one heuristic; combine several by max or sum");
  }

  SearchResult run(const std::vector<uint32_t>& initial) {
    result_.status = guard_limits(control_, [&] { return search(initial); });
    return std::move(result_);
  }

 private:
  Status search(const std::vector<uint32_t>& initial) {
    Level& root = level(0);
    root.packed = initial;
    root.g = 0;
    batch_.push(root.packed.data());
    evaluate(root);
    const Cost h = result_.initial_h = root.h[0];
    int64_t bound = h == kDeadEnd ? kInfinity : h;
    while (bound != kInfinity) {
      if (heuristic_.admissible()) result_.lower_bound = static_cast<Cost>((bound + scale_ - 1) / scale_);
      if (search_below(bound)) return Status::kSolved;
      bound = next_bound_;
    }
    return exhausted_status({&heuristic_}, result_.counts);
  }

  static constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();

  struct Level {
    std::vector<uint32_t> packed;
    uint64_t hash = 0;
    int64_t g = 0;
    std::vector<int32_t> operators;
    std::vector<Cost> costs;
    std::vector<uint32_t> successors;
    std::vector<Cost> h;
    size_t next = 0;  // the successor to look at next
  };
  // Levels are never moved: deeper ones are added while shallower ones are in use.
  Level& level(size_t depth) {
    while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
    return *levels_[depth];
  }

  // One depth-first search; true if it finds a plan.
  bool search_below(int64_t bound) {
    next_bound_ = kInfinity;
    size_t depth = 0;
    if (enter(depth)) return true;
    while (true) {
      Level& here = level(depth);
      // 1. Back up when all successors have had their turn.
      if (here.next == here.operators.size()) {
        if (depth == 0) return false;
        --depth;
        continue;
      }
      // 2. Cut off what lies above the bound.
      const size_t i = here.next++;
      if (here.h[i] == kDeadEnd) continue;
      const int64_t g = here.g + int64_t{here.costs[i]} * scale_;
      if (const int64_t f = g + here.h[i]; f > bound) {
        next_bound_ = std::min(next_bound_, f);
        continue;
      }
      // 3. Go down.
      Level& child = level(++depth);
      const uint32_t* packed = &here.successors[i * space_.words()];
      child.packed.assign(packed, packed + space_.words());
      child.g = g;
      if (enter(depth)) return true;
    }
  }

  // Prepares a level for its first successor; true if it is a goal.
  bool enter(size_t depth) {
    Level& here = level(depth);
    if (space_.is_goal(here.packed.data())) {
      for (size_t i = 0; i < depth; ++i) result_.plan.push_back(levels_[i]->operators[levels_[i]->next - 1]);
      return true;
    }
    here.hash = hash_words(here.packed.data(), space_.words());
    here.next = 0;
    ++result_.counts.expanded;
    generate(here, depth);
    control_.keep(result_.counts, result_.best_h, kSlowWork);
    return false;
  }

  // The successors that are not on the path, with their values.
  void generate(Level& here, size_t depth) {
    const size_t words = space_.words();
    space_.expand(here.packed.data(), 1, expansion_);
    result_.counts.generated += expansion_.size();
    batch_.clear();
    batch_.set_parent(here.packed.data());
    here.operators.clear();
    here.costs.clear();
    here.successors.resize(expansion_.size() * words);
    for (size_t i = 0; i < expansion_.size(); ++i) {
      const uint32_t* successor = &expansion_.states[i * words];
      if (on_path(successor, depth)) continue;
      std::copy_n(successor, words, &here.successors[here.operators.size() * words]);
      here.operators.push_back(expansion_.operators[i]);
      here.costs.push_back(expansion_.costs[i]);
      batch_.push(successor, expansion_.operators[i]);
    }
    evaluate(here);
  }

  // Values of the batch.
  void evaluate(Level& here) {
    here.h.resize(batch_.size());
    hstar::evaluate(heuristic_, batch_, control_, here.h);
    result_.counts.evaluated += here.h.size();
    for (const Cost h : here.h) {
      result_.counts.dead_ends += h == kDeadEnd;
      result_.best_h = std::min(result_.best_h, h);
    }
  }

  bool on_path(const uint32_t* packed, size_t depth) const {
    const uint64_t hash = hash_words(packed, space_.words());
    for (size_t i = 0; i <= depth; ++i)
      if (levels_[i]->hash == hash && std::equal(packed, packed + space_.words(), levels_[i]->packed.data()))
        return true;
    return false;
  }

  const SearchSpace& space_;
  Heuristic& heuristic_;
  Control& control_;
  const int32_t scale_;
  StateBatch batch_;
  SearchResult result_;
  std::vector<std::unique_ptr<Level>> levels_;
  Expansion expansion_;
  int64_t next_bound_ = kInfinity;
};

}  // namespace

const SearchEntry idastar_search = {
    .name = "idastar",
    .description = "iterative-deepening A*, memory linear in the plan",
    .reference = "Korf, AIJ 1985",
    .optimal = true,
    .complete = true,
    .run = [](const SearchContext& context) { return IDAStar(context).run(context.initial); },
};

}  // namespace hstar
