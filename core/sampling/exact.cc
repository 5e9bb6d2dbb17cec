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

// All reachable states, and the arcs between them.
std::vector<Arc> explore(const PlanningSpace& space, const std::vector<Value>& start, bool unit_cost,
                         size_t max_states, StateRegistry& registry, Poll& poll) {
  std::vector<Arc> arcs;
  std::vector<uint32_t> packed(space.words());
  std::vector<Value> values(start.size());
  std::vector<int32_t> operators;
  space.packer().pack(start.data(), packed.data());
  registry.insert(packed.data(), registry.hash(packed.data()));
  for (StateId id = 0; id < registry.size(); ++id) {
    poll(2);
    space.packer().unpack(registry[id], values.data());
    operators.clear();
    space.applicable(values.data(), operators);
    for (const int32_t op : operators) {
      space.apply(registry[id], values.data(), op, packed.data());
      const StateId target = registry.insert(packed.data(), registry.hash(packed.data())).first;
      arcs.push_back({id, target, unit_cost ? 1 : space.cost(op)});
    }
    if (registry.size() > max_states)
      throw UnsupportedError("exact: more than " + std::to_string(max_states) +
                             " states are reachable; raise max_states, or sample with fsm or nrsl");
  }
  return arcs;
}

}  // namespace

ExactDistances exact_distances(const PlanningSpace& space, const std::vector<Value>& start, bool unit_cost,
                               size_t max_states, Poll& poll) {
  StateRegistry registry(space.words());
  const std::vector<Arc> arcs = explore(space, start, unit_cost, max_states, registry, poll);
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
  const size_t width = start.size();
  result.values.resize(n * width);
  for (StateId id = 0; id < n; ++id) space.packer().unpack(registry[id], &result.values[id * width]);
  return result;
}

}  // namespace hstar
