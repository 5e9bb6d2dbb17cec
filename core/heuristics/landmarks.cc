// landmarks: the cost of the landmarks that are still to be reached (Richter, Helmert and Westphal, AAAI
// 2008; Richter and Westphal, JAIR 2010). Path-dependent.
//
// The value is the sum of the costs of landmarks that are not reached or required again, each at least 1: it
// is 0 at goals alone. A state is a dead end if a goal fact is false that nothing makes true, or if the goal
// cannot be reached without deletes. Of a state whose path is not known (evaluated outside a search, or by
// idastar) those landmarks count as reached that are true in it or in the initial state, and those that are
// ordered before them naturally.
//
// Preferred operators: those that make a landmark true that would be reached by it; if there are any such
// for landmarks of single facts, these alone.
// Difference from the paper: if there are none, no relaxed plan to the nearest landmarks is made; lazy search
// alternates with ff, which has one.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "heuristics/catalogue.h"
#include "heuristics/landmark_heuristic.h"

namespace hstar {
namespace {

class Landmarks : public LandmarkHeuristic {
 public:
  static constexpr HeuristicInfo info = {
      .name = "landmarks",
      .description = "cost of the landmarks that are not reached or required again",
      .reference = "Richter and Westphal, JAIR 2010",
      .safe = true,
      .supports_axioms = true,
      .supports_conditional_effects = true,
      .preferred_operators = true,
      .path_dependent = true,
  };
  explicit Landmarks(const PlanningSpace& space, CostType type = CostType::kNormal)
      : LandmarkHeuristic(info, space, type, true) {
    build(space.initial_state());
  }

  Cost evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) override {
    const Cost h = LandmarkHeuristic::value(batch, i);
    if (h == kDeadEnd) return h;
    const Value* values = batch.values(i);
    const uint64_t* reached = reached_in(batch, i);
    applicable_.clear();
    space_.applicable(values, applicable_);
    // Those for single facts come after `begin`, the others wait.
    const size_t begin = preferred.size();
    std::vector<int32_t> for_sets;
    for (const int32_t op : applicable_) {
      bool single = false, several = false;
      for (const Effect& effect : space_.task().operators[op].effects) {
        const std::vector<int32_t>& candidates = with_fact_[ids_(effect.fact)];
        if (candidates.empty()) continue;
        const bool fires = hstar::holds(effect.conditions, values);
        for (const int32_t landmark : candidates) {
          if (!fires || test_bit(reached, landmark) || !all_before(landmark, reached)) continue;
          (graph_->landmarks[landmark].facts.size() == 1 ? single : several) = true;
        }
      }
      if (single)
        preferred.push_back(op);
      else if (several)
        for_sets.push_back(op);
    }
    if (preferred.size() == begin) preferred.insert(preferred.end(), for_sets.begin(), for_sets.end());
    return h;
  }

 private:
  const uint64_t* reached_anyhow(const Value* values) override {
    anyhow_.assign(words_, 0);
    const auto get = [&](int32_t variable) { return values[variable]; };
    for (size_t i = 0; i < graph_->landmarks.size(); ++i) {
      const bool now = holds(i, get);
      if (now || graph_->landmarks[i].initial) set_bit(anyhow_.data(), i);
      if (!now) continue;
      for (size_t w = 0; w < words_; ++w) anyhow_[w] |= graph_->natural[i][w];
    }
    return anyhow_.data();
  }

  Cost value(const Value* values, const uint64_t* reached) override {
    if (hstar::holds(space_.task().goal, values)) return 0;
    bool doomed = false;
    int64_t total = 0;
    each_needed(values, reached, [&](size_t i, bool again) {
      const Landmark& landmark = graph_->landmarks[i];
      total += landmark.cost;
      doomed |= again && landmark.goal && landmark.achievers.empty();
    });
    return doomed ? kDeadEnd : static_cast<Cost>(std::clamp<int64_t>(total, 1, kMaxCost));
  }

  std::vector<uint64_t> anyhow_;
  std::vector<int32_t> applicable_;
};

}  // namespace

const HeuristicEntry landmarks_entry = entry<Landmarks>();

}  // namespace hstar
