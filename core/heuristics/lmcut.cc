// lmcut, the landmark-cut heuristic (Helmert and Domshlak, ICAPS 2009): cuts of the justification graph of
// hmax are disjunctive action landmarks; each pays for its cheapest operator and reduces the costs of all
// its operators by that, until the goal costs nothing.
//
// Invariant: the summed cut costs never exceed h+. Admissible, not consistent. No axioms, no conditional
// effects.
//
// Which precondition of an operator supports it matters only where several have the same hmax, and there
// the quality of the cuts depends on it. Choices, the same as in Fast Downward, so that both planners compute
// the same numbers (as long as its queue stays bucket-based, that is, for small costs):
// 1. first the precondition that left the queue last (last in, first out among equal costs);
// 2. while the goal zone is marked, for an operator of cost 0 the first precondition that no operator of
//    cost 0 achieves (the border of the zone) or that is in the zone already (Lauer and Fickert, ICAPS 2020);
// 3. when the supporter becomes cheaper, it stays if no other precondition is more expensive.
#include <algorithm>
#include <bit>
#include <limits>

#include "base/errors.h"
#include "heuristics/catalogue.h"
#include "heuristics/cost_queue.h"
#include "heuristics/relaxed_task.h"

namespace hstar {
namespace {

class LMCut : public SymbolicHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "lmcut",
      .description = "landmark-cut",
      .reference = "Helmert and Domshlak, ICAPS 2009",
      .admissible = true,
      .safe = true,
  };
  explicit LMCut(const PlanningSpace& space)
      : SymbolicHeuristic(info),
        relaxed_(space.task()),
        true_fact_(relaxed_.facts),
        goal_fact_(relaxed_.facts + 1) {
    const int32_t facts = relaxed_.facts + 2;
    std::vector<std::vector<int32_t>> preconditions, precondition_of(facts), effect_of(facts);
    initial_free_achievers_.resize(facts, 0);
    const auto add = [&](std::vector<int32_t> row, const std::vector<int32_t>& effects, Cost cost) {
      if (row.empty()) row.push_back(true_fact_);
      if (row.size() > std::numeric_limits<uint16_t>::max())
        throw UnsupportedError("lmcut: an operator has more than 65535 preconditions; use blind");
      const auto op = static_cast<int32_t>(initial_cost_.size());
      for (const int32_t fact : row) precondition_of[fact].push_back(op);
      for (const int32_t fact : effects) {
        effect_of[fact].push_back(op);
        initial_free_achievers_[fact] += cost == 0;
      }
      effects_.push_row(effects);
      initial_cost_.push_back(cost);
      initial_waiting_.push_back(static_cast<uint16_t>(row.size()));
      preconditions.push_back(std::move(row));
    };
    const auto list = [](std::span<const int32_t> row) {
      return std::vector<int32_t>(row.begin(), row.end());
    };
    for (int32_t op = 0; op < relaxed_.operators(); ++op)
      add(list(relaxed_.preconditions[op]), list(relaxed_.effects[op]), relaxed_.costs[op]);
    add(relaxed_.goal, {goal_fact_}, 0);
    precondition_of_ = Rows(precondition_of);
    effect_of_ = Rows(effect_of);
    first_word_.push_back(0);
    for (const std::vector<int32_t>& row : precondition_of)
      first_word_.push_back(first_word_.back() + static_cast<int32_t>((row.size() + 63) / 64));
    supports_.resize(first_word_.back());
    std::vector<int32_t> next_bit(facts);
    for (int32_t fact = 0; fact < facts; ++fact) next_bit[fact] = 64 * first_word_[fact];
    for (const std::vector<int32_t>& row : preconditions) {
      std::vector<Precondition> bits;
      for (const int32_t fact : row) bits.push_back({fact, next_bit[fact]++});
      preconditions_.push_row(bits);
    }
    supporter_.resize(initial_cost_.size());
    support_.resize(initial_cost_.size());
    supporter_cost_.resize(initial_cost_.size());
    kind_.resize(initial_cost_.size());
    hmax_.resize(facts);
    zone_.resize(facts);
    stack_.resize(facts);
    visits_.resize(facts);
  }

  Cost value(const Value* values) override {
    compute_hmax(values);
    if (hmax_[goal_fact_] == kDeadEnd) return kDeadEnd;
    if (hmax_[goal_fact_] == 0) return 0;
    if (hmax_[goal_fact_] >= kMaxCost) return kMaxCost;  // capped: cuts would not lower it by their costs
    free_achievers_ = initial_free_achievers_;
    collect_supported();
    int64_t total = 0;
    while (hmax_[goal_fact_] != 0) {
      std::ranges::fill(zone_, Zone::kNone);
      mark_goal_zone();
      find_cut(values);
      total += pay_for_cut();
      update_hmax();
      keep_limits(kWorkOfCut);  // here, where nothing is half done
    }
    return static_cast<Cost>(std::min<int64_t>(total, kMaxCost));
  }

 private:
  static constexpr uint32_t kWorkOfCut = 5;

  enum class Zone : uint8_t { kNone, kGoal, kBefore, kBehind };
  // Of an operator: out of the state's reach; at a cost; also with an effect in the goal zone; at no cost.
  enum class Kind : uint8_t { kUnreached, kCosts, kEnters, kFree };
  struct Precondition {
    int32_t fact;
    int32_t bit;  // in supports_
  };

  // hmax of all facts, and for each operator the precondition that gives it its hmax.
  void compute_hmax(const Value* values) {
    cost_ = initial_cost_;
    waiting_ = initial_waiting_;
    std::ranges::fill(kind_, Kind::kUnreached);
    std::ranges::fill(hmax_, kDeadEnd);
    queue_.clear();
    for (int32_t v = 0; v < relaxed_.variables(); ++v) reach(relaxed_.ids.offset(v) + values[v], 0);
    reach(true_fact_, 0);
    uint16_t* const waiting = waiting_.data();
    Cost cost;
    int32_t fact;
    while (queue_.pop(cost, fact)) {
      if (cost > hmax_[fact]) continue;
      int32_t bit = 64 * first_word_[fact] - 1;
      for (const int32_t op : precondition_of_[fact]) {
        ++bit;
        if (--waiting[op] != 0) continue;
        supporter_[op] = fact;
        support_[op] = bit;
        supporter_cost_[op] = cost;
        kind_[op] = cost_[op] == 0 ? Kind::kFree : Kind::kCosts;
        const Cost target = std::min(cost + cost_[op], kMaxCost);
        for (const int32_t effect : effects_[op]) reach(effect, target);
      }
    }
  }

  // The bits of what compute_hmax found, for states with cuts only.
  void collect_supported() {
    std::ranges::fill(supports_, 0);
    for (size_t op = 0; op < kind_.size(); ++op)
      if (kind_[op] != Kind::kUnreached) flip(support_[op]);
  }

  // hmax after the operators of the cut became cheaper: only what they lower is visited again.
  void update_hmax() {
    queue_.clear();
    for (const int32_t op : cut_) {
      const Cost target = std::min(supporter_cost_[op] + cost_[op], kMaxCost);
      for (const int32_t effect : effects_[op]) reach(effect, target);
    }
    Cost cost;
    int32_t fact;
    while (queue_.pop(cost, fact)) {
      if (cost > hmax_[fact]) continue;
      for_supported(fact, [&](int32_t op) {
        const Cost before = supporter_cost_[op];
        if (before <= cost) return;
        choose_supporter(op);
        if (supporter_cost_[op] == before) return;
        const Cost target = std::min(supporter_cost_[op] + cost_[op], kMaxCost);
        for (const int32_t effect : effects_[op]) reach(effect, target);
      });
    }
  }

  // Facts from which the goal is reached through supporters at no further cost, depth first: the order
  // matters for break_ties_for_goal_zone. On the way, the operators that enter the zone at a cost.
  void mark_goal_zone() {
    Zone* const zone = zone_.data();
    Kind* const kind = kind_.data();
    Visit* top = visits_.data();  // each fact is visited once
    const auto visit = [&](int32_t fact) {
      zone[fact] = Zone::kGoal;
      const auto achievers = effect_of_[fact];
      *top++ = {achievers.data(), achievers.data() + achievers.size()};
    };
    entering_.clear();
    visit(goal_fact_);
    while (top != visits_.data()) {
      Visit& last = top[-1];
      if (last.next == last.end) {
        --top;
        continue;
      }
      const int32_t op = *last.next++;
      if (kind[op] == Kind::kCosts) {
        kind[op] = Kind::kEnters;
        entering_.push_back(op);
      } else if (kind[op] == Kind::kFree) {
        break_ties_for_goal_zone(op);
        const int32_t supporter = supporter_[op];
        if (zone[supporter] != Zone::kGoal) visit(supporter);
      }
    }
  }

  // Operators that lead from what the state reaches through supporters, without entering the goal zone,
  // into the goal zone. No fact of the zone is cheaper than the goal. So the state reaches every fact that is
  // cheaper than the goal without the zone, and the operators that enter the zone from there are in the cut.
  // Often that is all: a single operator, or the number of them, with which the search for their order ends.
  void find_cut(const Value* values) {
    cut_.clear();
    const Cost goal_cost = hmax_[goal_fact_];
    size_t from_outside = 0;
    int32_t* top = stack_.data();
    for (const int32_t op : entering_) {
      const int32_t supporter = supporter_[op];
      if (zone_[supporter] == Zone::kGoal) continue;
      ++from_outside;
      if (hmax_[supporter] < goal_cost) {
        cut_.push_back(op);
      } else if (zone_[supporter] == Zone::kNone) {
        zone_[supporter] = Zone::kBehind;
        *top++ = supporter;
      }
    }
    if (top != stack_.data() && !reached_around_zone(top)) from_outside = cut_.size();
    if (from_outside > 1) order_cut(values, from_outside);
    for (const int32_t op : entering_) kind_[op] = Kind::kCosts;
  }

  // False only if the state reaches none of the facts on the stack, all as expensive as the goal or more,
  // without the zone: a search backwards, up to the first fact that is cheaper than the goal.
  bool reached_around_zone(int32_t* top) {
    const Cost goal_cost = hmax_[goal_fact_];
    while (top != stack_.data()) {
      const int32_t fact = *--top;
      for (const int32_t op : effect_of_[fact]) {
        if (kind_[op] == Kind::kUnreached) continue;
        const int32_t supporter = supporter_[op];
        if (zone_[supporter] != Zone::kNone) continue;
        if (hmax_[supporter] < goal_cost) return true;
        zone_[supporter] = Zone::kBehind;
        *top++ = supporter;
      }
    }
    return false;
  }

  // The cut, of at most so many operators, in the order in which a depth-first search from the state meets
  // them: the order in which update_hmax starts from them, and so the supporters, depend on it.
  void order_cut(const Value* values, size_t most) {
    cut_.clear();
    Zone* const zone = zone_.data();
    const Kind* const kind = kind_.data();
    int32_t* top = stack_.data();  // each fact is entered once
    const auto enter = [&](int32_t fact) {
      zone[fact] = Zone::kBefore;
      *top++ = fact;
    };
    enter(true_fact_);
    for (int32_t v = 0; v < relaxed_.variables(); ++v) enter(relaxed_.ids.offset(v) + values[v]);
    while (top != stack_.data() && cut_.size() < most) {
      for_supported(*--top, [&](int32_t op) {
        if (kind[op] == Kind::kEnters) {
          cut_.push_back(op);
          return;
        }
        for (const int32_t effect : effects_[op])
          if (zone[effect] != Zone::kBefore) enter(effect);
      });
    }
  }

  Cost pay_for_cut() {
    Cost cheapest = std::numeric_limits<Cost>::max();
    for (const int32_t op : cut_) cheapest = std::min(cheapest, cost_[op]);
    for (const int32_t op : cut_) {
      cost_[op] -= cheapest;
      if (cost_[op] != 0) continue;
      kind_[op] = Kind::kFree;
      for (const int32_t fact : effects_[op]) ++free_achievers_[fact];
    }
    return cheapest;
  }

  // Values only fall, so that what the supporter cost before is the most that can be found.
  void choose_supporter(int32_t op) {
    const Cost before = supporter_cost_[op];
    const Precondition* best = nullptr;
    Cost highest = hmax_[supporter_[op]];
    for (const Precondition& precondition : preconditions_[op]) {
      if (hmax_[precondition.fact] <= highest) continue;
      best = &precondition;
      highest = hmax_[best->fact];
      if (highest == before) break;
    }
    if (best) support(op, *best);
    supporter_cost_[op] = highest;
  }

  void break_ties_for_goal_zone(int32_t op) {
    for (const Precondition& precondition : preconditions_[op]) {
      const int32_t fact = precondition.fact;
      if (hmax_[fact] != supporter_cost_[op]) continue;
      if (free_achievers_[fact] != 0 && zone_[fact] != Zone::kGoal) continue;
      if (fact != supporter_[op]) support(op, precondition);
      return;
    }
  }

  void support(int32_t op, const Precondition& by) {
    flip(support_[op]);
    flip(by.bit);
    supporter_[op] = by.fact;
    support_[op] = by.bit;
  }
  void flip(int32_t bit) { supports_[bit / 64] ^= uint64_t{1} << bit % 64; }
  // Calls `visit` with the operators that the fact supports, in their order.
  template <class Visit>
  void for_supported(int32_t fact, const Visit& visit) const {
    const int32_t* ops = precondition_of_[fact].data();
    for (int32_t word = first_word_[fact]; word < first_word_[fact + 1]; ++word, ops += 64)
      for (uint64_t bits = supports_[word]; bits; bits &= bits - 1) visit(ops[std::countr_zero(bits)]);
  }

  void reach(int32_t fact, Cost cost) {
    if (cost >= hmax_[fact]) return;
    hmax_[fact] = cost;
    queue_.push(cost, fact);
  }

  RelaxedTask relaxed_;
  int32_t true_fact_;  // precondition of operators that have none
  int32_t goal_fact_;  // effect of the artificial goal operator, the last one
  RowsOfType<Precondition> preconditions_;
  Rows effects_;
  Rows precondition_of_;
  Rows effect_of_;
  std::vector<Cost> initial_cost_;
  std::vector<uint16_t> initial_waiting_;
  std::vector<int32_t> initial_free_achievers_;
  std::vector<int32_t> first_word_;  // per fact, in supports_

  // What changes during an evaluation. Per operator:
  std::vector<Cost> cost_;            // what the cuts have left of it
  std::vector<int32_t> supporter_;    // precondition of greatest hmax, undefined while unreached
  std::vector<int32_t> support_;      // its bit in supports_
  std::vector<Cost> supporter_cost_;  // its hmax when it was chosen
  std::vector<Kind> kind_;
  std::vector<uint16_t> waiting_;  // preconditions not yet reached in the first exploration
  // Per fact, a bit for each operator in its row of precondition_of_: whether the fact supports it.
  std::vector<uint64_t> supports_;
  // Per fact.
  std::vector<Cost> hmax_;
  std::vector<int32_t> free_achievers_;  // per fact: operators of cost 0 that achieve it
  std::vector<Zone> zone_;
  struct Visit {
    const int32_t* next;
    const int32_t* end;
  };
  std::vector<Visit> visits_;
  std::vector<int32_t> stack_;
  std::vector<int32_t> cut_;
  std::vector<int32_t> entering_;  // operators that cost something and have an effect in the goal zone
  CostQueue queue_;
};

}  // namespace

const HeuristicEntry lmcut_entry = entry<LMCut>();

}  // namespace hstar
