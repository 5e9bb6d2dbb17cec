// Minima and maxima over the last object of tuples, for a Neural Logic Machine (Dong et al., ICLR 2019) that
// no gradient is needed of: what hstar.models.nlm computes in PyTorch otherwise.
//
// Of every tuple that is one object shorter: the least and the greatest value of each channel among the
// tuples which another object makes of it, 1 and 0 if there are none. All tuples of a state come before those
// of the next, and the last object runs fastest. Tuples may share the rows of a table: a row is looked at
// once, however many objects lead to it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/poll.h"

namespace hstar {

struct TupleTable {
  const float* values;  // (parts, rows, channels)
  size_t parts, rows, channels;
};

struct TupleStates {
  std::span<const int64_t> objects;  // how many a state has
  bool exclude_self;                 // only tuples of different objects count
};

// As hstar.models.nlm_config has them: the row of a triple (i, j, k) is
// numbers[codes[0][type of ij] + codes[1][type of ik] + codes[2][type of jk]].
struct TripleTypes {
  std::span<const int32_t> of_pair;
  std::span<const int32_t> codes;  // (3, types)
  std::span<const int32_t> numbers;
};

// The result is (parts, shorter tuples, minima of the channels and then their maxima). Both throw an
// InputError if sizes do not fit each other, or a number is beyond what it counts.

// Of tuples of 1 to 3 objects: the i-th has the row row[i] of the table, or the i-th one.
void tuple_extremes(const TupleTable& table, const TupleStates& states, size_t arity,
                    std::optional<std::span<const int32_t>> row, std::span<float> result, Poll& poll);

// Of triples, by the types of their pairs.
void triple_extremes(const TupleTable& table, const TupleStates& states, const TripleTypes& types,
                     std::span<float> result, Poll& poll);

}  // namespace hstar
