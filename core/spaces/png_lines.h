// The filters of PNG (ISO/IEC 15948, clause 9), undone: an image of a map has each byte of a line relative to
// what the bytes to the left, above, and above to the left say about it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

namespace hstar {

// The byte of the three that is nearest to left + up - corner, the first of them if several are.
inline int paeth(int left, int up, int corner) {
  const int to_left = std::abs(up - corner), to_up = std::abs(left - corner);
  const int to_corner = std::abs(left + up - 2 * corner);
  if (to_left <= to_up && to_left <= to_corner) return left;
  return to_up <= to_corner ? up : corner;
}

// `lines` have a filter each, 0 to 4, and then as many bytes as the line `above` all of them; the pixel to
// the left is `step` bytes before.
inline std::vector<uint8_t> unfiltered(std::span<const uint8_t> lines, std::span<const uint8_t> above,
                                       size_t step) {
  const size_t width = above.size(), rows = lines.size() / (width + 1);
  std::vector<uint8_t> result(rows * width);
  const uint8_t* up = above.data();
  for (size_t row = 0; row < rows; ++row) {
    const uint8_t* line = &lines[row * (width + 1)];
    const uint8_t filter = *line++;
    uint8_t* const to = result.data() + row * width;
    const auto undo = [&](const auto& guess) {
      for (size_t i = 0; i < width; ++i) {
        const bool first = i < step;
        to[i] =
            static_cast<uint8_t>(line[i] + guess(first ? 0 : to[i - step], up[i], first ? 0 : up[i - step]));
      }
    };
    if (filter == 0) undo([](int, int, int) { return 0; });
    if (filter == 1) undo([](int left, int, int) { return left; });
    if (filter == 2) undo([](int, int above_it, int) { return above_it; });
    if (filter == 3) undo([](int left, int above_it, int) { return (left + above_it) / 2; });
    if (filter == 4) undo(paeth);
    up = to;
  }
  return result;
}

}  // namespace hstar
