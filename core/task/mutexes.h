// Which pairs of facts never hold together: values of one variable, and the translator's mutex groups.
#pragma once

#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

class Mutexes {
 public:
  explicit Mutexes(const Task& task) : ids_(task), groups_of_(ids_.size()) {
    for (int32_t group = 0; group < static_cast<int32_t>(task.mutex_groups.size()); ++group) {
      for (const Fact& fact : task.mutex_groups[group]) {
        std::vector<int32_t>& own = groups_of_[ids_(fact)];
        if (own.empty() || own.back() != group) own.push_back(group);  // a group may name a fact twice
      }
    }
  }

  // Those of a fact, sorted.
  const std::vector<int32_t>& groups(Fact fact) const { return groups_of_[ids_(fact)]; }

  bool are_mutex(Fact a, Fact b) const {
    if (a.variable == b.variable) return a.value != b.value;
    const std::vector<int32_t>&left = groups(a), &right = groups(b);
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      if (left[i] == right[j]) return true;
      left[i] < right[j] ? ++i : ++j;
    }
    return false;
  }

 private:
  FactIds ids_;
  std::vector<std::vector<int32_t>> groups_of_;  // per fact
};

}  // namespace hstar
