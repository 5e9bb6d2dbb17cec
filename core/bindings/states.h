// States of a task from an array, checked, as a batch for heuristics and models.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "heuristics/heuristic.h"

namespace hstar {

using ValueRows =
    nanobind::ndarray<const Value, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

// A batch of states, each checked by the space.
inline StateBatch checked_batch(const SearchSpace& space, const ValueRows& states) {
  if (states.shape(1) != space.width())
    throw InputError("a state has " + std::to_string(space.width()) + " values, not " +
                     std::to_string(states.shape(1)));
  StateBatch batch(space);
  std::vector<uint32_t> packed(space.words());
  for (size_t i = 0; i < states.shape(0); ++i) {
    space.pack(states.data() + i * space.width(), packed.data());
    batch.push(packed.data());
  }
  return batch;
}

inline std::vector<std::vector<Value>> checked_states(const PyTask& task, const ValueRows& states) {
  const size_t width = states.shape(1);
  std::vector<std::vector<Value>> list;
  for (size_t i = 0; i < states.shape(0); ++i) {
    const Value* row = states.data() + i * width;
    list.push_back(checked_state(task, std::vector<Value>(row, row + width)));
  }
  return list;
}

}  // namespace hstar
