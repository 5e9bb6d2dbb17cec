"""`prolonged`: labels by prolonged backward heuristic search, on grids, lattices and puzzles.

"Value Function Learning via Prolonged Backward Heuristic Search": A* runs backward from the goal, with an
admissible heuristic towards the start, and goes on after the start was closed, until k_pr times as many
states are closed. All of them become data, with exact labels; `core/sampling/prolonged.h` has the algorithm
and its differences from the paper. `optimal-path` is what it is compared with: the states of an optimal path.

Invariant: a label whose `exact` is True is the cost-to-go; others are upper bounds, of states that were seen
but not closed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError
from hstar.options import Checked, option
from hstar.search.config import native_limits
from hstar.spaces.grid import GridLike, GridProblem, LatticeProblem
from hstar.spaces.puzzle import Puzzle

Progress = Callable[[_core.Progress], None]
Problem: TypeAlias = GridLike | Puzzle


@dataclass(frozen=True, eq=False)
class Labels:
    """Labelled states of one problem.

    `states` of grids and lattices are numbers, indices into a flat array of the problem's shape; of puzzles
    they are rows of numbers. Closed states come first, in the order in which they were closed. `status`:
    `solved` if the search went as far as was asked, `unsolvable` if the start cannot be reached, or the limit
    that ended it. Times in seconds.
    """

    states: npt.NDArray[np.integer[Any]]
    label: npt.NDArray[np.float64]
    exact: npt.NDArray[np.bool_]
    status: str
    reached: bool  # the start: its label is there, and exact
    expanded: int
    generated: int
    search_time: float  # wall clock
    cpu_time: float  # processor time of the search

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True)
class Prolonged(Checked):
    """Options of prolonged."""

    name: ClassVar[str] = "prolonged"

    k_pr: float = option(
        2.0, "Closed states at the end, times those when the start was; inf: all.", least=1, most=math.inf
    )
    open: bool = option(True, "Give states that are still open, too, with upper bounds as labels.")
    blind: bool = option(False, "Search without a heuristic.")
    time_limit: float | None = option(None, "Seconds.", least=0)
    memory_limit: int | None = option(None, "Bytes of the process.")
    max_expansions: int | None = option(None, "Closed states.")

    def sample(self, problem: Problem, *, progress: Progress | None = None) -> Labels:
        """The labelled states of a problem."""
        options = _core.ProlongedOptions(k_pr=self.k_pr, open=self.open, blind=self.blind)
        found = _search(problem, options, native_limits(self), progress)
        label = found.take_label()
        exact = np.arange(len(label)) < found.exact
        return _labels(found, _states(problem, found.take_states()), label, exact)


@dataclass(frozen=True)
class OptimalPath(Checked):
    """Options of optimal-path, the vanilla data set: the states of one optimal path with their cost-to-go."""

    name: ClassVar[str] = "optimal-path"

    time_limit: float | None = option(None, "Seconds.", least=0)
    memory_limit: int | None = option(None, "Bytes of the process.")
    max_expansions: int | None = option(None, "Closed states.")

    def sample(self, problem: Problem, *, progress: Progress | None = None) -> Labels:
        """From the start to the goal; no states if a limit ran out. An `InputError` if there is no path."""
        options = _core.ProlongedOptions(k_pr=1.0, open=False)
        found = _search(problem, options, native_limits(self), progress)
        if found.status == "unsolvable":
            raise InputError(f"there is no path from {problem.start} to the goal {problem.goal}")
        label = found.take_path_label()
        return _labels(found, _states(problem, found.take_path()), label, np.ones(len(label), dtype=bool))


def value_map(problem: GridLike, labels: Labels) -> npt.NDArray[np.float64]:
    """The exact labels as an array of the problem's shape, NaN where there is none."""
    result = np.full(math.prod(problem.shape), np.nan)
    result[labels.states[labels.exact]] = labels.label[labels.exact]
    return result.reshape(problem.shape)


def _search(
    problem: Problem, options: _core.ProlongedOptions, limits: _core.Limits, progress: Progress | None
) -> _core.ProlongedLabels:
    if isinstance(problem, GridProblem | LatticeProblem):
        return problem.core.prolonged(problem.start, problem.core_goal, options, limits, progress)
    core: Any = problem.core  # each kind has its own
    found: _core.ProlongedLabels = _core.prolonged(core, problem.start, options, limits, progress)
    return found


def _states(problem: Problem, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Numbers of cells, or of cells with headings, as they index arrays; states of puzzles as they are."""
    return rows if isinstance(problem, Puzzle) else rows[:, 0]


def _labels(
    found: _core.ProlongedLabels,
    states: npt.NDArray[Any],
    label: npt.NDArray[np.float64],
    exact: npt.NDArray[np.bool_],
) -> Labels:
    return Labels(
        states=states,
        label=label,
        exact=exact,
        status=found.status,
        reached=found.reached,
        expanded=found.expanded,
        generated=found.generated,
        search_time=found.search_time,
        cpu_time=found.cpu_time,
    )
