#include "sampling/label.h"

#include <algorithm>
#include <numeric>

namespace hstar {
namespace {

// One word in which a pre-image asks for something: most states fail one of these, and only those that pass
// are compared in full.
struct Probe {
  uint32_t word;
  BitWord required;
  BitWord forbidden;
};

bool meets(BitWord state, BitWord required, BitWord forbidden) {
  return ((required & ~state) | (forbidden & state)) == 0;
}

}  // namespace

std::vector<int32_t> label_states(const PreImages& preimages, const BitWord* states, size_t n,
                                  int32_t otherwise) {
  const size_t words = preimages.words;
  // By depth: the first match is the label.
  std::vector<size_t> order(preimages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return preimages.depth[i]; });
  std::vector<Probe> probes;
  std::vector<size_t> begin = {0};
  for (const size_t i : order) {
    for (uint32_t w = 0; w < words; ++w) {
      const BitWord required = preimages.required[i * words + w];
      const BitWord forbidden = preimages.forbidden[i * words + w];
      if (required | forbidden) probes.push_back({w, required, forbidden});
    }
    begin.push_back(probes.size());
  }
  std::vector<int32_t> labels(n, otherwise);
  for (size_t s = 0; s < n; ++s) {
    const BitWord* state = states + s * words;
    for (size_t k = 0; k < order.size(); ++k) {
      bool inside = true;
      for (size_t i = begin[k]; i < begin[k + 1] && inside; ++i)
        inside = meets(state[probes[i].word], probes[i].required, probes[i].forbidden);
      if (!inside) continue;
      labels[s] = preimages.depth[order[k]];
      break;
    }
  }
  return labels;
}

}  // namespace hstar
