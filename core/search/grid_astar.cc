#include "search/grid_astar.h"

#include <cmath>
#include <functional>

#include "base/errors.h"
#include "heuristics/cell_distances.h"

namespace hstar {
namespace {

template <class Space, class Heuristic>
void search(const Space& space, uint32_t start, const std::vector<uint32_t>& goal, const Heuristic& heuristic,
            const GridOptions& options, Control& control, GridResult& result) {
  using Search = GridAStar<Space, Heuristic, false>;
  if (!control.allows(Search::bytes(space))) {
    result.status = Status::kMemoryLimit;
    return;
  }
  Search engine(space, heuristic, options.reopen);
  GridPoll poll(control);
  result.initial_h = to_cost(heuristic(start));
  engine.add_root(start);
  result.status = Status::kUnsolvable;
  while (true) {
    if (poll(engine.counts())) {
      result.status = control.status();
      break;
    }
    const uint32_t state = engine.pop();
    if (state == Search::kNone) break;
    if (options.explored) result.explored.push_back(space.outer(state));
    if (std::find(goal.begin(), goal.end(), state) != goal.end()) {
      result.status = Status::kSolved;
      result.cost = to_cost(engine.g(state));
      result.path = engine.path(state);
      for (uint32_t& one : result.path) one = space.outer(one);
      break;
    }
    engine.expand(state);
  }
  result.counts = engine.counts();
  result.passed_over = engine.passed_over();
}

void check_options(const GridHeuristic& heuristic) {
  if (!(heuristic.weight >= 0 && heuristic.weight <= 1e6))
    throw InputError("weight must be a number from 0 to 1e6");
  if (!heuristic.eps) return;
  if (!heuristic.values && heuristic.name != "dijkstra")
    throw InputError("eps bounds a value map or dijkstra, and there is none; use weight");
  if (!(*heuristic.eps >= 1)) throw InputError("eps must be a number from 1 on");
  if (heuristic.weight != 1) throw InputError("weight and eps do not go together");
}

}  // namespace

template <class Space>
void check_heuristic(const Space& space, const std::string& name) {
  if (name != "blind" && name != "manhattan" && name != "octile" && name != "dijkstra")
    throw InputError("unknown heuristic '" + name + "' (known: blind, manhattan, octile, dijkstra)");
  if (name == "manhattan" && space.diagonals())
    throw InputError("manhattan is not admissible with diagonal steps; use octile");
}

template <class Space>
GridResult grid_astar(const Space& space, uint32_t start, const std::vector<uint32_t>& goal,
                      const GridHeuristic& heuristic, const GridOptions& options, const Limits& limits,
                      const Observer& observer) {
  check_options(heuristic);
  GridResult result;
  Control control(limits, observer, 1);
  const auto run = [&](const auto& chosen) { search(space, start, goal, chosen, options, control, result); };
  const auto weighted = [&]<class Plain>(const Plain& plain) {
    if (heuristic.weight == 1)
      run(plain);
    else
      run(Weighted<Plain>(plain, heuristic.weight));
  };
  control.run(result, [&] {
    if (heuristic.values) {
      const GridDistance<Space> lower(space, goal[0], space.diagonals());
      if (heuristic.eps)
        run(ValueMap<Space, true>(space, lower, heuristic.values, *heuristic.eps));
      else
        weighted(ValueMap<Space, false>(space, lower, heuristic.values));
    } else {
      check_heuristic(space, heuristic.name);
      if (heuristic.name == "blind")
        run(BlindGrid<Space>());
      else if (heuristic.name == "dijkstra") {
        const auto distances = limited_distances(space.map(), space.cell(goal[0]), std::identity());
        const CellDistance<Space> exact(space, distances);
        const GridDistance<Space> lower(space, goal[0], space.diagonals());
        if (heuristic.eps)
          run(CappedDistance<Space>(exact, lower, *heuristic.eps));
        else
          weighted(exact);
      } else
        weighted(GridDistance<Space>(space, goal[0], heuristic.name == "octile"));
    }
  });
  return result;
}

template void check_heuristic<Grid>(const Grid&, const std::string&);
template void check_heuristic<Lattice>(const Lattice&, const std::string&);
template GridResult grid_astar<Grid>(const Grid&, uint32_t, const std::vector<uint32_t>&,
                                     const GridHeuristic&, const GridOptions&, const Limits&,
                                     const Observer&);
template GridResult grid_astar<Lattice>(const Lattice&, uint32_t, const std::vector<uint32_t>&,
                                        const GridHeuristic&, const GridOptions&, const Limits&,
                                        const Observer&);

}  // namespace hstar
