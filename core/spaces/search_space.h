// What a best-first search asks of a state space: packed states, their successors, and which are goals. A
// planning task, a native puzzle, a grid and a user's own space are each one of these, so that every engine
// in search/ is compiled once and runs on all of them.
//
// The interface is virtual, but called once an expansion or once a batch of states, never once a state.
// Spaces are immutable and serve any number of searches at a time: what is written is in `Expansion`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/errors.h"

namespace hstar {

using Value = int32_t;
using Cost = int32_t;

// No step and no heuristic value is above this, so that a sum of two fits into Cost.
constexpr Cost kMaxCost = 1 << 29;

// The successors of a few states, those of one state after those of the state before it.
struct Expansion {
  std::vector<int32_t> operators;
  std::vector<Cost> costs;
  std::vector<uint32_t> states;  // packed
  std::vector<uint32_t> ends;    // for each state: the number of successors of it and of those before it
  std::vector<Value> values;     // room for a space that unpacks states

  size_t size() const { return operators.size(); }
  void clear() {
    operators.clear();
    costs.clear();
    ends.clear();
  }
};

class SearchSpace {
 public:
  virtual ~SearchSpace() = default;

  virtual size_t words() const = 0;  // 32-bit words of a packed state
  virtual size_t width() const = 0;  // numbers of an unpacked state
  // Throws an InputError for numbers that are no state.
  virtual void pack(const Value* values, uint32_t* packed) const = 0;
  virtual void unpack(const uint32_t* packed, Value* values) const = 0;

  // Fills `expansion` with the successors of `n` packed states, in the order that searches follow. An
  // operator is a number that together with the state names the step.
  virtual void expand(const uint32_t* packed, size_t n, Expansion& expansion) const = 0;
  // One flag for each of `n` packed states.
  virtual void goals(const uint32_t* packed, size_t n, char* is_goal) const = 0;

  // Writes the state after a step and gives its cost. `expansion` is scratch.
  virtual Cost apply(const uint32_t* packed, int32_t op, uint32_t* result, Expansion& expansion) const {
    expand(packed, 1, expansion);
    const auto found = std::ranges::find(expansion.operators, op);
    if (found == expansion.operators.end())
      throw InputError("the successors of a state are not the same when they are asked for again");
    const auto i = static_cast<size_t>(found - expansion.operators.begin());
    std::copy_n(&expansion.states[i * words()], words(), result);
    return expansion.costs[i];
  }

  // Fills `expansion.operators` alone, for searches that put off making successors.
  virtual void operators_of(const uint32_t* packed, Expansion& expansion) const {
    expand(packed, 1, expansion);
  }

  bool is_goal(const uint32_t* packed) const {
    char goal = 0;
    goals(packed, 1, &goal);
    return goal != 0;
  }

  // Operators are below this number where they are a list that is known beforehand; else 0.
  virtual size_t operators() const { return 0; }
  // What a cost of 1 is for people, in the units of Cost.
  virtual Cost unit() const { return 1; }
  // States that should be expanded together, unless a search is asked otherwise.
  virtual size_t batch() const { return 1; }
};

}  // namespace hstar
