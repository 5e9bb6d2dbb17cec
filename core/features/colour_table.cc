#include "features/colour_table.h"

#include "base/errors.h"

namespace hstar {

ColourTable::ColourTable(std::span<const Colour> colours) : ColourTable() {
  for (const Colour colour : colours) find_or_add(colour);
  if (colours_.size() != colours.size()) throw InputError("a colour of the features is given twice");
}

int32_t ColourTable::find_or_add(Colour colour) {
  size_t at = slot(colour);
  if (slots_[at] != -1) return slots_[at];
  if (2 * (colours_.size() + 1) > slots_.size()) {
    grow();
    at = slot(colour);
  }
  slots_[at] = size();
  colours_.push_back(colour);
  return slots_[at];
}

void ColourTable::grow() {
  slots_.assign(2 * slots_.size(), -1);
  for (int32_t i = 0; i < size(); ++i) slots_[slot(colours_[i])] = i;
}

}  // namespace hstar
