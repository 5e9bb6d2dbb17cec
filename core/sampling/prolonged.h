// prolonged: labels by prolonged backward heuristic search ("Value Function Learning via Prolonged Backward
// Heuristic Search"). A* runs backward from the goal, ordered by g + h with h towards the start. When the
// start is closed, N_max = k_pr * |CLOSED|, and the search goes on until so many states are closed.
//
// Invariant: the label of a closed state is its exact cost-to-go, since the heuristics are consistent; that
// of a state that is still open is an upper bound. The two are kept apart.
//
// Differences from the paper:
// 1. Its listing prolongs when the goal is closed; that has to be the start.
// 2. It calls labels of open states exact, too.
// 3. It ends one state after N_max; here k_pr = 1 is plain backward A*.
// 4. With k_pr = infinity the order does not matter, and h is left out: backward Dijkstra.
// 5. If OPEN runs empty before the start was closed, that is told, and the labels are there all the same.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.h"
#include "search/grid_astar.h"
#include "spaces/puzzle.h"
#include "task/planning_space.h"

namespace hstar {

struct ProlongedOptions {
  double k_pr = 2;
  bool blind = false;    // without a heuristic
  bool open = true;      // whether open states are wanted, too
  size_t goals = 10000;  // of a task: most goal states to begin with
};

// Its status is solved as far as was asked, unsolvable if the start was not reached.
struct ProlongedLabels : Outcome {
  bool reached = false;  // the start
  size_t exact = 0;      // so many of the states, the first ones, were closed; in this order
  size_t goals = 1;      // goal states that it began with
  size_t width = 1;      // numbers of a state; of a grid or a lattice its outer number
  std::vector<int32_t> states;
  std::vector<double> label;
  std::vector<int32_t> path;  // of a grid or a puzzle: from the start to the goal, if the start was reached
  std::vector<double> path_label;
};

// Defined for Grid and Lattice. Throws an InputError unless k_pr is 1 or more.
template <class Space>
ProlongedLabels prolonged_grid(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                               const ProlongedOptions& options, const Limits& limits,
                               const Observer& observer);

// Defined for all puzzles; backward from the goal of the space. States are kept in a hash
// table; the limit of memory ends the search, and what was closed is there.
template <Puzzle Space>
ProlongedLabels prolonged_puzzle(const Space& space, const typename Space::State& start,
                                 const ProlongedOptions& options, const Limits& limits,
                                 const Observer& observer);

// Of a planning task, with `start` as the values of all variables. Backward steps are those of regression: a
// variable that an operator sets without testing it may have had any value before, and the goal is all states
// that satisfy it; in both cases states that the mutexes or the delete relaxation exclude are left out. The
// heuristic is hmax from the start. Throws an UnsupportedError for axioms and conditional effects, and if
// more than `options.goals` states satisfy the goal.
ProlongedLabels prolonged_task(const PlanningSpace& space, const std::vector<Value>& start,
                               const ProlongedOptions& options, const Limits& limits,
                               const Observer& observer);

}  // namespace hstar
