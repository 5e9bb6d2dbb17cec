// States of RSL and N-RSL (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): drawn from the pre-images of
// rollouts level by level, completed, and labelled by all pre-images.
//
// Each of the M levels (depths 0 to the longest rollout) gets floor(N / M) states; N below M gives N levels,
// evenly spread, one state each. A state starts from a random pre-image of the pool or, with probability
// `random_share`, from the empty one. States in no pre-image get L + 1 or the greatest label + 1.
#pragma once

#include <cstdint>
#include <string>

#include "base/poll.h"
#include "sampling/completion.h"
#include "sampling/preimage.h"
#include "sampling/samples.h"

namespace hstar {

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
