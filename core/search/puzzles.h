// Searches of puzzles, and values of their states, with a heuristic by name.
#pragma once

#include <string>
#include <vector>

#include "base/control.h"
#include "search/iterative_deepening.h"
#include "spaces/blocks.h"
#include "spaces/pancake.h"
#include "spaces/tiles.h"

namespace hstar {

// What a heuristic of a puzzle claims; docs and contract tests read it.
struct PuzzleHeuristicInfo {
  const char* name;
  bool admissible;
  bool consistent;
};

// Defined for Tiles, Pancake and Blocks. An unknown name is an InputError with the known ones.
template <Puzzle Space>
std::vector<PuzzleHeuristicInfo> puzzle_heuristics();

template <Puzzle Space>
int32_t puzzle_value(const Space& space, const std::string& heuristic, const typename Space::State& state);

// The value after a move as the search has it: made from the parent's.
template <Puzzle Space>
int32_t puzzle_child_value(const Space& space, const std::string& heuristic,
                           const typename Space::State& state, typename Space::Action action);

template <Puzzle Space>
DeepeningResult puzzle_idastar(const Space& space, const std::string& heuristic,
                               const typename Space::State& start, const DeepeningOptions& options,
                               const Limits& limits, const Observer& observer);

}  // namespace hstar
