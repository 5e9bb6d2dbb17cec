// lmcp: admissible landmark cost partitioning (Karpas and Domshlak, IJCAI 2009). Path-dependent.
//
// A landmark that was not reached on some path to the state has to become true for the first time, one that
// is required again has to become true again (landmark_heuristic.h). So every plan has one of its operators:
// first achievers, or any achievers. Landmarks with few achievers come first; each counts with its cheapest
// operator and takes that much from all of them, so that no cost is counted twice.
//
// Invariant: admissible, whatever paths are known, since no landmark takes more from an operator than is left
// of its cost, and reasonable orders are not used. Not consistent. Of a state whose path is not known
// (evaluated outside a search, or by idastar) only the goals are needed.
//
// Differences from the paper:
// 1. It divides the cost of an operator equally among its needed landmarks, or best by a linear program. This
//    is a saturated partitioning (Seipp, Keller and Helmert, JAIR 2020), in one pass and in integers.
// 2. Of operators that achieve the same landmarks only the cheapest is kept: all lose the same.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "heuristics/catalogue.h"
#include "heuristics/landmark_heuristic.h"

namespace hstar {
namespace {

class LandmarkCostPartitioning : public LandmarkHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "lmcp",
      .description = "operator costs divided among the landmarks that are not reached or required again",
      .reference = "Karpas and Domshlak, IJCAI 2009",
      .admissible = true,
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
      .path_dependent = true,
  };
  explicit LandmarkCostPartitioning(const PlanningSpace& space)
      : LandmarkHeuristic(info, space, CostType::kNormal, false) {
    build(space.initial_state());
  }

 private:
  void build(std::vector<Value> initial) override {
    LandmarkHeuristic::build(std::move(initial));
    all_.assign(words_, ~uint64_t{0});
    // 1. The roles of each operator: landmark i for the first time is 2 * i, again 2 * i + 1. None where an
    // operator without cost has the same role, or an axiom: that landmark costs nothing.
    const size_t roles = 2 * graph_->landmarks.size();
    const Operators& operators = space_.task().operators;
    std::vector<std::vector<int32_t>> played(operators.size());
    std::vector<char> free(roles, 0);
    for (size_t role = 0; role < roles; ++role) {
      const Landmark& landmark = graph_->landmarks[role / 2];
      const std::vector<int32_t>& ops = role % 2 ? landmark.achievers : landmark.first_achievers;
      free[role] =
          std::ranges::any_of(ops, [&](int32_t op) { return op == kAxiom || operators[op].cost == 0; });
      if (free[role]) continue;
      for (const int32_t op : ops) played[op].push_back(static_cast<int32_t>(role));
    }
    // 2. A group of operators for equal roles.
    std::map<std::vector<int32_t>, Cost> groups;
    for (size_t op = 0; op < operators.size(); ++op) {
      Cost& cost = groups.try_emplace(std::move(played[op]), operators[op].cost).first->second;
      cost = std::min(cost, operators[op].cost);
    }
    std::vector<std::vector<int32_t>> achievers(roles);
    costs_.clear();
    for (const auto& [roles_of_group, cost] : groups) {
      for (const int32_t role : roles_of_group)
        achievers[role].push_back(static_cast<int32_t>(costs_.size()));
      costs_.push_back(cost);
    }
    left_ = costs_;
    // 3. Roles by the number of groups, which is their rank.
    std::vector<size_t> order(roles);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t role) { return achievers[role].size(); });
    rank_.assign(roles, kFree);
    achievers_ = Rows();
    for (size_t rank = 0; rank < roles; ++rank) {
      achievers_.push_row(achievers[order[rank]]);
      if (!free[order[rank]]) rank_[order[rank]] = static_cast<int32_t>(rank);
    }
  }

  const uint64_t* reached_anyhow(const Value*) override { return all_.data(); }

  Cost value(const Value* values, const uint64_t* reached) override {
    needed_.clear();
    each_needed(values, reached, [&](size_t i, bool again) {
      if (const int32_t rank = rank_[2 * i + again]; rank != kFree) needed_.push_back(rank);
    });
    std::ranges::sort(needed_);
    // Nothing makes the first one true.
    if (!needed_.empty() && achievers_[needed_[0]].empty()) return kDeadEnd;
    int64_t total = 0;
    for (const int32_t rank : needed_) {
      Cost share = kMaxCost;
      for (const int32_t group : achievers_[rank]) share = std::min(share, left_[group]);
      if (share == 0) continue;
      for (const int32_t group : achievers_[rank]) left_[group] -= share;
      total += share;
    }
    for (const int32_t rank : needed_)
      for (const int32_t group : achievers_[rank]) left_[group] = costs_[group];
    return static_cast<Cost>(std::min<int64_t>(total, kMaxCost));
  }

  static constexpr int32_t kFree = -1;

  std::vector<uint64_t> all_;  // the set of all landmarks
  std::vector<int32_t> rank_;  // per role
  Rows achievers_;             // per rank: groups of operators
  std::vector<Cost> costs_;    // per group
  std::vector<Cost> left_;     // per group, of its cost; all of it between calls
  std::vector<int32_t> needed_;
};

}  // namespace

const HeuristicEntry lmcp_entry = entry<LandmarkCostPartitioning>();

}  // namespace hstar
