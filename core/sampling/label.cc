#include <limits>

#include "sampling/fact_trie.h"
#include "sampling/preimage.h"

namespace hstar {

std::vector<int32_t> label_states(const Task& task, const Atoms& atoms, const PreImages& preimages,
                                  const BitWord* states, size_t n, Poll& poll) {
  // The bits of a state tell the values that are atoms. The others mean that no atom of the variable holds,
  // and the first of them stands for all.
  std::vector<Value> none(task.variables.size(), kUnset);
  std::vector<std::vector<Value>> partial = preimages.values;
  for (int32_t v = 0; v < static_cast<int32_t>(none.size()); ++v) {
    const auto is_atom = [&](Value value) { return atoms.atom({v, value}) != -1; };
    for (Value value = task.variables[v].domain_size(); value-- > 0;)
      if (!is_atom(value)) none[v] = value;
    for (std::vector<Value>& values : partial)
      if (values[v] != kUnset && !is_atom(values[v])) values[v] = none[v];
  }
  const FactTrie trie(task, partial, preimages.depth);
  std::vector<int32_t> labels(n, kNoLabel);
  std::vector<Value> values;
  for (size_t s = 0; s < n; ++s) {
    values = none;
    const BitWord* bits = states + s * atoms.words();
    for (int32_t atom = 0; atom < atoms.size(); ++atom)
      if (test_bit(bits, atom)) values[atoms.facts()[atom].variable] = atoms.facts()[atom].value;
    constexpr int32_t kInfinity = std::numeric_limits<int32_t>::max();
    int32_t least = kInfinity;
    trie.subsets(values.data(), least, [&](uint32_t i) { least = preimages.depth[i]; });
    if (least != kInfinity) labels[s] = least;
    poll(10);
  }
  return labels;
}

}  // namespace hstar
