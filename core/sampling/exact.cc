#include "sampling/exact.h"

#include <limits>
#include <queue>
#include <string>

#include "base/errors.h"
#include "task/state_registry.h"

namespace hstar {
namespace {

struct Arc {
  StateId source;
  StateId target;
  Cost cost;
};

// What a breadth-first search has to know.
struct Exploration {
  const PlanningSpace& space;
  StateRegistry registry;
  std::vector<Arc> arcs;
  StateId expanded = 0;

  explicit Exploration(const PlanningSpace& of) : space(of), registry(of.words()) {}

  void add(const Value* values) {
    const std::vector<uint32_t> packed = space.packed(values);
    registry.insert(packed.data(), registry.hash(packed.data()));
  }
  // The next state, if there is one that was not expanded yet.
  bool expand(bool unit_cost, Poll& poll) {
    if (expanded == registry.size()) return false;
    poll(2);
    space.expand(registry[expanded], 1, successors_);
    for (size_t i = 0; i < successors_.size(); ++i) {
      const uint32_t* packed = &successors_.states[i * space.words()];
      const StateId target = registry.insert(packed, registry.hash(packed)).first;
      arcs.push_back({expanded, target, unit_cost ? 1 : successors_.costs[i]});
    }
    ++expanded;
    return true;
  }

 private:
  Expansion successors_;
};

// The distances of expanded states.
ExactDistances distances(const Exploration& found, Poll& poll) {
  const PlanningSpace& space = found.space;
  const StateRegistry& registry = found.registry;
  const std::vector<Arc>& arcs = found.arcs;
  const size_t n = registry.size();

  // 1. Arcs by target.
  std::vector<size_t> begin(n + 1, 0);
  for (const Arc& arc : arcs) ++begin[arc.target + 1];
  for (size_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  std::vector<std::pair<StateId, Cost>> sources(arcs.size());
  std::vector<size_t> at(begin.begin(), begin.end() - 1);
  for (const Arc& arc : arcs) sources[at[arc.target]++] = {arc.source, arc.cost};

  // 2. Distances from the goal states.
  ExactDistances result;
  result.h.assign(n, std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, StateId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (StateId id = 0; id < n; ++id) {
    if (!space.is_goal(registry[id])) continue;
    result.h[id] = 0;
    queue.emplace(0, id);
  }
  while (!queue.empty()) {
    poll();
    const auto [h, id] = queue.top();
    queue.pop();
    if (h > result.h[id]) continue;
    for (size_t i = begin[id]; i < begin[id + 1]; ++i) {
      const auto [source, cost] = sources[i];
      if (h + cost >= result.h[source]) continue;
      result.h[source] = h + cost;
      queue.emplace(result.h[source], source);
    }
  }

  // 3. Values.
  const size_t width = space.variables();
  result.h.resize(found.expanded);
  result.values.resize(found.expanded * width);
  for (StateId id = 0; id < found.expanded; ++id)
    space.packer().unpack(registry[id], &result.values[id * width]);
  return result;
}

}  // namespace

ExactDistances exact_distances(const PlanningSpace& space, const std::vector<Value>& start, bool unit_cost,
                               size_t max_states, Poll& poll) {
  Exploration found(space);
  found.add(start.data());
  while (found.expand(unit_cost, poll))
    if (found.registry.size() > max_states)
      throw UnsupportedError("exact: more than " + std::to_string(max_states) +
                             " states are reachable; raise max_states, or sample with fsm or nrsl");
  return distances(found, poll);
}

ExactDistances forward_distances(const PlanningSpace& space, const std::vector<std::vector<Value>>& starts,
                                 size_t states, Poll& poll) {
  Exploration found(space);
  for (const std::vector<Value>& start : starts) found.add(start.data());
  while (found.expanded < states && found.expand(true, poll)) {
  }
  return distances(found, poll);
}

}  // namespace hstar
