#include "spaces/search_space.h"

#include <algorithm>

#include "base/errors.h"

namespace hstar {

Cost SearchSpace::apply(const uint32_t* packed, int32_t op, uint32_t* result, Expansion& expansion) const {
  expand(packed, 1, expansion);
  const auto found = std::find(expansion.operators.begin(), expansion.operators.end(), op);
  if (found == expansion.operators.end())
    throw InputError("the successors of a state are not the same when they are asked for again");
  const auto i = static_cast<size_t>(found - expansion.operators.begin());
  std::copy_n(&expansion.states[i * words()], words(), result);
  return expansion.costs[i];
}

}  // namespace hstar
