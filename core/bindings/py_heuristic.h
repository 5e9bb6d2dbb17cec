// A heuristic together with the task whose space it refers to.
#pragma once

#include <memory>

#include "bindings/bindings.h"
#include "heuristics/heuristic.h"

namespace hstar {

struct PyHeuristic {
  PyTask task;  // first, so that the space outlives the heuristic
  std::unique_ptr<Heuristic> heuristic;
};

}  // namespace hstar
