// Searches of puzzles, and values of their states: with a heuristic by name, with databases, or with a
// network.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/control.h"
#include "heuristics/heuristic.h"
#include "heuristics/puzzle_network.h"
#include "heuristics/puzzle_parts.h"
#include "search/iterative_deepening.h"
#include "spaces/puzzle_space.h"

namespace hstar {

// What a heuristic of a puzzle claims; docs and contract tests read it.
struct PuzzleHeuristicInfo {
  const char* name;
  bool admissible;
  bool consistent;
};

// A name, or something that was built for the space before: databases, if there are any, or a network.
template <Puzzle Space>
using HeuristicChoice = std::conditional_t<
    kHasDatabases<Space>,
    std::variant<std::string, const typename Parts<Space>::Databases*, const PuzzleNetwork<Space>*>,
    std::variant<std::string, const PuzzleNetwork<Space>*>>;

// Defined for all puzzles. An unknown name is an InputError with the known ones.
template <Puzzle Space>
std::vector<PuzzleHeuristicInfo> puzzle_heuristics();

// A value for each state.
template <Puzzle Space>
std::vector<int32_t> puzzle_values(const Space& space, const HeuristicChoice<Space>& heuristic,
                                   const std::vector<typename Space::State>& states);

// The value after a move as the search has it: made from the parent's.
template <Puzzle Space>
int32_t puzzle_child_value(const Space& space, const HeuristicChoice<Space>& heuristic,
                           const typename Space::State& state, typename Space::Action action);

template <Puzzle Space>
DeepeningResult puzzle_idastar(const Space& space, const HeuristicChoice<Space>& heuristic,
                               const typename Space::State& start, const DeepeningOptions& options,
                               const Limits& limits, const Observer& observer);

// The heuristic for the general searches; it keeps `owner`, to whom databases and networks belong.
template <Puzzle Space>
std::unique_ptr<Heuristic> puzzle_heuristic(const PuzzleSpace<Space>& space,
                                            const HeuristicChoice<Space>& choice,
                                            std::shared_ptr<const void> owner);

}  // namespace hstar
