// What the colours of colour refinement are made of (colour_refinement.h): 64-bit hashes. Files of models
// hold colours, so these functions never change.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace hstar {

using Colour = uint64_t;

// A negative goal is satisfied by the absence of its atom: it is the goal of a complement atom.
enum class GoalStatus : uint64_t {
  kHolds = 0,
  kGoalHolds = 1,
  kGoalOpen = 2,
  kNegativeGoalHolds = 3,
  kNegativeGoalOpen = 4
};

enum class GoalMark : uint8_t { kNone = 0, kGoal = 1, kNegativeGoal = 2 };

// Of an atom that is in a state, or is not in it; one without a mark counts only where it is.
inline GoalStatus goal_status(GoalMark mark, bool present) {
  if (mark == GoalMark::kGoal) return present ? GoalStatus::kGoalHolds : GoalStatus::kGoalOpen;
  if (mark == GoalMark::kNegativeGoal)
    return present ? GoalStatus::kNegativeGoalOpen : GoalStatus::kNegativeGoalHolds;
  return GoalStatus::kHolds;
}

inline Colour mix(uint64_t a, uint64_t b) {
  return fold_multiply(a ^ 0x2d358dccaa6c78a5ULL,
                       fold_multiply(b ^ 0x8bb84b93962eacc9ULL, 0x9e3779b97f4a7c15ULL));
}

inline Colour object_colour(uint32_t kind) { return mix(1, kind); }
inline Colour atom_colour(uint32_t predicate, GoalStatus status) {
  return mix(2 + static_cast<uint64_t>(status), predicate);
}
// A neighbour behind an edge. Sums of these stand for sets or multisets of neighbours.
inline Colour across(uint64_t label, Colour neighbour) { return mix(neighbour, 0x100 + label); }
// Of a node after an iteration, from the colour before it and the sum over its neighbours.
inline Colour refined(Colour own, uint64_t iteration, Colour sum) { return mix(own + iteration, sum); }

constexpr uint32_t kColoursPerMicrosecond = 50;  // at a guess

}  // namespace hstar
