// A heuristic together with the space that it refers to.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "base/errors.h"
#include "bindings/bindings.h"
#include "heuristics/heuristic.h"

namespace hstar {

struct PyHeuristic {
  std::shared_ptr<const SearchSpace> space;  // first, so that the space outlives the heuristic
  std::unique_ptr<Heuristic> heuristic;      // empty once another has taken it over

  Heuristic& get() const {
    if (!heuristic) throw InputError("this heuristic is part of another now");
    return *heuristic;
  }
};

}  // namespace hstar
