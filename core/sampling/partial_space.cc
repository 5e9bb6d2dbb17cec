#include "sampling/partial_space.h"

namespace hstar {
namespace {

Task with_unset_values(const Task& task) {
  Task extended;
  for (const Variable& variable : task.variables) {
    Variable copy;
    copy.fact_names.resize(variable.domain_size() + 1);
    extended.variables.push_back(std::move(copy));
  }
  extended.operators.resize(task.operators.size());
  for (size_t op = 0; op < task.operators.size(); ++op)
    extended.operators[op].preconditions = task.operators[op].preconditions;
  return extended;
}

}  // namespace

PartialSpace::PartialSpace(const PlanningSpace& space)
    : PartialSpace(space, with_unset_values(space.task())) {}

PartialSpace::PartialSpace(const PlanningSpace& space, const Task& extended)
    : space_(space), packer_(extended), successors_(extended) {}

void PartialSpace::to_inner(const std::vector<Value>& values) const {
  scratch_ = values;
  for (size_t v = 0; v < values.size(); ++v)
    if (values[v] == kUnset) scratch_[v] = task().variables[v].domain_size();
}

PackedPartial PartialSpace::pack(const std::vector<Value>& values) const {
  to_inner(values);
  PackedPartial packed(words());
  packer_.pack(scratch_.data(), packed.data());
  return packed;
}

std::vector<Value> PartialSpace::unpack(const uint32_t* packed) const {
  std::vector<Value> values(variables());
  packer_.unpack(packed, values.data());
  for (size_t v = 0; v < values.size(); ++v)
    if (values[v] == task().variables[v].domain_size()) values[v] = kUnset;
  return values;
}

void PartialSpace::applicable(const std::vector<Value>& values, std::vector<int32_t>& operators) const {
  to_inner(values);
  successors_.generate(scratch_.data(), operators);
}

}  // namespace hstar
