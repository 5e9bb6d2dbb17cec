// What the kernels share: vectors of the compiler, which maps them to what the machine has, and tiles of
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hstar {

constexpr size_t kLanes = 8;
using Floats = float __attribute__((vector_size(32)));
using Ints = int32_t __attribute__((vector_size(32)));

template <class Vector>
Vector load(const void* p) {
  Vector v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
template <class Vector>
void store(void* p, Vector v) {
  std::memcpy(p, &v, sizeof(v));
}
inline Floats relu_of(Floats v) { return v > 0 ? v : Floats{}; }

// f<rows>(), where rows is at most kMost.
template <size_t kMost, class F>
void with_rows(size_t rows, const F& f) {
  if (rows == kMost)
    f.template operator()<kMost>();
  else if constexpr (kMost > 1)
    with_rows<kMost - 1>(rows, f);
}

// f<rows, panels>(first row, first panel) for tiles that cover n rows by `panels`. A panel meets all rows
// before the next, so that it is read from afar once. Tiles have up to kTile rows and are as even as can be:
// the few rows that larger ones leave over would be short of sums to add to while an addition takes its time.
// Up to kFew rows therefore get two panels at once.
template <size_t kTile, size_t kFew, class F>
void for_tiles(size_t n, size_t panels, const F& f) {
  size_t panel = 0;
  if (n <= kFew)
    for (; panel + 2 <= panels; panel += 2)
      with_rows<kFew>(n, [&]<size_t kRows>() { f.template operator()<kRows, 2>(0, panel); });
  for (; panel < panels; ++panel) {
    size_t first = 0;
    for (size_t tiles = (n + kTile - 1) / kTile; tiles > 0; --tiles) {
      const size_t rows = (n - first + tiles - 1) / tiles;
      with_rows<kTile>(rows, [&]<size_t kRows>() { f.template operator()<kRows, 1>(first, panel); });
      first += rows;
    }
  }
}

}  // namespace hstar
