// xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64: the one source of randomness in the
// core, so that one seed fixes a run on every platform.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hstar {

constexpr uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = splitmix64(seed);
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound), without the bias of a plain modulus (Lemire, 2019).
  uint32_t below(uint32_t bound) {
    uint64_t product = (next() >> 32) * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = -bound % bound;
      while (static_cast<uint32_t>(product) < threshold) product = (next() >> 32) * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // True with that probability.
  bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<uint32_t>(i))]);
  }

 private:
  uint64_t state_[4];
};

}  // namespace hstar
