// Partial states as a space of their own: each variable has one more value, "unset". Packs them, and lists
// the operators whose preconditions a partial state names.
#pragma once

#include <cstdint>
#include <vector>

#include "task/planning_space.h"
#include "task/regression.h"
#include "task/state_packer.h"
#include "task/successor_generator.h"

namespace hstar {

using PackedPartial = std::vector<uint32_t>;

class PartialSpace {
 public:
  explicit PartialSpace(const PlanningSpace& space) : PartialSpace(space, with_unset_values(space.task())) {}

  const Task& task() const { return space_.task(); }

  // kUnset stands for a variable without a value.
  PackedPartial pack(const std::vector<Value>& values) const {
    to_inner(values);
    PackedPartial packed(packer_.words());
    packer_.pack(scratch_.data(), packed.data());
    return packed;
  }

  // Appends the operators all of whose preconditions the partial state names.
  void applicable(const std::vector<Value>& values, std::vector<int32_t>& operators) const {
    to_inner(values);
    successors_.generate(scratch_.data(), operators);
  }

 private:
  PartialSpace(const PlanningSpace& space, const Task& extended)
      : space_(space), packer_(extended), successors_(extended) {}
  static Task with_unset_values(const Task& task) {
    Task extended;
    for (const Variable& variable : task.variables)
      extended.variables.emplace_back().fact_names.resize(variable.domain_size() + 1);
    for (const Operator& op : task.operators) extended.operators.add("", 1, op.preconditions, Effects());
    return extended;
  }
  void to_inner(const std::vector<Value>& values) const {
    scratch_ = values;
    for (size_t v = 0; v < values.size(); ++v)
      if (values[v] == kUnset) scratch_[v] = task().variables[v].domain_size();
  }

  const PlanningSpace& space_;
  StatePacker packer_;
  SuccessorGenerator successors_;
  mutable std::vector<Value> scratch_;  // "unset" as the value after the last
};

}  // namespace hstar
