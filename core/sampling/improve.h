// SUI, the successor improvement of Bettker, Minini, Pereira and Ritt (JAIR 80, 2024), over partial states.
//
// There is an arc from s to t if an operator all of whose preconditions s names leads from s to a partial
// state that contains t. Labels are lowered to h(s) = min(h(s), h(t) + 1) until nothing changes.
//
// Arcs that cannot lower a label are never looked at: no label falls below the number of steps that the goals
// missing in the partial state take at least.
//
// Invariant: labels that bound h* of all states of a partial state from above still do.
#pragma once

#include <cstdint>
#include <vector>

#include "base/poll.h"
#include "sampling/partial_space.h"

namespace hstar {

constexpr int32_t kNoBound = 1 << 30;

// Per partial state s a bound b: min(label, b) is the improved label of any label of s from labels[s] to
// ceilings[s]. `states` are all different.
std::vector<int32_t> successor_bounds(const PartialSpace& space,
                                      const std::vector<std::vector<Value>>& states,
                                      const std::vector<int32_t>& labels,
                                      const std::vector<int32_t>& ceilings, Poll& poll);

}  // namespace hstar
