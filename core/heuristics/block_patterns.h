// Blocks of which up to four have names and the others look alike: the patterns of databases of blocks, and a
// number for each way that such blocks can stand.
//
// A state of a pattern is: which named block comes next below each named one in its stack, if any (an
// arrangement); how many unnamed blocks lie between the two, and on the uppermost named block of a stack (the
// gaps); and the heights of stacks without names. The index of a state is that of its arrangement, then of
// the gaps by the combinatorial number system, then of the heights among the partitions of the unnamed blocks
// that remain. It has no holes: 2,278,239 states for 15 blocks with 4 names.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "spaces/blocks.h"

namespace hstar {

// A number for each height, 0 for none; its sum over stacks tells which heights there are.
constexpr auto kStackKeys = [] {
  std::array<uint32_t, Blocks::kMaxBlocks + 1> keys{};
  uint64_t seed = 1;
  for (size_t height = 1; height < keys.size(); ++height)
    keys[height] = static_cast<uint32_t>(splitmix64(seed));
  return keys;
}();

class BlockPatterns {
 public:
  static constexpr size_t kMostNamed = 4;
  static constexpr size_t kMostUnnamed = 18;
  static constexpr uint8_t kNone = kMostNamed;  // of named blocks
  using Parts = std::array<uint8_t, 2 * kMostNamed>;

  struct Arrangement {
    std::array<uint8_t, kMostNamed> on{};    // by named block: the next one below, kNone on the lowest
    std::array<uint8_t, kMostNamed> tops{};  // the uppermost ones in their order, then kNone
    uint8_t stacks = 0;
    // By the number of unnamed blocks in these stacks: the first index, and the same less what parts that are
    // not there add to it.
    std::array<uint32_t, kMostUnnamed + 1> first{}, shifted{};
  };

  // A state of a pattern, for building databases.
  struct Form {
    std::array<uint8_t, kMostNamed> on{};           // as in an arrangement
    std::array<uint8_t, kMostNamed> gap{};          // unnamed blocks from there up to this one
    std::array<uint8_t, kMostNamed> above{};        // unnamed blocks on this one, if it is uppermost
    std::array<uint8_t, kMostUnnamed + 1> plain{};  // stacks without names, by height
  };

  // Throws an InputError if there are too many blocks.
  BlockPatterns(int blocks, size_t named);

  size_t named() const { return named_; }
  size_t size() const { return size_; }

  // By the masks of named blocks below each named one, kMostNamed bits each, the first lowest.
  const Arrangement& arrangement(uint32_t code) const { return arrangements_[by_code_[code]]; }
  // `parts` are the gaps of the `named()` blocks, then what lies on the uppermost ones, then 0; `key` is the
  // sum of `kStackKeys` over stacks without names. There is no branch that depends on the state.
  uint32_t index(const Arrangement& arrangement, const Parts& parts, uint32_t key) const {
    uint32_t unnamed = 0, rank = 0;
    for (size_t i = 0; i < choose_.size(); ++i) {
      unnamed += parts[i];
      rank += choose_[i][unnamed];
    }
    unnamed += parts.back();
    const size_t rest = unnamed_ - unnamed;
    return arrangement.shifted[unnamed] + rank * partitions_[rest] +
           by_key_[rest << bits_ | (key * multiplier_) >> (32 - bits_)];
  }

  // What a pattern sees of a state; its blocks have names in their order.
  Form form(const Blocks& space, const Blocks::State& state, const std::vector<int>& pattern) const;
  uint32_t index(const Form& form) const;
  Form form(uint32_t index) const;
  // Calls `put` for all states one move away, perhaps more than once, and perhaps for the state itself.
  template <class Put>
  void neighbours(const Form& form, const Put& put) const;

 private:
  void make_arrangements();
  void make_partitions();

  size_t named_;
  size_t unnamed_;
  size_t size_ = 0;
  std::vector<Arrangement> arrangements_;
  std::vector<uint8_t> by_code_;
  // Ways to choose i + 1 of n + i things.
  std::array<std::array<uint32_t, kMostUnnamed + 1>, 2 * kMostNamed - 1> choose_{};
  std::array<uint32_t, kMostUnnamed + 1> partitions_{};     // how many, by the sum
  std::vector<std::vector<std::vector<uint8_t>>> heights_;  // by sum and rank: stacks by height
  std::vector<uint16_t> by_key_;                            // rank, by sum and hashed key
  uint32_t multiplier_ = 1;
  uint32_t bits_ = 1;
};

template <class Put>
void BlockPatterns::neighbours(const Form& form, const Put& put) const {
  // What a move takes: a named block, or kNone for an unnamed one.
  const auto is_top = [&](const Form& f, size_t b) {
    for (size_t other = 0; other < named_; ++other)
      if (other != b && f.on[other] == b) return false;
    return true;
  };
  const auto place = [&](const Form& without, uint8_t taken) {
    const auto with = [&](const auto& change) {
      Form after = without;
      change(after);
      put(after);
    };
    for (size_t height = 0; height < unnamed_ + 1; ++height) {  // onto the table, or a stack without names
      if (height > 0 && without.plain[height] == 0) continue;
      with([&](Form& after) {
        if (height > 0) --after.plain[height];
        if (taken == kNone) {
          ++after.plain[height + 1];
          return;
        }
        after.on[taken] = kNone;
        after.gap[taken] = static_cast<uint8_t>(height);
        after.above[taken] = 0;
      });
    }
    for (size_t b = 0; b < named_; ++b) {
      if (b == taken || !is_top(without, b)) continue;
      with([&](Form& after) {
        if (taken == kNone) {
          ++after.above[b];
          return;
        }
        after.on[taken] = static_cast<uint8_t>(b);
        after.gap[taken] = after.above[b];
        after.above[b] = after.above[taken] = 0;
      });
    }
  };
  for (size_t height = 1; height <= unnamed_; ++height) {
    if (form.plain[height] == 0) continue;
    Form without = form;
    --without.plain[height];
    if (height > 1) ++without.plain[height - 1];
    place(without, kNone);
  }
  for (size_t b = 0; b < named_; ++b) {
    if (!is_top(form, b)) continue;
    Form without = form;
    if (form.above[b] > 0) {
      --without.above[b];
      place(without, kNone);
      continue;
    }
    if (form.on[b] != kNone)
      without.above[form.on[b]] = form.gap[b];
    else if (form.gap[b] > 0)
      ++without.plain[form.gap[b]];
    without.on[b] = static_cast<uint8_t>(b);  // on itself: nowhere, and below no other
    place(without, static_cast<uint8_t>(b));
  }
}

}  // namespace hstar
