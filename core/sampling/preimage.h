// RSL and N-RSL (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): rollouts of regression from the goal.
// The partial state after i steps describes states that reach the goal in at most i steps.
//
// Differences from the paper:
// 1. partial states are over finite-domain variables, so that values of one variable never meet and negated
//    conditions are kept;
// 2. the first choice of N-RSL counts atoms of the goal as new, as the authors' program does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/poll.h"
#include "base/random.h"
#include "sampling/completion.h"

namespace hstar {

enum class RolloutChoice {
  kUniform,  // rsl
  kNovelty,  // nrsl: most preconditions that no earlier partial state of the rollout contains; ties at random
};

struct PreImages {
  std::vector<int32_t> depth;
  std::vector<std::vector<Value>> values;  // partial states

  size_t size() const { return depth.size(); }
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

// Labels of states (rows of `atoms.words()` words): the least depth of a pre-image that contains the state,
// kNoLabel if none does. Invariant: a label is an upper bound of the number of steps to the goal, for states
// that respect the variables (one value each).
constexpr int32_t kNoLabel = -1;
std::vector<int32_t> label_states(const Task& task, const Atoms& atoms, const PreImages& preimages,
                                  const BitWord* states, size_t n, Poll& poll);

// What a sampler hands over: states as bits of atoms, and a label each.
struct Samples {
  size_t words = 0;
  std::vector<BitWord> states;  // `words` each
  std::vector<int32_t> label;
  // Whether the label is known to be no less than h* (with unit costs); else it is a guess.
  std::vector<uint8_t> bound;

  size_t size() const { return label.size(); }
  BitWord* add_state() {  // its bits, all 0
    states.resize(states.size() + words, 0);
    return states.data() + states.size() - words;
  }
};

// How states are drawn from pre-images: see draw.cc.
enum class Pool {
  kCumulative,  // all pre-images of depth at most i: the authors' program
  kLevel,       // those of depth i
};
enum class Unlabelled { kLimit, kMax };

struct DrawConfig {
  size_t states = 100000;     // N_t
  double random_share = 0.5;  // P_r
  Pool pool = Pool::kCumulative;
  CompletionRule completion = CompletionRule::kVariables;
  Unlabelled unlabelled = Unlabelled::kMax;
};

// `length` is the limit L of the rollouts, `name` the sampler's for messages.
Samples draw_states(const Regression& regression, const Atoms& atoms, const PreImages& preimages,
                    int32_t length, const DrawConfig& config, const std::string& name, Random& random,
                    Poll& poll);

}  // namespace hstar
