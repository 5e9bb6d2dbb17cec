#include "task/atoms.h"

#include <algorithm>

namespace hstar {

Atoms::Atoms(const Task& task) : ids_(task) {
  for (int32_t v = 0; v < static_cast<int32_t>(task.variables.size()); ++v) {
    first_.push_back(size());
    for (Value value = 0; value < task.variables[v].domain_size(); ++value) {
      const bool positive = task.variables[v].fact_names[value].starts_with("Atom ");
      atom_of_.push_back(positive ? size() : -1);
      if (positive) facts_.push_back({v, value});
    }
  }
  first_.push_back(size());
}

void Atoms::encode(const Value* values, BitWord* bits) const {
  std::fill_n(bits, words(), BitWord{0});
  for (int32_t v = 0; v + 1 < static_cast<int32_t>(first_.size()); ++v)
    if (const int32_t at = atom({v, values[v]}); at != -1) set_bit(bits, at);
}

}  // namespace hstar
