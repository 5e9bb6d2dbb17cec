"""Grids and lattices: cells of a map with obstacles, and what it costs to enter each of them.

A cell is (row, column), so that it indexes arrays of the map; a state of a lattice is (row, column,
heading), headings clockwise from north. A step costs what the cell that it enters costs, times the root of 2
if it is diagonal; a diagonal step needs both cells beside it free, as in the benchmarks of Moving AI, unless
corners may be cut. A lattice moves one cell ahead or turns by one heading on the spot.

Costs are exact in the core (`core/spaces/grid.h` says how) and floats here. `steps` is written in plain
Python and shares nothing with the core, so that `replay` can check what a native search returns.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, PlanError
from hstar.spaces.problem import HeuristicClaim, Replay, end_of_walk

if TYPE_CHECKING:
    from typing_extensions import Self

Cell: TypeAlias = tuple[int, ...]
Blocked: TypeAlias = npt.NDArray[np.bool_]

# Clockwise from north, as in the core: rows down, columns to the right.
DIRECTIONS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


@dataclass(frozen=True, eq=False)
class Grid:
    """A map: obstacles, optional costs of cells (1 otherwise), 4 or 8 neighbours."""

    blocked: Blocked
    costs: npt.NDArray[np.float64] | None = None
    neighbours: int = 4
    cut_corners: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocked", _obstacles(self.blocked))
        if self.costs is not None:
            object.__setattr__(self, "costs", _costs(self.costs, self.blocked.shape))
        self.core  # noqa: B018  # mistakes are told at once

    @cached_property
    def core(self) -> _core.GridSpace:
        blocked = self.blocked.view(np.uint8)
        return _core.GridSpace(blocked, self.costs, int(self.neighbours), bool(self.cut_corners))

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.blocked.shape
        return rows, columns

    def cell(self, number: int) -> tuple[int, int]:
        """Row and column of a cell by its index in the flat map."""
        row, column = divmod(int(number), self.shape[1])
        return row, column

    def is_free(self, row: int, column: int) -> bool:
        rows, columns = self.shape
        return 0 <= row < rows and 0 <= column < columns and not self.blocked[row, column]

    def ahead(self, row: int, column: int, direction: int) -> tuple[int, int, float, float] | None:
        """Row and column after a step from a free cell, its price if it is straight, and if it is diagonal.

        One price is 0. None if the step is not possible, whatever the number of neighbours.
        """
        down, right = DIRECTIONS[direction]
        there, diagonal = (row + down, column + right), direction % 2 == 1
        corners = [] if self.cut_corners or not diagonal else [(row + down, column), (row, column + right)]
        if not all(self.is_free(*cell) for cell in (there, *corners)):
            return None
        cost = 1.0 if self.costs is None else float(self.costs[there])
        return (*there, 0.0, cost) if diagonal else (*there, cost, 0.0)

    def distances(self, goal: Cell) -> npt.NDArray[np.float64]:
        """The cost-to-go of every cell, infinite where there is no way."""
        return self.core.distances(goal).reshape(self.shape)

    def lower_bounds(self, goal: Cell) -> npt.NDArray[np.float64]:
        """The admissible heuristic of every cell: its distance if nothing were in the way."""
        rows, columns = (np.abs(np.arange(size) - at) for size, at in zip(self.shape, goal, strict=True))
        rows = rows[:, None]
        straight = 1.0 if self.costs is None else float(self.costs[~self.blocked].min())
        if self.neighbours == 4:
            return straight * (rows + columns).astype(np.float64)
        near, far = np.minimum(rows, columns), np.maximum(rows, columns)
        return straight * (far + (math.sqrt(2) - 1) * near)


def _obstacles(blocked: Any) -> Blocked:
    try:
        array = np.asarray(blocked)
    except ValueError:
        raise InputError("a map is a table of rows of equal length") from None
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"a map is a table of rows and columns, got the shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise InputError(f"obstacles are 1 and free cells 0, got values of type {array.dtype}")
    if array.dtype != bool:
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            row, column = map(int, np.unravel_index(wrong.argmax(), wrong.shape))
            value = array[row, column]
            raise InputError(f"obstacles are 1 and free cells 0, got {value} in cell ({row}, {column})")
    return np.array(array, dtype=bool, order="C")


def _costs(costs: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    try:
        array = np.ascontiguousarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("costs are a table of numbers, one for each cell") from None
    if array.shape != shape:
        raise InputError(f"costs have the shape {array.shape}, the map has {shape}")
    return array


class MapProblem(ABC):
    """What grids and lattices share, as it is of a grid; a `Problem`.

    A native step is one of `moves`, counted from 1.
    """

    kind: ClassVar[str] = "map"
    name: ClassVar[str]
    moves: ClassVar[tuple[str, ...]]
    grid: Grid
    start: Cell
    goal: Cell

    @property
    @abstractmethod
    def core(self) -> Any:
        """The grid as the C++ core searches it."""

    @property
    def core_goal(self) -> Cell:
        """The goal as the native space takes it."""
        return self.goal

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an array with a number for each state."""
        return self.grid.shape

    @property
    def heuristic(self) -> str:
        """The strongest admissible heuristic that the space has by name."""
        return "manhattan" if self.grid.neighbours == 4 else "octile"

    def lower_bounds(self) -> npt.NDArray[np.float64]:
        """The values of that heuristic for all states."""
        return self.grid.lower_bounds(self.goal)

    @abstractmethod
    def steps(self, state: Cell) -> Iterator[tuple[Cell, float, float]]:
        """Successors, each with the price of a straight and of a diagonal step to it, one of them 0."""

    @abstractmethod
    def step(self, state: Cell, move: int) -> Cell:
        """The state after a native step."""

    @property
    def unit_cost(self) -> bool:
        return self.grid.costs is None and self.heuristic == "manhattan" and len(self.shape) == 2

    @cached_property
    def native(self) -> _core.Problem:
        problem: _core.Problem = self.core.problem(self.start, self.core_goal)
        return problem

    @property
    def claims(self) -> Sequence[HeuristicClaim]:
        return [HeuristicClaim(name, True) for name in (self.heuristic, "dijkstra", "blind")]

    def named_heuristic(self, name: str) -> _core.Heuristic:
        heuristic: _core.Heuristic = self.core.heuristic(self.native, name)
        return heuristic

    def states_of(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Row and column of each state, and its heading on a lattice."""
        return rows

    def at(self, start: Sequence[int] | None = None, goal: Sequence[int] | None = None) -> Self:
        """The same map with another start, another goal, or both."""
        new = {"start": start, "goal": goal}
        changed = {name: tuple(cell) for name, cell in new.items() if cell is not None}
        return replace(self, **changed)  # type: ignore[type-var]  # every kind of map is a dataclass

    def random(self, seed: int) -> Self:
        """The same map with a start and a goal that are drawn uniformly among the free cells."""
        generator, cells = random.Random(seed), np.flatnonzero(~self.grid.blocked)
        start, goal = (self.grid.cell(generator.choice(cells)) for _ in range(2))
        return self.at((*start, *self.start[2:]), (*goal, *self.goal[2:]))

    def walk(self, steps: int, seed: int) -> Self:
        """The same map from the end of a random walk of so many steps from the start."""
        return self.at(
            end_of_walk(self.start, steps, seed, lambda at: [*self.steps(at)], lambda _, step: step[0])
        )

    def replay(self, actions: Sequence[int]) -> Replay:
        states = [self.start]
        for number, move in enumerate(actions, 1):
            if not 1 <= move <= len(self.moves):
                raise PlanError(f"step {number} of the plan, move {move}, is none of 1..{len(self.moves)}")
            states.append(self.step(states[-1], move))
        return Replay(self.names(states), replay(self, states), states)

    def names(self, states: Sequence[Cell]) -> tuple[str, ...]:
        numbers = range(1, len(self.moves) + 1)
        return tuple(
            next(self.moves[move - 1] for move in numbers if self.step(one, move) == two)
            for one, two in pairwise(states)
        )

    def own_heuristic(self, heuristic: Any) -> _core.Heuristic | None:
        """Values of all states as an array, or with a bound; None for anything else."""
        values, eps = getattr(heuristic, "values", heuristic), getattr(heuristic, "eps", None)
        if not isinstance(values, np.ndarray):
            return None
        flat = self.value_map(values)
        if eps is not None:
            lower = self.lower_bounds().reshape(-1)
            flat = np.minimum(np.maximum(flat, lower), eps * lower).astype(np.float32)
        native: _core.Heuristic = self.core.heuristic(self.native, "values", flat)
        return native

    def value_map(self, values: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Values of all states as the core takes them; those of cells are for all headings."""
        try:
            array = np.asarray(values, dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError(f"not a heuristic of {self.name}: {values!r:.60}") from None
        if array.shape == self.grid.shape and len(self.shape) == 3:
            array = array[:, :, None]
        elif array.shape != self.shape:
            raise InputError(f"the value map has the shape {array.shape}, the problem has {self.shape}")
        return np.ascontiguousarray(np.broadcast_to(array, self.shape)).reshape(-1)


@dataclass(frozen=True, eq=False)
class GridProblem(MapProblem):
    """From one cell of a map to another."""

    name: ClassVar[str] = "grid"
    moves: ClassVar[tuple[str, ...]] = (
        *("north", "north-east", "east", "south-east"),
        *("south", "south-west", "west", "north-west"),
    )
    grid: Grid
    start: Cell
    goal: Cell

    def __post_init__(self) -> None:
        for what in ("start", "goal"):
            object.__setattr__(self, what, _numbers(getattr(self, what), what))
            self.core.check(getattr(self, what), what)

    @property
    def core(self) -> _core.GridSpace:
        return self.grid.core

    def steps(self, state: Cell) -> Iterator[tuple[Cell, float, float]]:
        row, column = state
        for direction in range(0, 8, 2 if self.grid.neighbours == 4 else 1):
            if found := self.grid.ahead(row, column, direction):
                yield found[:2], *found[2:]

    def step(self, state: Cell, move: int) -> Cell:
        down, right = DIRECTIONS[move - 1]
        return state[0] + down, state[1] + right


@dataclass(frozen=True, eq=False)
class LatticeProblem(MapProblem):
    """From a cell and a heading to a cell, and a heading if one is given."""

    name: ClassVar[str] = "lattice"
    moves: ClassVar[tuple[str, ...]] = ("ahead", "turn left", "turn right")
    grid: Grid  # its number of neighbours does not count: headings say where steps lead
    start: Cell
    goal: Cell
    headings: int = 8
    turn_cost: float = 1.0

    def __post_init__(self) -> None:
        for what in ("start", "goal"):
            object.__setattr__(self, what, _numbers(getattr(self, what), what))
        self.core.check(self.start, "start")
        self.core.check_goal(self.core_goal)

    @cached_property
    def core(self) -> _core.LatticeSpace:
        blocked = self.grid.blocked.view(np.uint8)
        corners = bool(self.grid.cut_corners)
        return _core.LatticeSpace(
            blocked, self.grid.costs, corners, int(self.headings), float(self.turn_cost)
        )

    @property
    def core_goal(self) -> Cell:
        return self.goal if len(self.goal) != 2 else (*self.goal, -1)  # any heading

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.grid.shape, self.headings)

    @property
    def heuristic(self) -> str:
        return "manhattan" if self.headings == 4 else "octile"

    def lower_bounds(self) -> npt.NDArray[np.float64]:
        """The admissible heuristic of every state, which knows nothing of turns."""
        steps = Grid(self.grid.blocked, self.grid.costs, 4 if self.headings == 4 else 8)
        return np.repeat(steps.lower_bounds(self.goal[:2])[:, :, None], self.headings, axis=2)

    def steps(self, state: Cell) -> Iterator[tuple[Cell, float, float]]:
        row, column, heading = state
        direction = heading * (8 // self.headings)
        if found := self.grid.ahead(row, column, direction):
            yield (*found[:2], heading), *found[2:]
        for turned in (heading - 1, heading + 1):
            yield (row, column, turned % self.headings), self.turn_cost, 0.0

    def step(self, state: Cell, move: int) -> Cell:
        row, column, heading = state
        if move != 1:
            return row, column, (heading + (1 if move == 3 else -1)) % self.headings
        down, right = DIRECTIONS[heading * (8 // self.headings)]
        return row + down, column + right, heading


GridLike: TypeAlias = GridProblem | LatticeProblem


def _numbers(state: Any, what: str) -> Cell:
    try:
        numbers = tuple(state)
        whole = tuple(int(number) for number in numbers)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be whole numbers, got {state!r:.60}") from None
    if whole != numbers or any(abs(number) >= 2**62 for number in whole):
        raise InputError(f"{what} must be whole numbers, got {state!r:.60}")
    return whole


def replay(problem: MapProblem, path: Sequence[Cell]) -> float:
    """The cost of a path from the start to the goal; a `PlanError` if it does not lead there."""
    if not path or path[0] != problem.start:
        raise PlanError(f"the path begins with {path[:1]}, not with the start {problem.start}")
    straight: list[float] = []
    diagonal: list[float] = []
    for number, (one, two) in enumerate(pairwise(path), 1):
        prices = {state: price for state, *price in problem.steps(one)}
        if two not in prices:
            raise PlanError(f"step {number} of the path, from {one} to {two}, is not possible")
        straight.append(prices[two][0])
        diagonal.append(prices[two][1])
    if path[-1][: len(problem.goal)] != problem.goal:
        raise PlanError(f"the path ends in {path[-1]}, not in the goal {problem.goal}")
    return math.fsum(straight) + math.sqrt(2) * math.fsum(diagonal)
