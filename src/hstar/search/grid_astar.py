"""A* on native grids and lattices. A limit that runs out is a status of the result.

The heuristic is a name, `manhattan`, `octile` or `blind`, or a value map: an array with a value for each
state, which is what a network gives for a whole scenario at once. With `eps` the values are bounded,

    h = min(max(h_adm, value), eps * h_adm),

and the path costs at most eps times the optimum, whatever the values are: no h is above eps times the true
cost, and closed states are opened again when a better way to them turns up. With a weight w, f = g + w h.

Every path is replayed in Python before it is returned, by code that shares nothing with the core.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, PlanError
from hstar.options import configured, option
from hstar.registry import unknown
from hstar.spaces.grid import GridLike, replay

Progress = Callable[[_core.Progress], None]
States: TypeAlias = npt.NDArray[np.int64]

HEURISTICS = ("blind", "manhattan", "octile")


@dataclass(frozen=True)
class GridAStarConfig:
    """Options of the search."""

    eps: float | None = option(None, "Bounds a value map; paths cost at most eps times the optimum.")
    weight: float = option(1.0, "Of the heuristic, in f = g + weight * h.")
    explored: bool = option(False, "Keep the states in the order of expansion, for pictures.")
    time_limit: float | None = option(None, "Seconds.")
    memory_limit: int | None = option(None, "Bytes of the process.")
    max_expansions: int | None = option(None, "Expanded states.")

    def __post_init__(self) -> None:
        if self.eps is not None and not (_is_number(self.eps) and 1 <= self.eps < math.inf):
            raise InputError(f"eps must be a number from 1 on, got {self.eps!r}")
        if not (_is_number(self.weight) and 0 <= self.weight <= 1e6):
            raise InputError(f"weight must be a number from 0 to 1e6, got {self.weight!r}")
        check_limits(self)


def check_limits(config: Any) -> None:
    """Refuses what is no limit among `time_limit`, `memory_limit` and `max_expansions`."""
    time = config.time_limit
    if time is not None and not (_is_number(time) and time >= 0):
        raise InputError(f"time_limit must be a number from 0 on, got {time!r}")
    for name in ("memory_limit", "max_expansions"):
        value = getattr(config, name)
        if value is None:
            continue
        if not _is_number(value) or value != value // 1 or not 0 <= value < 2**63:
            raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
        object.__setattr__(config, name, int(value))  # 64e6 is a whole number, too


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class GridAStarResult:
    """How a search ended, in the words of `Result`. Times in seconds.

    `status`: `solved`, `unsolvable`, or what stopped it: `time_limit`, `memory_limit`, `expansion_limit`,
    `interrupted`. States are rows of arrays: row, column, and the heading of a lattice.
    """

    status: str
    path: States | None  # start and goal among them
    path_cost: float | None
    expanded: int  # re-expansions count again
    generated: int
    reopened: int
    initial_h: float
    explored: States | None  # in the order of expansion, if asked for
    search_time: float  # wall clock
    cpu_time: float  # processor time of the search

    @property
    def solved(self) -> bool:
        """Whether there is a path."""
        return self.status == "solved"


def grid_astar(
    problem: GridLike,
    heuristic: str | npt.ArrayLike | None = None,
    config: GridAStarConfig | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> GridAStarResult:
    """Searches for a path: an optimal one with a heuristic by name and weight 1.

    Without a heuristic it is the problem's own, `manhattan` or `octile`. A value map has the shape of the
    problem; one without headings is for all of them. `options` are the fields of `GridAStarConfig`.
    `progress` is called about ten times a second. Ctrl-C ends the search with status `interrupted`.
    """
    if config is None:
        config = configured(GridAStarConfig, options)
    elif options:
        raise InputError("give either config or single options, not both")
    name, values = problem.heuristic, None
    if isinstance(heuristic, str):
        if heuristic not in HEURISTICS:
            raise unknown(f"heuristic of {problem.name}", heuristic, list(HEURISTICS))
        name = heuristic
    elif heuristic is not None:
        values = _value_map(problem, heuristic)
    found = problem.core.astar(
        problem.start, problem.core_goal, name, values=values, progress=progress, **asdict(config)
    )
    path = cost = None
    if found.status == "solved":
        path, cost = _states(problem, found.take_path()), found.cost
        plain = replay(problem, [tuple(state) for state in path.tolist()])
        # Costs that are not whole are rounded to 6e-8 in the core.
        if not math.isclose(plain, cost, rel_tol=1e-9, abs_tol=1e-7 * len(path)):
            raise PlanError(f"the path costs {plain}, the search says {cost}")
    return GridAStarResult(
        status=found.status,
        path=path,
        path_cost=cost,
        expanded=found.expanded,
        generated=found.generated,
        reopened=found.reopened,
        initial_h=found.initial_h,
        explored=_states(problem, found.take_explored()) if config.explored else None,
        search_time=found.search_time,
        cpu_time=found.cpu_time,
    )


def _value_map(problem: GridLike, values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    try:
        array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError(f"not a heuristic of {problem.name}: {values!r:.60}") from None
    if array.shape == problem.grid.shape and len(problem.shape) == 3:
        array = array[:, :, None]
    elif array.shape != problem.shape:
        raise InputError(f"the value map has the shape {array.shape}, the problem has {problem.shape}")
    return np.ascontiguousarray(np.broadcast_to(array, problem.shape)).reshape(-1)


def _states(problem: GridLike, numbers: npt.NDArray[np.uint32]) -> States:
    return np.stack(np.unravel_index(numbers, problem.shape), axis=1).astype(np.int64)
