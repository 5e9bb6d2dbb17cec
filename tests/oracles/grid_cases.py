"""Random problems on grids and lattices for tests, with their oracles."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from hstar.spaces.grid import Cell, Grid, GridProblem, LatticeProblem
from oracles import grids as oracle


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, and what plain Python knows about it."""

    problem: GridProblem | LatticeProblem
    steps: oracle.Steps

    @cached_property
    def states(self) -> list[Cell]:
        free = map(tuple, np.argwhere(~self.problem.grid.blocked).tolist())
        headings = [()] if len(self.problem.shape) == 2 else [(h,) for h in range(self.problem.shape[2])]
        return [(*cell, *heading) for cell, heading in itertools.product(free, headings)]

    @cached_property
    def exact(self) -> dict[Cell, float]:
        goal = self.problem.goal
        goals = {state for state in self.states if state[: len(goal)] == goal}
        return oracle.distances(self.states, goals, self.steps)

    @property
    def optimum(self) -> float | None:
        return self.exact.get(self.problem.start)


def random_case(rng: np.random.Generator, most: int = 9, lattice: bool | None = None) -> Case:
    """A small map of any kind with two free cells; there need not be a way between them."""
    shape = tuple(rng.integers(1, most + 1, 2))
    blocked = rng.random(shape) < rng.choice([0.0, 0.2, 0.33, 0.5])
    places = rng.integers(0, shape, (2, 2))
    for row, column in places:
        blocked[row, column] = False
    kind = rng.integers(3)
    costs = None
    if kind:
        costs = rng.integers(1, 6, shape).astype(float) if kind == 1 else rng.uniform(0.1, 4.0, shape)
    corners = bool(rng.integers(2))
    start, goal = (tuple(int(number) for number in place) for place in places)
    if lattice if lattice is not None else bool(rng.integers(2)):
        headings = int(rng.choice([4, 8]))
        turn = float(rng.choice([0.0, 0.5, 1.0, 3.0]))
        grid = Grid(blocked, costs, 8, corners)
        start = (*start, int(rng.integers(headings)))
        goal = (*goal, int(rng.integers(headings))) if rng.integers(2) else goal
        problem = LatticeProblem(grid, start, goal, headings, turn)
        return Case(problem, oracle.lattice_steps(blocked, costs, headings, corners, turn))
    neighbours = int(rng.choice([4, 8]))
    grid = Grid(blocked, costs, neighbours, corners)
    return Case(GridProblem(grid, start, goal), oracle.grid_steps(blocked, costs, neighbours, corners))


cases = st.integers(0, 2**32).map(lambda seed: random_case(np.random.default_rng(seed)))
