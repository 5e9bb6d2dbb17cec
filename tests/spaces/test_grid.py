"""Grids and lattices: steps against plain Python, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from hstar.errors import InputError, PlanError
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem, replay
from oracles.grid_cases import Case, cases

FREE = np.zeros((3, 4), dtype=bool)
ROOT = math.sqrt(2)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_steps_in_both_directions(case: Case) -> None:
    problem = case.problem
    forward, backward = {}, {}
    for state in case.states:
        number = int(np.ravel_multi_index(state, problem.shape))
        plain = {there: price * (ROOT if diagonal else 1) for there, price, diagonal in case.steps(state)}
        own = {there: straight + diagonal * ROOT for there, straight, diagonal in problem.steps(state)}
        assert own == plain
        numbered = {int(np.ravel_multi_index(there, problem.shape)): cost for there, cost in plain.items()}
        found = dict(problem.core.successors(state))
        assert found == pytest.approx(numbered, abs=1e-7)
        forward |= {(number, there): cost for there, cost in found.items()}
        backward |= {(there, number): cost for there, cost in problem.core.predecessors(state)}
    assert forward == backward


def test_diagonal_steps_need_both_cells_beside_them() -> None:
    blocked = np.array([[0, 0], [1, 0]])
    assert len(Grid(blocked, None, 8).core.successors((0, 0))) == 1
    assert len(Grid(blocked, None, 8, cut_corners=True).core.successors((0, 0))) == 2
    assert len(Grid(blocked, None, 4, cut_corners=True).core.successors((0, 0))) == 1


def test_distances() -> None:
    grid = Grid([[0, 0, 0], [1, 1, 0]])  # type: ignore[arg-type]
    assert grid.distances((0, 0)).tolist() == [[0, 1, 2], [math.inf, math.inf, 3]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1], [0]],), "a map is a table of rows of equal length"),
        (([0, 1],), r"a map is a table of rows and columns, got the shape \(2,\)"),
        ((np.zeros((0, 3)),), r"a map is a table of rows and columns, got the shape \(0, 3\)"),
        ((np.array([[0, 1], [2, 0]]),), r"obstacles are 1 and free cells 0, got 2 in cell \(1, 0\)"),
        ((np.array([[0, math.nan]]),), r"obstacles are 1 and free cells 0, got nan in cell \(0, 1\)"),
        ((np.array([["a"]]),), "obstacles are 1 and free cells 0, got values of type"),
        ((FREE, np.ones((4, 3))), r"costs have the shape \(4, 3\), the map has \(3, 4\)"),
        ((FREE, "much"), "costs are a table of numbers, one for each cell"),
        ((FREE, np.full((3, 4), 0.0)), r"cell \(0, 0\) costs 0; costs are numbers from 0\.001 to 1e\+06"),
        ((FREE, np.full((3, 4), math.nan)), r"cell \(0, 0\) costs nan"),
        ((FREE, None, 6), "a cell has 4 or 8 neighbours, got 6"),
    ],
)
def test_what_is_no_map_is_one_line(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Grid(*arguments)
    assert "\n" not in str(caught.value)


def test_costs_of_obstacles_do_not_count() -> None:
    costs = np.array([[1.0, math.nan, 2.0]])
    assert Grid(np.array([[0, 1, 0]]), costs).distances((0, 0))[0, 0] == 0


@pytest.mark.parametrize(
    ("start", "goal", "message"),
    [
        ((0, 1), (2, 0), r"start \(0, 1\) is an obstacle"),
        ((0, 0), (0, 1), r"goal \(0, 1\) is an obstacle"),
        ((3, 0), (2, 0), r"start \(3, 0\) is outside of the map of 3 x 4 cells"),
        ((0, 0), (0, -1), r"goal \(0, -1\) is outside of the map of 3 x 4 cells"),
        ((0, 0, 0), (0, 0), "start must be a row and a column, got 3 numbers"),
        ((0.5, 0), (0, 0), r"start must be whole numbers, got \(0\.5, 0\)"),
        (("a", 0), (0, 0), "start must be whole numbers"),
        ((0, 0), 7, "goal must be whole numbers, got 7"),
        ((0, 10**30), (0, 0), "start must be whole numbers"),
    ],
)
def test_wrong_places(start: Any, goal: Any, message: str) -> None:
    blocked = FREE.copy()
    blocked[0, 1] = True
    with pytest.raises(InputError, match=message):
        GridProblem(Grid(blocked), start, goal)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": (0, 0)}, "start must be a row, a column and a heading, got 2 numbers"),
        ({"start": (0, 0, 8)}, r"start has the heading 8, which is not in 0\.\.7"),
        ({"goal": (0, 0, -2)}, "goal has the heading -2"),
        ({"goal": (9, 0)}, r"goal \(9, 0\) is outside"),
        ({"headings": 6}, "a lattice has 4 or 8 headings, got 6"),
        ({"turn_cost": -1.0}, "the cost of a turn is a number from 0 to 1e6"),
        ({"turn_cost": math.nan}, "the cost of a turn is a number from 0 to 1e6"),
    ],
)
def test_wrong_lattices(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LatticeProblem(**{"grid": Grid(FREE), "start": (0, 0, 0), "goal": (2, 2), **change})


def test_a_path_that_leads_nowhere() -> None:
    problem = GridProblem(Grid(FREE), (0, 0), (0, 2))
    assert replay(problem, [(0, 0), (0, 1), (0, 2)]) == 2
    with pytest.raises(PlanError, match="not with the start"):
        replay(problem, [(0, 1), (0, 2)])
    with pytest.raises(PlanError, match=r"step 1 of the path, from \(0, 0\) to \(0, 2\), is not possible"):
        replay(problem, [(0, 0), (0, 2)])
    with pytest.raises(PlanError, match="not in the goal"):
        replay(problem, [(0, 0), (0, 1)])


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("costs", [False, True])
def test_lower_bounds_are_those_of_the_search(neighbours: int, costs: bool) -> None:
    rng = np.random.default_rng(neighbours)
    blocked = rng.random((7, 9)) < 0.2
    goal = (2, 3)
    blocked[goal] = False
    grid = Grid(blocked, rng.integers(2, 6, (7, 9)).astype(float) if costs else None, neighbours)
    bounds, distances = grid.lower_bounds(goal), grid.distances(goal)
    assert (bounds <= distances + 1e-9).all() and bounds[goal] == 0
    for row, column in np.argwhere(~blocked).tolist():
        found = solve(GridProblem(grid, (row, column), goal), None, "astar", max_expansions=0)
        assert bounds[row, column] == pytest.approx(found.initial_h, abs=1e-6)
