// RSL and N-RSL (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): rollouts of regression from the goal.
// The partial state after i steps describes states that reach the goal in at most i steps.
//
// Differences from the paper:
// 1. partial states are over finite-domain variables, so that values of one variable never meet and negated
//    conditions are kept;
// 2. the first choice of N-RSL counts atoms of the goal as new, as the authors' program does.
#pragma once

#include <cstdint>
#include <vector>

#include "base/poll.h"
#include "base/random.h"
#include "task/atoms.h"
#include "task/regression.h"

namespace hstar {

enum class RolloutChoice {
  kUniform,  // rsl
  kNovelty,  // nrsl: most preconditions that no earlier partial state of the rollout contains; ties at random
};

// A partial state as a test on atoms: those that must hold and those that must not.
struct PreImages {
  size_t words = 0;
  std::vector<int32_t> depth;
  std::vector<std::vector<Value>> values;  // partial states
  std::vector<BitWord> required;           // `words` each
  std::vector<BitWord> forbidden;

  size_t size() const { return depth.size(); }
  void push(const Atoms& atoms, const std::vector<Value>& partial, int32_t at_depth);
};

// The limit of Bettker et al. (JAIR 2024): atoms by mean effects of an operator, rounded up.
int32_t adaptive_length(const Task& task, const Atoms& atoms);

// More rollouts give better labels at little cost, until labelling (states times pre-images) takes longer
// than training: it is 5 to 10 s for 100,000 states and this many.
constexpr size_t kEnoughPreImages = 50'000;
constexpr int32_t kMostRollouts = 10'000;

struct RolloutConfig {
  RolloutChoice choice = RolloutChoice::kNovelty;
  int32_t rollouts = 5;  // N_r; 0: until there are kEnoughPreImages, or kMostRollouts where they end early
  int32_t length = 500;  // L
};

// The partial states of all rollouts, the goal first and once, then rollout by rollout. A rollout ends early
// where no operator regresses; it may come back to where it was.
PreImages sample_rollouts(const Regression& regression, const Atoms& atoms, const RolloutConfig& config,
                          Random& random, Poll& poll);

}  // namespace hstar
