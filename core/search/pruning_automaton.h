// A finite automaton over moves that knows which sequences lead nowhere new (Taylor and Korf, AAAI 1993).
//
// A sequence is pruned if another one, shorter or of equal length and earlier in the order of moves, leads to
// the same state from everywhere, and can be followed wherever the pruned one can. Invariant: of the optimal
// plans the first one, by length and then by the order of moves, contains no pruned sequence, since replacing
// the sequence would give an earlier plan. So an admissible heuristic still finds optimal plans; the plans,
// and the counts, are others. Not to be used with a transposition table: what was not followed below a state
// depends on the moves that led to it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "spaces/pancake.h"
#include "spaces/tiles.h"
#include "spaces/topspin.h"

namespace hstar {

class PruningAutomaton {
 public:
  static constexpr int32_t kPruned = -1;

  using Shared = std::shared_ptr<const PruningAutomaton>;
  static Shared of(const Tiles& space);
  static Shared of(const Pancake& space);
  static Shared of(const TopSpin& space);

  // The state after a move, kPruned if the sequence is not to be followed. The first state is 0.
  template <class Action>
  int32_t next(int32_t state, Action action) const {
    return next_[static_cast<size_t>(state) * actions_ + static_cast<size_t>(action)];
  }

 private:
  template <class Space>
  static Shared of_places(const Space& space);
  // Of pruned sequences, none of which contains another.
  PruningAutomaton(size_t actions, const std::vector<std::vector<uint8_t>>& pruned);
  size_t states() const { return next_.size() / actions_; }

  size_t actions_;  // one more than the greatest
  std::vector<int32_t> next_;
};

}  // namespace hstar
