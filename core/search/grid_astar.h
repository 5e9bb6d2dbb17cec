// A* over states that are numbers, grids and lattices: one word a state in an array, forward or backward.
//
// A word has the cost of the best known way in its upper bits, then whether the state is closed, then the
// move of that way. It is 0 for a state that was not seen, so that the array needs no filling: fresh memory
// is 0. A closed state to which a better way turns up is opened again, unless told otherwise; with a
// consistent heuristic that does not happen, and the costs of closed states are exact.
//
// `GridAStar` closes one state after another; `grid_astar` is the search for a path by it, and prolonged
// search (sampling/prolonged.h) the other user.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/bucket_queue.h"
#include "base/control.h"
#include "spaces/grid.h"
#include "spaces/lattice.h"

namespace hstar {

template <class Space, class Heuristic, bool kBackward>
class GridAStar {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  GridAStar(const Space& space, const Heuristic& heuristic, bool reopen = true)
      : space_(space), heuristic_(heuristic), reopen_(reopen), queue_(space.map().least_straight()) {
    nodes_.reset(static_cast<uint64_t*>(std::calloc(space.states(), sizeof(uint64_t))));
    if (!nodes_) throw std::bad_alloc();
  }
  static size_t bytes(const Space& space) { return space.states() * sizeof(uint64_t); }

  void add_root(uint32_t state) {
    nodes_[state] = kRoot;
    queue_.push(evaluate(state), 0, state);
  }
  // Closes the best open state and gives it; kNone if there is no more.
  uint32_t pop() {
    while (!queue_.empty()) {
      const uint32_t state = queue_.pop();
      // An older entry of a state comes later than the newer one, which has less g and the same h.
      if (nodes_[state] & kClosed) continue;
      nodes_[state] |= kClosed;
      ++counts_.expanded;
      return state;
    }
    return kNone;
  }
  // All that there is room for, always.
  bool expand(uint32_t state) {
    const uint64_t g = nodes_[state] >> kShift;
    const auto visit = [&](uint32_t neighbour, uint32_t move, Units cost) {
      ++counts_.generated;
      const uint64_t found = g + static_cast<uint64_t>(cost);
      const uint64_t node = nodes_[neighbour];
      if (node != 0) {
        if (found >= node >> kShift) return;
        if (node & kClosed) {
          if (!reopen_) {
            passed_over_ = true;
            return;
          }
          ++counts_.reopened;
        }
      }
      nodes_[neighbour] = found << kShift | move;
      const Units h = evaluate(neighbour);
      queue_.push(static_cast<Units>(found) + h, tie(h), neighbour);
    };
    if constexpr (kBackward)
      space_.predecessors(state, visit);
    else
      space_.successors(state, visit);
    return true;
  }

  Units g(uint32_t state) const { return static_cast<Units>(nodes_[state] >> kShift); }
  bool is_open(uint32_t state) const { return nodes_[state] != 0 && !(nodes_[state] & kClosed); }
  size_t size() const { return space_.states(); }  // seen or not
  const Counts& counts() const { return counts_; }
  // Whether a state stayed closed to which there was a better way.
  bool passed_over() const { return passed_over_; }

  // The states of the best known way, in the order in which it is walked.
  std::vector<uint32_t> path(uint32_t state) const {
    std::vector<uint32_t> states{state};
    for (uint32_t move; (move = nodes_[state] & kMove) != kRoot;) {
      state = kBackward ? space_.after(state, move) : space_.before(state, move);
      states.push_back(state);
    }
    if constexpr (!kBackward) std::reverse(states.begin(), states.end());
    return states;
  }

 private:
  static constexpr int kShift = 5;
  static constexpr uint64_t kClosed = 16;
  static constexpr uint64_t kMove = 15, kRoot = 15;

  struct Free {
    void operator()(uint64_t* words) const { std::free(words); }
  };

  // Less h first, to a quarter of a thousandth of a step; above a million steps it does not matter.
  static uint32_t tie(Units h) {
    return static_cast<uint32_t>(std::min<Units>(h >> 12, std::numeric_limits<uint32_t>::max()));
  }
  Units evaluate(uint32_t state) {
    ++counts_.evaluated;
    return heuristic_(state);
  }

  const Space& space_;
  const Heuristic heuristic_;
  const bool reopen_;
  bool passed_over_ = false;
  BucketQueue queue_;
  std::unique_ptr<uint64_t[], Free> nodes_;
  Counts counts_;
};

// When to ask for limits and interrupts: rarely, but in time for an exact number of expansions.
class GridPoll {
 public:
  explicit GridPoll(Control& control) : control_(control) {}
  bool operator()(const Counts& counts) {
    if (counts.expanded < next_) return false;
    constexpr uint64_t kBetween = 4096;
    constexpr uint32_t kWork = 500;  // microseconds: every call reads the clock
    if (control_.poll(counts, std::numeric_limits<int32_t>::max(), kWork)) return true;
    next_ = counts.expanded + std::min(kBetween, control_.limits().expansions - counts.expanded);
    return false;
  }

 private:
  Control& control_;
  uint64_t next_ = 0;
};

// "blind", "manhattan", "octile" or "dijkstra", times `weight`; or a value for each state, by outer number.
struct GridHeuristic {
  std::string name;
  const float* values = nullptr;
  std::optional<double> eps;  // bounds the values, or dijkstra; without it they are taken as they are
  double weight = 1;
};

struct GridOptions {
  bool explored = false;  // keep the order of expansions
  bool reopen = true;     // expand a closed state again when a better way to it turns up
};

struct GridResult : Outcome {
  std::vector<uint32_t> path;  // outer numbers, start and goal among them
  double cost = 0;
  double initial_h = 0;
  std::vector<uint32_t> explored;  // outer numbers in the order of expansion, if asked for
  bool passed_over = false;        // a state stayed closed to which there was a better way
};

// Throws an InputError if the heuristic is not one of the space, or the options do not go together. Defined
// for Grid and Lattice.
template <class Space>
void check_heuristic(const Space& space, const std::string& name);

template <class Space>
GridResult grid_astar(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                      const GridHeuristic& heuristic, const GridOptions& options, const Limits& limits,
                      const Observer& observer);

}  // namespace hstar
