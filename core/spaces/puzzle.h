// What a native puzzle gives: one mutable state with apply and undo, where a planning task has many packed
// ones with operators.
//
// Invariant: every move costs 1 and has an inverse that is a move again. `apply` returns this inverse, so
// that undoing is applying it, and the predecessors of a state are its successors.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/random.h"

namespace hstar {

// `State` is plain data of fixed size. `Buffer` is room for the moves of a state, empty where all lists of
// moves are known beforehand. `actions` gives the moves in the order that searches follow; `checked` throws
// an InputError for values that are no state; `kNoAction` is none of the moves.
template <class S>
concept Puzzle = requires(const S& space, typename S::State& state, const typename S::State& fixed,
                          typename S::Action action, typename S::Buffer& buffer, uint32_t* words,
                          const uint32_t* packed, const std::vector<int>& values) {
  { S::kNoAction } -> std::convertible_to<typename S::Action>;
  { space.goal() } -> std::convertible_to<typename S::State>;
  { space.is_goal(fixed) } -> std::same_as<bool>;
  { space.actions(fixed, buffer) } -> std::same_as<std::span<const typename S::Action>>;
  { space.apply(state, action) } -> std::same_as<typename S::Action>;
  { space.words() } -> std::same_as<size_t>;
  { space.pack(fixed, words) };
  { space.unpack(packed) } -> std::same_as<typename S::State>;
  { space.checked(values) } -> std::same_as<typename S::State>;
  { space.values(fixed) } -> std::same_as<std::vector<int>>;
};

// Throws an InputError unless the numbers are 0..n-1, each once; `what` names one of them, as in "tile".
inline void check_permutation(const std::vector<int>& numbers, size_t n, const char* what) {
  const std::string range = "0.." + std::to_string(n - 1);
  if (numbers.size() != n)
    throw InputError("expected " + std::to_string(n) + " numbers, " + range + " once each, got " +
                     std::to_string(numbers.size()));
  std::vector<bool> seen(n, false);
  for (const int number : numbers) {
    const std::string name = std::string(what) + " " + std::to_string(number);
    if (number < 0 || static_cast<size_t>(number) >= n) throw InputError(name + " is not in " + range);
    if (seen[number]) throw InputError(name + " appears twice; expected " + range + " once each");
    seen[number] = true;
  }
}

// A random walk that does not take a move back at once, unless there is no other move.
template <Puzzle Space>
void walk(const Space& space, typename Space::State& state, uint64_t steps, Random& random) {
  using Action = typename Space::Action;
  typename Space::Buffer buffer;
  Action back = Space::kNoAction;
  std::vector<Action> choices;
  for (uint64_t i = 0; i < steps; ++i) {
    const std::span<const Action> all = space.actions(state, buffer);
    choices.clear();
    for (const Action action : all)
      if (action != back || all.size() == 1) choices.push_back(action);
    if (choices.empty()) return;  // a puzzle of one state
    back = space.apply(state, choices[random.below(static_cast<uint32_t>(choices.size()))]);
  }
}

}  // namespace hstar
