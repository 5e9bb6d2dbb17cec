// Labels of states by pre-images: the least depth of a pre-image that contains the state.
//
// Invariant: a label from a pre-image is an upper bound of the number of steps to the goal, for states that
// respect the variables (one value each).
#pragma once

#include <vector>

#include "base/poll.h"
#include "sampling/preimage.h"

namespace hstar {

constexpr int32_t kNoLabel = -1;

// One label for each of n states (rows of `preimages.words` words); kNoLabel where no pre-image contains it.
std::vector<int32_t> label_states(const PreImages& preimages, const BitWord* states, size_t n, Poll& poll);

}  // namespace hstar
