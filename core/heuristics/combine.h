// max and sum of several heuristics. A maximum keeps admissibility and consistency if all its parts have
// them; a sum is claimed to have neither. A state is a dead end if a safe part says so, or all parts do.
#pragma once

#include <memory>
#include <vector>

#include "heuristics/heuristic.h"

namespace hstar {

enum class CombineRule { kMax, kSum };

std::unique_ptr<Heuristic> combined_heuristic(CombineRule rule,
                                              std::vector<std::unique_ptr<Heuristic>> parts);

}  // namespace hstar
