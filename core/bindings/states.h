// States of a task from an array, checked, as a batch for heuristics and models.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "bindings/bindings.h"
#include "heuristics/heuristic.h"

namespace hstar {

using ValueRows =
    nanobind::ndarray<const Value, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

inline std::vector<std::vector<Value>> checked_states(const PyTask& task, const ValueRows& states) {
  const size_t width = states.shape(1);
  std::vector<std::vector<Value>> list;
  for (size_t i = 0; i < states.shape(0); ++i) {
    const Value* row = states.data() + i * width;
    list.push_back(checked_state(task, std::vector<Value>(row, row + width)));
  }
  return list;
}

inline StateBatch packed_batch(const PyTask& task, const std::vector<std::vector<Value>>& states) {
  StateBatch batch(*task.space);
  std::vector<uint32_t> packed(task.space->words());
  for (const std::vector<Value>& values : states) {
    task.space->packer().pack(values.data(), packed.data());
    batch.push(packed.data());
  }
  return batch;
}

}  // namespace hstar
