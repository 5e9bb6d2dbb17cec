// FSM, the focused sampling method (Bettker, Minini, Pereira and Ritt, JAIR 80, 2024).
//
// 1. Regression breadth-first from the goal for a share of the samples; a partial state's new predecessors
//    are taken if all of them fit.
// 2. Random walks of regression from the leaves of that, each leaf once a round, never to the same partial
//    state again nor to one of step 1, up to depth L.
// 3. SAI: equal partial states get the least of their labels.
// 4. SUI, see improve.cc.
// 5. Completion by variables, and SAI once more.
// 6. Random states with the greatest label + 1.
// What satisfies the goal gets label 0.
//
// Invariant: labels never underestimate h* with unit costs, but for random states.
// Differences from the paper:
// 1. where the backward space holds fewer partial states than asked for, they are completed several times;
// 2. SAI on completed states includes the random ones;
// 3. partial states without a completion are left out, so that there may be fewer samples.
#pragma once

#include <cstdint>

#include "base/poll.h"
#include "base/random.h"
#include "sampling/partial_space.h"
#include "sampling/preimage.h"

namespace hstar {

struct FsmConfig {
  size_t states = 100000;     // N, random ones included
  double bfs_share = 0.1;     // p, of N
  double random_share = 0.2;  // of N
  int32_t length = 0;         // L; 0: adaptive
  bool sai = true;
  bool sui = true;
};

// Partial states as sampled, with repeats, the goal first.
struct PartialSamples {
  std::vector<std::vector<Value>> states;  // all different
  std::vector<uint32_t> state;             // per sample
  std::vector<int32_t> label;              // per sample
};

PartialSamples sample_partial(const Regression& regression, const Atoms& atoms, const FsmConfig& config,
                              Random& random, Poll& poll);
// SUI, see improve.cc: per partial state s a bound b: min(label, b) is the improved label of any label of s
// from labels[s] to ceilings[s]. `states` are all different.
constexpr int32_t kUnbounded = 1 << 30;
std::vector<int32_t> successor_bounds(const PartialSpace& space,
                                      const std::vector<std::vector<Value>>& states,
                                      const std::vector<int32_t>& labels,
                                      const std::vector<int32_t>& ceilings, Poll& poll);
// SAI and SUI as configured.
void improve(PartialSamples& samples, const PartialSpace& space, const FsmConfig& config, Poll& poll);

Samples sample_fsm(const Regression& regression, const Atoms& atoms, const FsmConfig& config, Random& random,
                   Poll& poll);

}  // namespace hstar
