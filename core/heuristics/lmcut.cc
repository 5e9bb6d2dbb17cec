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
    std::vector<std::vector<int32_t>> precondition_of(facts), effect_of(facts);
    initial_free_achievers_.resize(facts, 0);
    const auto add = [&](std::vector<int32_t> preconditions, const std::vector<int32_t>& effects, Cost cost) {
      if (preconditions.empty()) preconditions.push_back(true_fact_);
      if (preconditions.size() > std::numeric_limits<uint16_t>::max())
        throw UnsupportedError("lmcut: an operator has more than 65535 preconditions; use blind");
      const auto op = static_cast<int32_t>(initial_cost_.size());
      for (const int32_t fact : preconditions) precondition_of[fact].push_back(op);
      for (const int32_t fact : effects) {
        effect_of[fact].push_back(op);
        initial_free_achievers_[fact] += cost == 0;
      }
      preconditions_.push_row(preconditions);
      effects_.push_row(effects);
      initial_cost_.push_back(cost);
      initial_waiting_.push_back(static_cast<uint16_t>(preconditions.size()));
    };
    const auto list = [](std::span<const int32_t> row) {
      return std::vector<int32_t>(row.begin(), row.end());
    };
    for (int32_t op = 0; op < relaxed_.operators(); ++op)
      add(list(relaxed_.preconditions[op]), list(relaxed_.effects[op]), relaxed_.costs[op]);
    add(relaxed_.goal, {goal_fact_}, 0);
    precondition_of_ = Rows(precondition_of);
    effect_of_ = Rows(effect_of);
    supporter_cost_.resize(initial_cost_.size());
    enters_zone_.resize(initial_cost_.size());
    hmax_.resize(facts);
    zone_.resize(facts, Zone::kNone);
  }

  Cost value(const Value* values) override {
    cost_ = initial_cost_;
    waiting_ = initial_waiting_;
    supporter_.assign(initial_cost_.size(), -1);
    free_achievers_ = initial_free_achievers_;
    compute_hmax(values);
    if (hmax_[goal_fact_] == kDeadEnd) return kDeadEnd;
    int64_t total = 0;
    while (hmax_[goal_fact_] != 0) {
      mark_goal_zone();
      find_cut(values);
      total += pay_for_cut();
      update_hmax();
      for (const int32_t fact : marked_) zone_[fact] = Zone::kNone;
      marked_.clear();
      keep_limits(kWorkOfCut);  // here, where nothing is half done
    }
    return static_cast<Cost>(std::min<int64_t>(total, kMaxCost));
  }

 private:
  static constexpr uint32_t kWorkOfCut = 5;

  enum class Zone : uint8_t { kNone, kGoal, kBefore };
  // hmax of all facts, and for each operator the precondition that gives it its hmax.
  void compute_hmax(const Value* values) {
    std::ranges::fill(hmax_, kDeadEnd);
    queue_.clear();
    for (int32_t v = 0; v < relaxed_.variables(); ++v) reach(relaxed_.ids.offset(v) + values[v], 0);
    reach(true_fact_, 0);
    Cost cost;
    int32_t fact;
    while (queue_.pop(cost, fact)) {
      if (cost > hmax_[fact]) continue;
      for (const int32_t op : precondition_of_[fact]) {
        if (--waiting_[op] != 0) continue;
        supporter_[op] = fact;
        supporter_cost_[op] = cost;
        const Cost target = std::min(cost + cost_[op], kMaxCost);
        for (const int32_t effect : effects_[op]) reach(effect, target);
      }
    }
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
      for (const int32_t op : precondition_of_[fact]) {
        if (supporter_[op] != fact || supporter_cost_[op] <= cost) continue;
        const Cost before = supporter_cost_[op];
        choose_supporter(op);
        if (supporter_cost_[op] == before) continue;
        const Cost target = std::min(supporter_cost_[op] + cost_[op], kMaxCost);
        for (const int32_t effect : effects_[op]) reach(effect, target);
      }
    }
  }

  // Facts from which the goal is reached through supporters at no further cost, depth first: the order
  // matters for break_ties_for_goal_zone.
  void mark_goal_zone() {
    mark(goal_fact_, Zone::kGoal);
    visits_.push_back({goal_fact_, 0});
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const auto achievers = effect_of_[visit.fact];
      if (visit.next == achievers.size()) {
        visits_.pop_back();
        continue;
      }
      const int32_t op = achievers[visit.next++];
      if (cost_[op] != 0 || supporter_[op] == -1) continue;
      break_ties_for_goal_zone(op);
      const int32_t supporter = supporter_[op];
      if (zone_[supporter] == Zone::kGoal) continue;
      mark(supporter, Zone::kGoal);
      visits_.push_back({supporter, 0});
    }
  }

  // Operators that lead from what the state reaches through supporters, without entering the goal zone,
  // into the goal zone. Those that enter it from outside are known beforehand, and the search for the ones
  // that the state reaches ends with the last of them.
  void find_cut(const Value* values) {
    cut_.clear();
    size_t from_outside = 0;
    for (const int32_t fact : marked_)
      for (const int32_t op : effect_of_[fact]) {
        if (enters_zone_[op] || supporter_[op] == -1) continue;
        enters_zone_[op] = true;
        entering_.push_back(op);
        from_outside += zone_[supporter_[op]] != Zone::kGoal;
      }
    const auto enter = [&](int32_t fact) {
      mark(fact, Zone::kBefore);
      stack_.push_back(fact);
    };
    enter(true_fact_);
    for (int32_t v = 0; v < relaxed_.variables(); ++v) enter(relaxed_.ids.offset(v) + values[v]);
    while (!stack_.empty() && cut_.size() < from_outside) {
      const int32_t fact = stack_.back();
      stack_.pop_back();
      for (const int32_t op : precondition_of_[fact]) {
        if (supporter_[op] != fact) continue;
        if (enters_zone_[op]) {
          cut_.push_back(op);
          continue;
        }
        for (const int32_t effect : effects_[op])
          if (zone_[effect] != Zone::kBefore) enter(effect);
      }
    }
    stack_.clear();
    for (const int32_t op : entering_) enters_zone_[op] = false;
    entering_.clear();
  }

  Cost pay_for_cut() {
    Cost cheapest = std::numeric_limits<Cost>::max();
    for (const int32_t op : cut_) cheapest = std::min(cheapest, cost_[op]);
    for (const int32_t op : cut_) {
      cost_[op] -= cheapest;
      if (cost_[op] == 0)
        for (const int32_t fact : effects_[op]) ++free_achievers_[fact];
    }
    return cheapest;
  }

  // Values only fall, so that what the supporter cost before is the most that can be found.
  void choose_supporter(int32_t op) {
    const Cost before = supporter_cost_[op];
    int32_t best = supporter_[op];
    Cost highest = hmax_[best];
    for (const int32_t fact : preconditions_[op]) {
      if (hmax_[fact] <= highest) continue;
      best = fact;
      highest = hmax_[fact];
      if (highest == before) break;
    }
    supporter_[op] = best;
    supporter_cost_[op] = highest;
  }

  void break_ties_for_goal_zone(int32_t op) {
    for (const int32_t fact : preconditions_[op]) {
      if (hmax_[fact] != supporter_cost_[op]) continue;
      if (free_achievers_[fact] != 0 && zone_[fact] != Zone::kGoal) continue;
      supporter_[op] = fact;
      return;
    }
  }

  void reach(int32_t fact, Cost cost) {
    if (cost >= hmax_[fact]) return;
    hmax_[fact] = cost;
    queue_.push(cost, fact);
  }
  void mark(int32_t fact, Zone zone) {
    zone_[fact] = zone;
    marked_.push_back(fact);
  }

  RelaxedTask relaxed_;
  int32_t true_fact_;  // precondition of operators that have none
  int32_t goal_fact_;  // effect of the artificial goal operator, the last one
  Rows preconditions_;
  Rows effects_;
  Rows precondition_of_;
  Rows effect_of_;
  std::vector<Cost> initial_cost_;
  std::vector<uint16_t> initial_waiting_;
  std::vector<int32_t> initial_free_achievers_;

  // What changes during an evaluation. Per operator, in arrays of their own because the inner loops touch
  // one of them for most operators and the others for few.
  std::vector<Cost> cost_;            // what the cuts have left of it
  std::vector<int32_t> supporter_;    // precondition of greatest hmax, -1 while unreached
  std::vector<Cost> supporter_cost_;  // its hmax when it was chosen
  std::vector<char> enters_zone_;     // reached, and with an effect in the goal zone
  std::vector<uint16_t> waiting_;     // preconditions not yet reached in the first exploration
  // Per fact.
  std::vector<Cost> hmax_;
  std::vector<int32_t> free_achievers_;  // per fact: operators of cost 0 that achieve it
  std::vector<Zone> zone_;
  std::vector<int32_t> marked_;  // facts in a zone
  struct Visit {
    int32_t fact;
    uint32_t next;  // position in effect_of_
  };
  std::vector<Visit> visits_;
  std::vector<int32_t> stack_;
  std::vector<int32_t> cut_;
  std::vector<int32_t> entering_;  // operators that enter the goal zone
  CostQueue queue_;
};

}  // namespace

const HeuristicEntry lmcut_entry = entry<LMCut>();

}  // namespace hstar
