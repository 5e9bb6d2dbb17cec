// Hash of a short array of 32-bit words: multiply-fold over pairs of words, in the manner of wyhash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hstar {

inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_words(const uint32_t* words, size_t n) {
  uint64_t h = 0x2d358dccaa6c78a5ULL ^ n;
  for (; n >= 2; n -= 2, words += 2) {
    const uint64_t pair = words[0] | static_cast<uint64_t>(words[1]) << 32;
    h = fold_multiply(h ^ pair, 0x8bb84b93962eacc9ULL);
  }
  if (n) h = fold_multiply(h ^ words[0], 0x4b33a62ed433d4a3ULL);
  return fold_multiply(h, 0x9e3779b97f4a7c15ULL);
}

// For tables of vectors.
struct HashNumbers {
  template <class Number>
  size_t operator()(const std::vector<Number>& numbers) const {
    static_assert(sizeof(Number) == sizeof(uint32_t));
    return hash_words(reinterpret_cast<const uint32_t*>(numbers.data()), numbers.size());
  }
};

}  // namespace hstar
