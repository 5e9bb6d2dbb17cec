// The operators applicable in a state, by a decision tree over their preconditions (Helmert, JAIR 2006,
// section 5.3.1), flattened into one array of integers so that a walk touches little memory.
//
// Node layout: [n, operator * n, rest]. `rest` is empty for n < 0 (then -n-1 operators and a leaf), else
// [variable, default child, children * domain size] with a child 0 for none. Branches with few
// children use [-variable-1, default child, count, (value, child) * count].
#pragma once

#include <cstdint>
#include <vector>

#include "task/task.h"

namespace hstar {

class SuccessorGenerator {
 public:
  explicit SuccessorGenerator(const Task& task);

  // Appends the numbers of the applicable operators, always in the same order.
  void generate(const Value* values, std::vector<int32_t>& operators) const {
    walk(root_, values, operators);
  }

 private:
  struct Builder;
  void walk(int32_t node, const Value* values, std::vector<int32_t>& operators) const;

  std::vector<int32_t> code_;
  int32_t root_ = 0;
};

}  // namespace hstar
