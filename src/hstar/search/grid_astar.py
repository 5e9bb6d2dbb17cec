"""A* and weighted A* on maps, by the engine of grids and lattices (`core/search/grid_astar.h`).

The heuristic is a name, `manhattan`, `octile` or `blind`, or a value map: an array with a value for each
state, which is what a network gives for a whole scenario at once. With `eps` the values are bounded,

    h = min(max(h_adm, value), eps * h_adm),

and the path costs at most eps times the optimum, whatever the values are: no h is above eps times the true
cost, and closed states are opened again when a better way to them turns up. With a weight w, f = g + w h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, PlanError
from hstar.registry import unknown
from hstar.search.config import SearchConfig
from hstar.search.heuristics import BatchHeuristic, Max, Sum
from hstar.search.result import Result, result_of
from hstar.search.solve import OnPlan, Progress, native_limits
from hstar.spaces.grid import MapProblem, replay
from hstar.spaces.map_picture import picture
from hstar.spaces.problem import Problem, Replay

States: TypeAlias = npt.NDArray[np.int64]

HEURISTICS = ("blind", "manhattan", "octile")


@dataclass(frozen=True, eq=False)
class ValueMap:
    """A value for each state of a map; with `eps` within eps times the admissible heuristic."""

    values: Any  # an array of the problem's shape; one without headings is for all of them
    eps: float | None = None


def engine(problem: Problem, chosen: Sequence[Any]) -> Callable[..., Result] | None:
    """The search of this module; None where the general one has to serve: functions, combinations."""
    general = callable(chosen[0]) or isinstance(chosen[0], _core.Heuristic | Max | Sum | BatchHeuristic)
    by_name = isinstance(chosen[0], str) and chosen[0] == "zero"
    return None if general or by_name or len(chosen) > 1 else grid_astar


def grid_astar(
    problem: Problem,
    search: str,
    chosen: Sequence[Any],
    *,
    config: SearchConfig,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
) -> Result:
    """A path: an optimal one with a heuristic by name and weight 1."""
    field = cast("MapProblem", problem)
    heuristic = _native(field, chosen[0], config, config.weight if search == "wastar" else 1.0)
    found = field.core.astar(
        field.start, field.core_goal, heuristic, config.explored, native_limits(config), progress=progress
    )
    replayed = None
    if found.status == "solved":
        states = [tuple(state) for state in _states(field, found.take_path()).tolist()]
        plain = replay(field, states)
        # Costs that are not whole are rounded to 6e-8 in the core.
        if not math.isclose(plain, found.cost, rel_tol=1e-9, abs_tol=1e-7 * len(states)):
            raise PlanError(f"the path costs {plain}, the search says {found.cost}")
        replayed = Replay(field.names(states), found.cost, states)
    explored = _states(field, found.take_explored()) if config.explored else None
    return result_of(
        field,
        found,
        replayed,
        lower_bound=None if replayed is None else _proven(chosen[0], config, search, found.cost),
        explored=explored,
        values=None if isinstance(chosen[0], str) else getattr(chosen[0], "values", chosen[0]),
        picture=lambda: picture(field, None if replayed is None else replayed.states, explored),
    )


def _native(field: MapProblem, heuristic: Any, config: SearchConfig, weight: float) -> _core.GridHeuristic:
    eps = config.eps
    if isinstance(heuristic, ValueMap):
        eps = heuristic.eps if eps is None else eps
        heuristic = heuristic.values
    if not isinstance(heuristic, str):
        return _core.GridHeuristic(field.heuristic, value_map(field, heuristic), eps, weight)
    if heuristic not in HEURISTICS:
        raise unknown(f"heuristic of {field.name}", heuristic, list(HEURISTICS))
    return _core.GridHeuristic(heuristic, None, eps, weight)


def _proven(heuristic: Any, config: SearchConfig, search: str, cost: float) -> float | None:
    """The lower bound on all paths that a path of this cost proves."""
    if isinstance(heuristic, str):
        return cost / max(1.0, config.weight) if search == "wastar" else cost
    eps = heuristic.eps if isinstance(heuristic, ValueMap) and config.eps is None else config.eps
    return None if eps is None else cost / eps


def value_map(field: MapProblem, values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """The values as the core takes them; an `InputError` unless they have the shape of the problem."""
    try:
        array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError(f"not a heuristic of {field.name}: {values!r:.60}") from None
    if array.shape == field.grid.shape and len(field.shape) == 3:
        array = array[:, :, None]
    elif array.shape != field.shape:
        raise InputError(f"the value map has the shape {array.shape}, the problem has {field.shape}")
    return np.ascontiguousarray(np.broadcast_to(array, field.shape)).reshape(-1)


def _states(field: MapProblem, numbers: npt.NDArray[np.uint32]) -> States:
    return np.stack(np.unravel_index(numbers, field.shape), axis=1).astype(np.int64)
