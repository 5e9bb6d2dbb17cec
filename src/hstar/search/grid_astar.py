"""A* and weighted A* on maps, by the engine of grids and lattices (`core/search/grid_astar.h`).

The heuristic is a name (`HEURISTICS`), or a value map: an array with a value for each
state, which is what a network gives for a whole scenario at once. With `eps` the values are bounded,

    h = min(max(h_adm, value), eps * h_adm),

and the path costs at most eps times the optimum, whatever the values are: no h is above eps times the true
cost, and closed states are opened again when a better way to them turns up. With a weight w, f = g + w h.
With `no_reopen` nothing is proven of a search that kept a state closed to which there was a better way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import PlanError
from hstar.registry import unknown
from hstar.search.config import native_limits
from hstar.search.heuristics import BatchHeuristic, Max, Sum
from hstar.search.result import Result, result_of, whole
from hstar.search.solve import Request
from hstar.spaces.grid import MapProblem, replay
from hstar.spaces.map_picture import picture
from hstar.spaces.problem import Replay

States: TypeAlias = npt.NDArray[np.int64]

HEURISTICS = ("blind", "manhattan", "octile", "dijkstra")


@dataclass(frozen=True, eq=False)
class ValueMap:
    """A value for each state of a map; with `eps` within eps times the admissible heuristic."""

    values: Any  # an array of the problem's shape; one without headings is for all of them
    eps: float | None = None


def run(request: Request) -> Result | None:
    """A path, an optimal one with a heuristic by name and weight 1; None where the general search serves."""
    heuristic, *others = request.heuristics
    general = callable(heuristic) or isinstance(heuristic, _core.Heuristic | Max | Sum | BatchHeuristic)
    named = isinstance(heuristic, str)
    if general or others or (named and heuristic == "zero"):
        return None
    field, config = cast("MapProblem", request.problem), request.config
    weight, eps = config.weight if request.search == "wastar" else 1.0, config.eps
    if isinstance(heuristic, ValueMap):
        heuristic, eps = heuristic.values, heuristic.eps if eps is None else eps
    if named and heuristic not in HEURISTICS:
        raise unknown(f"heuristic of {field.name}", heuristic, list(HEURISTICS))
    name, values = (heuristic, None) if named else (field.heuristic, field.value_map(heuristic))
    native = _core.GridHeuristic(name, values, eps, weight)
    options = _core.GridOptions(explored=config.explored, reopen=not config.no_reopen)
    found = field.core.astar(
        field.start, field.core_goal, native, options, native_limits(config), request.progress
    )
    replayed = proven = None
    if found.status == "solved":
        states = [tuple(state) for state in _states(field, found.take_path()).tolist()]
        plain = replay(field, states)
        # Costs that are not whole are rounded to 6e-8 in the core.
        if not math.isclose(plain, found.cost, rel_tol=1e-9, abs_tol=1e-7 * len(states)):
            raise PlanError(f"the path costs {plain}, the search says {found.cost}")
        replayed = Replay(field.names(states), whole(found.cost), states)
        factor = max(1.0, weight) if named else eps
        proven = None if factor is None or found.passed_over else found.cost / factor
    explored = _states(field, found.take_explored()) if config.explored else None
    return result_of(
        field,
        found,
        replayed,
        lower_bound=proven,
        explored=explored,
        values=None if named else heuristic,
        picture=lambda: picture(field, None if replayed is None else replayed.states, explored),
    )


def _states(field: MapProblem, numbers: npt.NDArray[np.uint32]) -> States:
    return np.stack(np.unravel_index(numbers, field.shape), axis=1).astype(np.int64)
