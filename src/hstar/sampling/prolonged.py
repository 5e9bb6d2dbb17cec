"""`prolonged`: labels by prolonged backward heuristic search, on grids, lattices, puzzles, tasks, own spaces.

"Value Function Learning via Prolonged Backward Heuristic Search": A* runs backward from the goal, with an
admissible heuristic towards the start, and goes on after the start was closed, until k_pr times as many
states are closed. All of them become data, with exact labels; `core/sampling/prolonged.h` has the algorithm
and its differences from the paper. `optimal-path` is what it is compared with: the states of an optimal path.

Planning tasks are searched by regression instead of an inverse model. Where the other samplers by regression
complete partial states by chance, this one searches full states: it needs a goal that few states satisfy, as
where all variables are fixed. It is for learning about what lies around one start. Labels count steps.

A user's own space is searched without a heuristic, over its `predecessors` and in Python, until so many
states are closed; nothing stops it at the start. Ties are closed in the order in which they were found, and
costs are added up as whole numbers.

Invariant: a label whose `exact` is True is the cost-to-go; others are upper bounds, of states that were seen
but not closed. Of a task the former are given as lower and upper bounds, too, the latter as upper bounds.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, uninterrupted
from hstar.options import Checked, option
from hstar.sampling.dataset import Dataset
from hstar.sampling.sampler import SAMPLERS, Sampler, labelled
from hstar.search.config import native_limits
from hstar.spaces.grid import GridLike, GridProblem, LatticeProblem
from hstar.spaces.own import OwnProblem
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.task import Task

Problem: TypeAlias = GridLike | Puzzle

_K_PR = "Closed states at the end, times those when the start was; inf: all."
_OPEN = "Give states that are still open, too, with upper bounds as labels."


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
class _Limits(Checked):
    """Where a search ends without having gone as far as was asked."""

    time_limit: float | None = option(None, "Wall-clock time limit, in seconds.", least=0)
    memory_limit: int | None = option(None, "Memory limit of the process, in bytes.")
    max_expansions: int | None = option(None, "Stop after this many closed states.")


@dataclass(frozen=True)
class Prolonged(_Limits):
    """Options of prolonged on maps and puzzles."""

    name: ClassVar[str] = "prolonged"

    k_pr: float = option(2.0, _K_PR, least=1, most=math.inf)
    open: bool = option(True, _OPEN)
    blind: bool = option(False, "Search backward without a heuristic.")

    def sample(self, problem: Problem) -> Labels:
        """The labelled states of a problem."""
        options = _core.ProlongedOptions(k_pr=self.k_pr, open=self.open, blind=self.blind)
        found = _search(problem, options, native_limits(self))
        label = found.take_label()
        return _labels(problem, found, found.take_states(), label, np.arange(len(label)) < found.exact)


@dataclass(frozen=True)
class OptimalPath(_Limits):
    """Options of optimal-path, the vanilla data set: the states of one optimal path with their cost-to-go."""

    name: ClassVar[str] = "optimal-path"

    def sample(self, problem: Problem) -> Labels:
        """From the start to the goal; no states if a limit ran out. An `InputError` if there is no path."""
        options = _core.ProlongedOptions(k_pr=1.0, open=False)
        found = _search(problem, options, native_limits(self))
        if found.status == "unsolvable":
            raise InputError(f"there is no path from {problem.start} to the goal {problem.goal}")
        label = found.take_path_label()
        return _labels(problem, found, found.take_path(), label, np.ones(len(label), dtype=bool))


def value_map(problem: GridLike, labels: Labels) -> npt.NDArray[np.float64]:
    """The exact labels as an array of the problem's shape, NaN where there is none."""
    result = np.full(math.prod(problem.shape), np.nan)
    result[labels.states[labels.exact]] = labels.label[labels.exact]
    return result.reshape(problem.shape)


def _search(problem: Problem, options: _core.ProlongedOptions, limits: _core.Limits) -> _core.ProlongedLabels:
    found: _core.ProlongedLabels
    if isinstance(problem, GridProblem | LatticeProblem):
        found = problem.core.prolonged(problem.start, problem.core_goal, options, limits)
    else:
        core: Any = problem.core  # each kind has its own
        found = _core.prolonged(core, problem.start, options, limits)
    return uninterrupted(found)


def _labels(
    problem: Problem,
    found: _core.ProlongedLabels,
    rows: npt.NDArray[np.int32],
    label: npt.NDArray[np.float64],
    exact: npt.NDArray[np.bool_],
) -> Labels:
    """Numbers of cells, or of cells with headings, index arrays; states of puzzles are rows as they are."""
    states = rows if isinstance(problem, Puzzle) else rows[:, 0]
    ended = ("status", "reached", "expanded", "generated", "search_time", "cpu_time")
    return Labels(states, label, exact, **{name: getattr(found, name) for name in ended})


@SAMPLERS.register("prolonged")
@dataclass(frozen=True)
class ProlongedTask(Sampler):
    """Options of prolonged on planning tasks."""

    name: ClassVar[str] = "prolonged"

    k_pr: float = option(2.0, _K_PR, least=1, most=math.inf)
    states: int = option(100_000, "Most states to give; of more, some by chance.", least=1)
    open: bool = option(False, _OPEN)
    goals: int = option(10_000, "Most goal states to begin with.", least=1)
    max_closed: int = option(1_000_000, "Closed states at which the search ends.", least=1)
    seed: int = option(0, "Seed of the choice among states.")

    def sample(self, task: Task) -> Dataset:
        """Labelled states; needs a task without axioms and conditional effects, and a goal of few states."""
        options = _core.ProlongedOptions(k_pr=self.k_pr, open=self.open, goals=self.goals)
        limits = _core.Limits(expansions=self.max_closed)
        found = uninterrupted(_core.prolonged(task.core, options, limits))
        label = found.take_label().astype(np.float32)
        exact = np.arange(len(label)) < found.exact
        values = found.take_states()
        if len(label) > self.states:
            chosen = np.random.default_rng(self.seed).permutation(len(label))[: self.states]
            chosen.sort()
            label, exact, values = label[chosen], exact[chosen], values[chosen]
        states = _core.encode(task.core, np.ascontiguousarray(values))
        lower = np.where(exact, label, np.nan).astype(np.float32)
        return labelled(task, self, states, label, lower=lower, upper=label)


def backward_labels(problem: OwnProblem, states: int) -> tuple[list[Any], npt.NDArray[np.float32]]:
    """The closed states, at most so many, with their costs to the nearest goal."""
    goals = problem.goals
    if not goals:
        raise InputError(f"{problem.name}: the list of goals is empty")
    for goal in goals:
        if not problem.is_goal(goal):
            raise InputError(f"{problem.name}: {goal!r:.60} is in goals, and its goal test says it is none")
    numbers = itertools.count()
    best: dict[bytes, int] = {}
    queue: list[tuple[int, int, bytes, Any]] = []
    for key, goal in zip(problem.keys(goals), goals, strict=True):
        if key not in best:
            best[key] = 0
            queue.append((0, next(numbers), key, goal))
    found: list[Any] = []
    label: list[int] = []
    while queue and len(found) < states:
        cost, _, key, state = heapq.heappop(queue)
        if cost > best[key]:
            continue
        found.append(state)
        label.append(cost)
        steps = problem.predecessors(state)
        keys = problem.keys([before for _, before, _ in steps])
        for before_key, (_, before, step) in zip(keys, steps, strict=True):
            total = cost + problem.functions.whole_cost(step, before)
            known = best.get(before_key)
            if known is None or total < known:
                best[before_key] = total
                heapq.heappush(queue, (total, next(numbers), before_key, before))
    return found, (np.array(label) / problem.scale).astype(np.float32)
