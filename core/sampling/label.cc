#include <algorithm>
#include <bit>
#include <numeric>

#include "sampling/preimage.h"

namespace hstar {
namespace {

// Pre-images as lists of tests, by depth, without those that an earlier one contains: the first that
// contains a state gives its label.
class Cascade {
 public:
  Cascade(const PreImages& preimages, Poll& poll) {
    const size_t words = preimages.words;
    std::vector<size_t> order(preimages.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return preimages.depth[i]; });
    for (const size_t i : order) {
      const BitWord* required = &preimages.required[i * words];
      const BitWord* forbidden = &preimages.forbidden[i * words];
      poll(work());
      if (find(required, forbidden) != kNoLabel) continue;
      for (uint32_t w = 0; w < words; ++w)
        if (required[w] | forbidden[w]) tests_.push_back({required[w], forbidden[w], w});
      // Words that ask for most come first: a state fails there soonest.
      const auto strength = [](const Test& test) { return std::popcount(test.required | test.forbidden); };
      std::stable_sort(tests_.begin() + begin_.back(), tests_.end(),
                       [&](const Test& a, const Test& b) { return strength(a) > strength(b); });
      begin_.push_back(static_cast<uint32_t>(tests_.size()));
      depth_.push_back(preimages.depth[i]);
    }
  }

  // The label of a state whose true atoms are `yes` and whose false atoms are `no`.
  int32_t find(const BitWord* yes, const BitWord* no) const {
    return find(
        [&](const Test& t) { return ((t.required & ~yes[t.word]) | (t.forbidden & ~no[t.word])) == 0; });
  }
  int32_t find(const BitWord* state) const {
    return find(
        [&](const Test& t) { return ((t.required & ~state[t.word]) | (t.forbidden & state[t.word])) == 0; });
  }
  // Of a look-up, as a Poll counts it.
  uint32_t work() const { return 1 + static_cast<uint32_t>(depth_.size() / 256); }

 private:
  struct Test {
    BitWord required;
    BitWord forbidden;
    uint32_t word;
  };
  template <class Passes>
  int32_t find(Passes&& passes) const {
    for (size_t k = 0; k < depth_.size(); ++k) {
      uint32_t i = begin_[k];
      while (i < begin_[k + 1] && passes(tests_[i])) ++i;
      if (i == begin_[k + 1]) return depth_[k];
    }
    return kNoLabel;
  }

  std::vector<Test> tests_;
  std::vector<uint32_t> begin_ = {0};
  std::vector<int32_t> depth_;
};

}  // namespace

std::vector<int32_t> label_states(const PreImages& preimages, const BitWord* states, size_t n, Poll& poll) {
  const Cascade cascade(preimages, poll);
  std::vector<int32_t> labels(n, kNoLabel);
  for (size_t s = 0; s < n; ++s) {
    labels[s] = cascade.find(states + s * preimages.words);
    poll(cascade.work());
  }
  return labels;
}

}  // namespace hstar
