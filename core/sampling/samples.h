// What a sampler hands over: states as bits of atoms, and a label each.
#pragma once

#include <cstdint>
#include <vector>

#include "task/atoms.h"

namespace hstar {

struct Samples {
  size_t words = 0;
  std::vector<BitWord> states;  // `words` each
  std::vector<int32_t> label;
  // Whether the label is known to be no less than h* (with unit costs); else it is a guess.
  std::vector<uint8_t> bound;

  size_t size() const { return label.size(); }
};

}  // namespace hstar
