// Backward A* over states in a hash table, and how it is prolonged: what `prolonged` is for puzzles and for
// planning tasks. `prolonged.h` has the algorithm.
//
// A `Source` knows states as packed words and lists predecessors:
//   words()                                 of a packed state
//   predecessors(packed, visit)             calls visit(words, value) for each, until visit returns false;
//                                           value() is its distance from the start, at most: asked once a
//                                           state
#pragma once

#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "base/bucket_queue.h"
#include "base/control.h"
#include "base/errors.h"
#include "base/segmented.h"
#include "sampling/prolonged.h"
#include "search/grid_astar.h"
#include "task/state_registry.h"

namespace hstar {

template <class Source>
class BackwardAStar {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  BackwardAStar(Source& source, const Control& control)
      : source_(source), control_(control), registry_(source.words()), packed_(source.words()), queue_(1) {}

  // The number of a state, seen or not; kNone if the limit of memory forbids a new one.
  uint32_t number(const uint32_t* packed) {
    if (const size_t more = registry_.bytes_if_full(); more && !control_.allows(more)) return kNone;
    const auto [id, is_new] = registry_.insert(packed, registry_.hash(packed));
    if (is_new) nodes_.push_back({});
    return id;
  }
  const uint32_t* state(uint32_t id) const { return registry_[id]; }

  void add_root(uint32_t id, int32_t h) {
    ++counts_.evaluated;
    open(id, id, 0, h);
  }
  uint32_t pop() {
    while (!queue_.empty()) {
      const uint32_t id = queue_.pop();
      if (nodes_[id].closed) continue;
      nodes_[id].closed = true;
      ++counts_.expanded;
      return id;
    }
    return kNone;
  }
  // False if the limit of memory left something out.
  bool expand(uint32_t id) {
    const int32_t g = nodes_[id].g + 1;
    std::copy_n(registry_[id], packed_.size(), packed_.data());
    return source_.predecessors(packed_.data(), [&](const uint32_t* before, const auto& value) {
      ++counts_.generated;
      const uint32_t next = number(before);
      if (next == kNone) return false;
      const Node& known = nodes_[next];
      if (known.g != kUnseen && known.g <= g) return true;
      int32_t h = known.h;
      if (known.g == kUnseen) {
        ++counts_.evaluated;
        h = value();
      }
      open(next, id, g, h);
      return true;
    });
  }

  int32_t g(uint32_t id) const { return nodes_[id].g; }
  bool is_open(uint32_t id) const { return nodes_[id].g != kUnseen && !nodes_[id].closed; }
  size_t size() const { return registry_.size(); }
  const Counts& counts() const { return counts_; }

  std::vector<uint32_t> path(uint32_t id) const {
    std::vector<uint32_t> ids{id};
    for (; nodes_[id].parent != id; id = nodes_[id].parent) ids.push_back(nodes_[id].parent);
    return ids;
  }

 private:
  static constexpr int32_t kUnseen = -1;
  struct Node {
    uint32_t parent = kNone;  // of a root: itself
    int32_t g = kUnseen;
    int32_t h = 0;
    bool closed = false;
  };

  void open(uint32_t id, uint32_t parent, int32_t g, int32_t h) {
    nodes_[id] = {parent, g, h, false};
    queue_.push(g + h, static_cast<uint32_t>(h), id);
  }

  Source& source_;
  const Control& control_;
  StateRegistry registry_;
  Segmented<Node> nodes_;
  std::vector<uint32_t> packed_;  // the state being expanded
  BucketQueue queue_;
  Counts counts_;
};

// The states that were closed, in order.
template <class Search>
std::vector<uint32_t> prolong(Search& search, uint32_t start, double k_pr, Control& control,
                              ProlongedLabels& labels) {
  std::vector<uint32_t> closed;
  GridPoll poll(control);
  double most = std::numeric_limits<double>::infinity();
  labels.status = Status::kSolved;
  while (static_cast<double>(closed.size()) < most) {
    if (poll(search.counts())) {
      labels.status = control.status();
      break;
    }
    // 1. Close the best open state.
    const uint32_t state = search.pop();
    if (state == Search::kNone) {
      if (!labels.reached) labels.status = Status::kUnsolvable;
      break;
    }
    closed.push_back(state);
    // 2. At the start it is known how many more there will be.
    if (state == start) {
      labels.reached = true;
      most = k_pr * static_cast<double>(closed.size());
    }
    // 3. Its predecessors.
    if (!search.expand(state)) {
      labels.status = Status::kMemoryLimit;
      break;
    }
  }
  labels.counts = search.counts();
  labels.exact = closed.size();
  return closed;
}

// The same with what is told of it: closed states, open ones if they are wanted, and the path. `write`
// appends a state and its label to the lists that it is given.
template <class Search, class Write>
void write_labels(Search& search, uint32_t start, const ProlongedOptions& options, Control& control,
                  ProlongedLabels& labels, const Write& write) {
  for (const uint32_t id : prolong(search, start, options.k_pr, control, labels))
    write(id, labels.states, labels.label);
  if (options.open)
    for (uint32_t id = 0; id < search.size(); ++id)
      if (search.is_open(id)) write(id, labels.states, labels.label);
  if (!labels.reached) return;
  for (const uint32_t id : search.path(start)) write(id, labels.path, labels.path_label);
}

template <class Work>
void controlled(const ProlongedOptions& options, const Limits& limits, const Observer& observer,
                ProlongedLabels& labels, const Work& work) {
  if (!(options.k_pr >= 1)) throw InputError("k_pr must be a number from 1 on");
  Control control(limits, observer, 1);
  control.run(labels, [&] { work(control); });
}

}  // namespace hstar
