// A learned heuristic: a model gives raw numbers for a state, a belief makes one value of them (see
// estimates/belief.h), with the help of two other heuristics if they are given: `base`, to whose value the
// first number is added, and `lower`, an admissible bound.
//
// A batch is evaluated part by part. A state that a safe part calls a dead end is one. What a part that is
// not safe calls infinite is a number like others: the state is a dead end if the belief makes infinity of
// it, which an upper bound of a clip prevents. Goal states are worth 0, whatever the parts say; negative
// values count as 0; NaN is an error, but for goals and dead ends, where no value is asked for. Values are
// rounded to the nearest unit, calibrated and bounded ones down, so that their promise survives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "estimates/belief.h"
#include "heuristics/heuristic.h"
#include "heuristics/raw_model.h"

namespace hstar {

struct BelievedParts {
  std::shared_ptr<RawModel> model;
  Belief belief;
  std::shared_ptr<Heuristic> base, lower;
};

// `base` and `lower` may be missing, and may be the same: then it is computed once. They, and the model, may
// belong to another space that has the same states and goal. Values are in units of 1/scale.
std::unique_ptr<Heuristic> believed_heuristic(const SearchSpace& space, BelievedParts parts,
                                              const std::string& name, int32_t scale);

// Throws InputError if these do not fit together; `lower` may be missing.
void check_belief(const RawModel& model, const Belief& belief, const Heuristic* lower,
                  const std::string& name);

}  // namespace hstar
