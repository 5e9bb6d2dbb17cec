// States of RSL and N-RSL (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): drawn from the pre-images of
// rollouts level by level, completed, and labelled by all pre-images.
//
// Each of the M levels (depths 0 to the longest rollout) gets floor(N / M) states; N below M gives N levels,
// evenly spread, one state each. A state starts from a random pre-image of the pool or, with probability
// `random_share`, from the empty one. States in no pre-image get L + 1 or the greatest label + 1.
#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "sampling/preimage.h"

namespace hstar {
namespace {

// The pre-images by depth.
class Pools {
 public:
  Pools(const PreImages& preimages, Pool reading) : reading_(reading), order_(preimages.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::stable_sort(order_, {}, [&](uint32_t i) { return preimages.depth[i]; });
    const int32_t last = std::ranges::max(preimages.depth);
    size_t at = 0;
    for (int32_t level = 0; level <= last; ++level) {
      begin_.push_back(at);
      while (at < order_.size() && preimages.depth[order_[at]] == level) ++at;
    }
    begin_.push_back(at);
  }

  size_t levels() const { return begin_.size() - 1; }
  uint32_t draw(size_t level, Random& random) const {
    const size_t first = reading_ == Pool::kLevel ? begin_[level] : 0;
    return order_[first + random.below(static_cast<uint32_t>(begin_[level + 1] - first))];
  }

 private:
  Pool reading_;
  std::vector<uint32_t> order_;
  std::vector<size_t> begin_;  // per level, and the end
};

}  // namespace

Samples draw_states(const Regression& regression, const Atoms& atoms, const PreImages& preimages,
                    int32_t length, const DrawConfig& config, const std::string& name, Random& random,
                    Poll& poll) {
  const Completion completion(regression, atoms);
  const Pools pools(preimages, config.pool);
  const std::vector<Value> empty = regression.empty().values();
  std::vector<char> hopeless(preimages.size(), 0);  // pre-images without a completion
  Samples result;
  result.words = atoms.words();
  std::vector<Value> values;

  const auto complete = [&](const std::vector<Value>& partial) {
    if (config.completion == CompletionRule::kAtoms) {
      completion.by_atoms(partial, random, result.add_state());
      return true;
    }
    values = partial;
    if (!completion.by_variables(values, random)) return false;
    atoms.encode(values.data(), result.add_state());
    return true;
  };
  const auto draw = [&](size_t level) {
    constexpr int kTries = 1000;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      poll(5);
      if (random.chance(config.random_share)) {
        if (complete(empty)) return;
      } else {
        const uint32_t i = pools.draw(level, random);
        if (hopeless[i]) continue;
        if (complete(preimages.values[i])) return;
        hopeless[i] = 1;
      }
    }
    throw UnsupportedError(name + ": no completion without mutex facts was found at level " +
                           std::to_string(level) + "; use completion 'atoms'");
  };

  // 1. States.
  const size_t levels = pools.levels();
  if (config.states < levels) {
    for (size_t i = 0; i < config.states; ++i) draw(i * levels / config.states);
  } else {
    for (size_t level = 0; level < levels; ++level)
      for (size_t i = 0; i < config.states / levels; ++i) draw(level);
  }
  // 2. Labels.
  const size_t n = result.words == 0 ? 0 : result.states.size() / result.words;
  result.label = label_states(regression.space().task(), atoms, preimages, result.states.data(), n, poll);
  const int32_t highest = n == 0 ? 0 : std::max(0, std::ranges::max(result.label));
  const int32_t otherwise = (config.unlabelled == Unlabelled::kLimit ? length : highest) + 1;
  for (int32_t& label : result.label) {
    result.bound.push_back(label != kNoLabel);
    if (label == kNoLabel) label = otherwise;
  }
  return result;
}

}  // namespace hstar
