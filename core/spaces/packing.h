// Small numbers of equal width, side by side in 32-bit words: how a puzzle's state is kept in tables.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hstar {

// Bits of a number in 0..largest; at least one, so that a packed state is never empty.
constexpr int bits_for(uint32_t largest) { return largest < 2 ? 1 : std::bit_width(largest); }

constexpr size_t packed_words(size_t n, int bits) { return (n * static_cast<size_t>(bits) + 31) / 32; }

// Writes packed_words(n, bits) words; the bits after the last number are 0, so that equal states have equal
// words. `bits` is at most 8.
inline void pack_values(const uint8_t* values, size_t n, int bits, uint32_t* words) {
  uint64_t pending = 0;
  int used = 0;
  for (size_t i = 0; i < n; ++i) {
    pending |= uint64_t{values[i]} << used;
    used += bits;
    if (used < 32) continue;
    *words++ = static_cast<uint32_t>(pending);
    pending >>= 32;
    used -= 32;
  }
  if (used > 0) *words = static_cast<uint32_t>(pending);
}

inline void unpack_values(const uint32_t* words, size_t n, int bits, uint8_t* values) {
  const uint32_t mask = (1u << bits) - 1;
  uint64_t pending = 0;
  int available = 0;
  for (size_t i = 0; i < n; ++i) {
    if (available < bits) {
      pending |= uint64_t{*words++} << available;
      available += 32;
    }
    values[i] = static_cast<uint8_t>(pending & mask);
    pending >>= bits;
    available -= bits;
  }
}

// What puzzles share whose state is an array of small numbers, from its place `kFirst` on: how it is shown
// and packed. `kPieces` is the array.
template <class State_, auto kPieces_, size_t kFirst = 0>
class NumberedStates {
 public:
  using State = State_;
  static constexpr auto kPieces = kPieces_;

  int size() const { return static_cast<int>(n_); }
  State goal() const { return goal_; }
  std::vector<int> values(const State& state) const { return {numbers(state), numbers(state) + n_}; }
  size_t words() const { return packed_words(n_, bits_); }
  void pack(const State& state, uint32_t* words) const { pack_values(numbers(state), n_, bits_, words); }

 protected:
  // `n` numbers of 0..largest; whoever derives from it sets the goal.
  NumberedStates(int n, int largest)
      : n_(static_cast<size_t>(n)), bits_(bits_for(static_cast<uint32_t>(largest))) {}
  void unpack_into(const uint32_t* words, State& state) const {
    unpack_values(words, n_, bits_, (state.*kPieces).data() + kFirst);
  }

  State goal_;

 private:
  static const uint8_t* numbers(const State& state) { return (state.*kPieces).data() + kFirst; }

  size_t n_;
  int bits_;
};

}  // namespace hstar
