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
  explicit PartialSpace(const PlanningSpace& space);

  const Task& task() const { return space_.task(); }
  size_t variables() const { return space_.task().variables.size(); }
  size_t words() const { return packer_.words(); }

  // kUnset stands for a variable without a value.
  PackedPartial pack(const std::vector<Value>& values) const;
  std::vector<Value> unpack(const uint32_t* packed) const;

  // Appends the operators all of whose preconditions the partial state names.
  void applicable(const std::vector<Value>& values, std::vector<int32_t>& operators) const;

 private:
  explicit PartialSpace(const PlanningSpace& space, const Task& extended);
  void to_inner(const std::vector<Value>& values) const;

  const PlanningSpace& space_;
  StatePacker packer_;
  SuccessorGenerator successors_;
  mutable std::vector<Value> scratch_;  // "unset" as the value after the last
};

}  // namespace hstar
