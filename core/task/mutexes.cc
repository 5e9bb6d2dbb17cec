#include "task/mutexes.h"

namespace hstar {

Mutexes::Mutexes(const Task& task) : ids_(task), groups_of_(ids_.size()) {
  for (int32_t group = 0; group < static_cast<int32_t>(task.mutex_groups.size()); ++group)
    for (const Fact& fact : task.mutex_groups[group]) groups_of_[ids_(fact)].push_back(group);
}

bool Mutexes::are_mutex(Fact a, Fact b) const {
  if (a.variable == b.variable) return a.value != b.value;
  const std::vector<int32_t>& left = groups_of_[ids_(a)];
  const std::vector<int32_t>& right = groups_of_[ids_(b)];
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i] == right[j]) return true;
    left[i] < right[j] ? ++i : ++j;
  }
  return false;
}

}  // namespace hstar
