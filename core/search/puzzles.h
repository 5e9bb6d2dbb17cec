// Heuristics of puzzles by name, by databases, or by a network: for best-first searches, and for iterative
// deepening.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "heuristics/heuristic.h"
#include "heuristics/puzzle_network.h"
#include "heuristics/puzzle_parts.h"
#include "search/iterative_deepening.h"
#include "spaces/puzzle_space.h"

namespace hstar {

template <Puzzle Space>
class PuzzleHeuristic : public Heuristic {
 public:
  using Heuristic::Heuristic;
  // Iterative deepening as a template over space and heuristic.
  virtual std::unique_ptr<Deepening> deepening(const typename Space::State& start,
                                               const DeepeningOptions& options, Control& control) const = 0;
};

// A network of any kind of inputs and any width. Throws an InputError as FixedNetwork does.
template <Puzzle Space>
class PuzzleNetwork {
 public:
  PuzzleNetwork(const AnyInputs<Space>& inputs, const PuzzleNetworkConfig& config);

  const Space& space() const { return space_; }
  std::unique_ptr<PuzzleHeuristic<Space>> heuristic(const PuzzleSpace<Space>& space) const {
    return make_(space);
  }

 private:
  Space space_;
  std::function<std::unique_ptr<PuzzleHeuristic<Space>>(const PuzzleSpace<Space>&)> make_;
};

// A name, or something that was built for the space before: databases, if there are any, or a network.
template <Puzzle Space>
using HeuristicChoice = std::conditional_t<
    kHasDatabases<Space>,
    std::variant<std::string, const typename Parts<Space>::Databases*, const PuzzleNetwork<Space>*>,
    std::variant<std::string, const PuzzleNetwork<Space>*>>;

// Defined for all puzzles, in a file for each, as are networks.
template <Puzzle Space>
std::vector<Claims> puzzle_heuristics();
// Keeps `owner`, to whom databases belong. An unknown name is an InputError with the known ones.
template <Puzzle Space>
std::unique_ptr<PuzzleHeuristic<Space>> puzzle_heuristic(const PuzzleSpace<Space>& space,
                                                         const HeuristicChoice<Space>& choice,
                                                         std::shared_ptr<const void> owner);

template <Puzzle Space>
DeepeningResult puzzle_idastar(const Space& puzzle, const HeuristicChoice<Space>& choice,
                               const typename Space::State& start, const DeepeningOptions& options,
                               const Limits& limits, const Observer& observer) {
  const PuzzleSpace<Space> space(puzzle);
  const auto heuristic = puzzle_heuristic<Space>(space, choice, nullptr);
  DeepeningResult result;
  Control control(limits, observer, 1);
  control.run(result, [&] { result = heuristic->deepening(start, options, control)->run(); });
  return result;
}

// A value for each state, or with a move, of each state after it as the search has it: made from the
// parent's.
template <Puzzle Space>
std::vector<Cost> puzzle_values(const Space& puzzle, const HeuristicChoice<Space>& choice,
                                const std::vector<typename Space::State>& states,
                                typename Space::Action move = Space::kNoAction) {
  const PuzzleSpace<Space> space(puzzle);
  const auto heuristic = puzzle_heuristic<Space>(space, choice, nullptr);
  StateBatch batch(space);
  std::vector<uint32_t> packed(space.words());
  for (const typename Space::State& state : states) {
    puzzle.pack(state, packed.data());
    batch.push(packed.data(), move);
  }
  if (move != Space::kNoAction) batch.set_parent(packed.data());
  std::vector<Cost> values(states.size());
  heuristic->evaluate(batch, 0, states.size(), values.data());
  return values;
}

}  // namespace hstar
