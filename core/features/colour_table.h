// Numbers for colours, in the order in which they are met: an open-addressing map that only grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/colour_refinement.h"

namespace hstar {

class ColourTable {
 public:
  ColourTable() : slots_(kFirstSlots, -1) {}
  // Distinct colours, numbered in this order.
  explicit ColourTable(std::span<const Colour> colours);

  int32_t size() const { return static_cast<int32_t>(colours_.size()); }
  const std::vector<Colour>& colours() const { return colours_; }

  // -1 if it has not been met.
  int32_t find(Colour colour) const { return slots_[slot(colour)]; }
  int32_t find_or_add(Colour colour);

 private:
  static constexpr size_t kFirstSlots = 1024;

  // Where the colour is, or the empty slot where it would be. Colours are hashes already.
  size_t slot(Colour colour) const {
    const size_t mask = slots_.size() - 1;
    size_t at = colour & mask;
    while (slots_[at] != -1 && colours_[slots_[at]] != colour) at = (at + 1) & mask;
    return at;
  }
  void grow();

  std::vector<Colour> colours_;
  std::vector<int32_t> slots_;  // a power of two, at most half full
};

}  // namespace hstar
