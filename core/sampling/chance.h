// Small random choices of the samplers.
#pragma once

#include <utility>
#include <vector>

#include "base/random.h"

namespace hstar {

template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(static_cast<uint32_t>(i))]);
}

// True with that probability.
inline bool chance(double probability, Random& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53 < probability;
}

}  // namespace hstar
