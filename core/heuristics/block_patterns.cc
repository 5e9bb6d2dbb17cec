#include "heuristics/block_patterns.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/errors.h"
#include "base/random.h"

namespace hstar {
namespace {

constexpr uint8_t kUnused = 255;

// All ways to write the sum as heights of at most `most`, each as the number of stacks of every height.
void add_partitions(size_t sum, size_t most, std::vector<uint8_t>& stacks,
                    std::vector<std::vector<uint8_t>>& all) {
  if (sum == 0) {
    all.push_back(stacks);
    return;
  }
  for (size_t height = std::min(sum, most); height > 0; --height) {
    ++stacks[height];
    add_partitions(sum - height, height, stacks, all);
    --stacks[height];
  }
}

// The key of stacks, a number of them for each height.
template <class Stacks>
uint32_t key_of(const Stacks& stacks) {
  uint32_t key = 0;
  for (size_t height = 1; height < stacks.size(); ++height) key += stacks[height] * kStackKeys[height];
  return key;
}

}  // namespace

BlockPatterns::BlockPatterns(int blocks, size_t named)
    : named_(named), unnamed_(static_cast<size_t>(blocks) - named) {
  if (named < 1 || named > kMostNamed)
    throw InputError("a pattern of blocks has 1 to " + std::to_string(kMostNamed) + " blocks, got " +
                     std::to_string(named));
  if (unnamed_ > kMostUnnamed)
    throw InputError("a pattern leaves at most " + std::to_string(kMostUnnamed) +
                     " blocks without a name, got " + std::to_string(unnamed_));
  for (size_t i = 0; i < choose_.size(); ++i) {
    choose_[i][0] = 0;
    for (size_t n = 1; n <= unnamed_; ++n)
      choose_[i][n] = choose_[i][n - 1] + (i == 0 ? 1 : choose_[i - 1][n]);
  }
  make_partitions();
  make_arrangements();
}

void BlockPatterns::make_partitions() {
  for (size_t sum = 0; sum <= unnamed_; ++sum) {
    std::vector<uint8_t> stacks(unnamed_ + 1, 0);
    add_partitions(sum, sum, stacks, heights_.emplace_back());
    partitions_[sum] = static_cast<uint32_t>(heights_.back().size());
  }
  // A multiplier is tried until no two partitions of a sum share a place, with ever more room.
  Random random(2);
  for (uint32_t tries = 1;; ++tries) {
    if (tries % 256 == 1) ++bits_;
    multiplier_ = static_cast<uint32_t>(random.next()) | 1;
    by_key_.assign((unnamed_ + 1) << bits_, std::numeric_limits<uint16_t>::max());
    const auto fits = [&](size_t sum) {
      for (size_t rank = 0; rank < heights_[sum].size(); ++rank) {
        uint16_t& slot = by_key_[sum << bits_ | (key_of(heights_[sum][rank]) * multiplier_) >> (32 - bits_)];
        if (slot != std::numeric_limits<uint16_t>::max()) return false;
        slot = static_cast<uint16_t>(rank);
      }
      return true;
    };
    bool all = true;
    for (size_t sum = 0; sum <= unnamed_ && all; ++sum) all = fits(sum);
    if (all) return;
  }
}

// Every choice of what comes next below each named block, without circles and without two on one.
void BlockPatterns::make_arrangements() {
  by_code_.assign(size_t{1} << (kMostNamed * kMostNamed), kUnused);
  const size_t choices = named_ + 1;
  size_t all = 1;
  for (size_t i = 0; i < named_; ++i) all *= choices;
  for (size_t choice = 0; choice < all; ++choice) {
    Arrangement one;
    one.on.fill(kNone);
    one.tops.fill(kNone);
    size_t rest = choice;
    std::array<int, kMostNamed + 1> carried{};
    for (size_t b = 0; b < named_; ++b, rest /= choices) {
      one.on[b] = rest % choices == named_ ? kNone : static_cast<uint8_t>(rest % choices);
      ++carried[one.on[b]];
    }
    uint32_t code = 0;
    bool possible = true;
    for (size_t b = 0; b < named_ && possible; ++b) {
      if (carried[b] > 1) possible = false;
      if (carried[b] == 0) one.tops[one.stacks++] = static_cast<uint8_t>(b);
      uint32_t below = 0;
      for (uint8_t at = one.on[b]; at != kNone && possible; at = one.on[at]) {
        possible = at != b && (below >> at & 1) == 0;
        below |= 1u << at;
      }
      code |= below << (b * kMostNamed);
    }
    if (!possible) continue;
    const size_t parts = named_ + one.stacks;
    for (size_t unnamed = 0; unnamed <= unnamed_; ++unnamed) {
      one.first[unnamed] = one.shifted[unnamed] = static_cast<uint32_t>(size_);
      for (size_t i = parts - 1; i < choose_.size(); ++i)
        one.shifted[unnamed] -= choose_[i][unnamed] * partitions_[unnamed_ - unnamed];
      // Compositions of a number into n parts: one of n things for each way to choose n - 1 dividers.
      uint64_t gaps = 1;
      for (size_t i = 1; i < parts; ++i) gaps = gaps * (unnamed + i) / i;
      size_ += gaps * partitions_[unnamed_ - unnamed];
    }
    by_code_[code] = static_cast<uint8_t>(arrangements_.size());
    arrangements_.push_back(one);
  }
  if (size_ > size_t{1} << 30) throw InputError("a pattern with more than 2^30 states is too large");
}

BlockPatterns::Form BlockPatterns::form(const Blocks& space, const Blocks::State& state,
                                        const std::vector<int>& pattern) const {
  std::array<uint8_t, Blocks::kMaxBlocks + 1> name{};
  name.fill(kNone);
  for (size_t b = 0; b < named_; ++b) name[pattern[b]] = static_cast<uint8_t>(b);
  Form form;
  form.on.fill(kNone);
  // Unnamed blocks from under `block` down to a named one, or the table.
  const auto unnamed_below = [&](size_t block) {
    uint8_t count = 0;
    size_t at = state.under[block];
    for (; at != 0 && name[at] == kNone; at = state.under[at]) ++count;
    return std::pair{count, at == 0 ? kNone : name[at]};
  };
  for (size_t block = 1; block <= static_cast<size_t>(space.size()); ++block) {
    const auto [count, next] = unnamed_below(block);
    if (name[block] != kNone) {
      form.gap[name[block]] = count;
      form.on[name[block]] = next;
    } else if ((state.clear >> block & 1) != 0) {
      if (next == kNone)
        ++form.plain[count + size_t{1}];
      else
        form.above[next] = static_cast<uint8_t>(count + 1);
    }
  }
  return form;
}

uint32_t BlockPatterns::index(const Form& form) const {
  uint32_t code = 0;
  for (size_t b = 0; b < named_; ++b)
    for (uint8_t at = form.on[b]; at != kNone; at = form.on[at]) code |= 1u << (b * kMostNamed + at);
  const Arrangement& chosen = arrangement(code);
  Parts parts{};
  for (size_t b = 0; b < named_; ++b) parts[b] = form.gap[b];
  for (size_t i = 0; i < chosen.stacks; ++i) parts[named_ + i] = form.above[chosen.tops[i]];
  return index(chosen, parts, key_of(form.plain));
}

BlockPatterns::Form BlockPatterns::form(uint32_t index) const {
  const auto chosen = std::prev(
      std::upper_bound(arrangements_.begin(), arrangements_.end(), index,
                       [](uint32_t wanted, const Arrangement& one) { return wanted < one.first[0]; }));
  const auto begin = chosen->first.begin();
  const auto unnamed =
      static_cast<size_t>(std::upper_bound(begin, begin + static_cast<ptrdiff_t>(unnamed_) + 1, index) -
                          begin) -
      1;
  index -= chosen->first[unnamed];
  const size_t rest = unnamed_ - unnamed;
  Form form;
  form.on = chosen->on;
  std::ranges::copy(heights_[rest][index % partitions_[rest]], form.plain.begin());
  uint32_t rank = index / partitions_[rest];
  // The sums of parts from the last on, each as large as its share of the rank allows.
  Parts parts{};
  size_t sum = unnamed;
  for (size_t i = named_ + chosen->stacks - size_t{1}; i > 0; --i) {
    size_t before = sum;
    while (choose_[i - 1][before] > rank) --before;
    rank -= choose_[i - 1][before];
    parts[i] = static_cast<uint8_t>(sum - before);
    sum = before;
  }
  parts[0] = static_cast<uint8_t>(sum);
  for (size_t b = 0; b < named_; ++b) form.gap[b] = parts[b];
  for (size_t i = 0; i < chosen->stacks; ++i) form.above[chosen->tops[i]] = parts[named_ + i];
  return form;
}

}  // namespace hstar
