#include "task/state_packer.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace hstar {

StatePacker::StatePacker(const Task& task) : fields_(task.variables.size()) {
  // First-fit decreasing: widest variables first, each into the first word with room. Words with room
  // are kept by the number of free bits, so that this stays linear for many variables.
  std::vector<int32_t> order(task.variables.size());
  std::iota(order.begin(), order.end(), 0);
  const auto width = [&](int32_t v) {
    return std::bit_width(static_cast<uint32_t>(task.variables[v].domain_size() - 1));
  };
  std::ranges::stable_sort(order, std::greater{}, width);
  std::vector<uint32_t> words_by_room[33];
  for (const int32_t variable : order) {
    const int bits = width(variable);
    uint32_t word = 0;
    int room = 0;
    for (int r = bits; r <= 32 && bits > 0; ++r) {
      if (words_by_room[r].empty()) continue;
      word = words_by_room[r].back();
      words_by_room[r].pop_back();
      room = r;
      break;
    }
    if (bits > 0 && room == 0) {
      word = static_cast<uint32_t>(words_++);
      room = 32;
    }
    const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    fields_[variable] = {word, bits ? static_cast<uint32_t>(32 - room) : 0, mask};
    if (room > bits) words_by_room[room - bits].push_back(word);
  }
  words_ = std::max<size_t>(words_, 1);
}

void StatePacker::pack(const Value* values, uint32_t* packed) const {
  std::fill_n(packed, words_, 0u);
  for (const Field& field : fields_) packed[field.word] |= static_cast<uint32_t>(*values++) << field.shift;
}

std::vector<StatePacker::Patch> StatePacker::patches(const std::vector<Fact>& facts) const {
  std::vector<Patch> result;  // by word
  for (const Fact& fact : facts) {
    const Field& field = fields_[fact.variable];
    auto at = std::ranges::lower_bound(result, field.word, {}, &Patch::word);
    if (at == result.end() || at->word != field.word) at = result.insert(at, {field.word, 0, 0});
    Patch& patch = *at;
    const uint32_t mask = field.mask << field.shift;
    patch.mask |= mask;
    patch.bits = (patch.bits & ~mask) | static_cast<uint32_t>(fact.value) << field.shift;
  }
  return result;
}

}  // namespace hstar
