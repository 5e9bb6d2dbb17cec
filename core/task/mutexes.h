// Which pairs of facts never hold together: values of one variable, and the translator's mutex groups.
#pragma once

#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

class Mutexes {
 public:
  explicit Mutexes(const Task& task);

  bool are_mutex(Fact a, Fact b) const;

 private:
  FactIds ids_;
  std::vector<std::vector<int32_t>> groups_of_;  // per fact, sorted
};

}  // namespace hstar
