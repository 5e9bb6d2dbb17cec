// Small numbers of equal width, side by side in 32-bit words: how a puzzle's state is kept in tables.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

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

}  // namespace hstar
