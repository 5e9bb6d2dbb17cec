"""Random maps and problems: fixed by seeds, connected, without duplicates, of the wanted kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hstar.errors import InputError
from hstar.search.solve import solve
from hstar.spaces.grid import Grid
from hstar.spaces.grid_maps import (
    MAPS,
    MapOptions,
    problem_digest,
    problems_on,
    random_problem,
    random_problems,
)


def test_the_default_is_the_distribution_of_the_paper() -> None:
    problems = random_problems(100, seed=0)
    blocked = np.array([problem.grid.blocked for problem in problems])
    assert blocked.shape == (100, 30, 30)
    assert 0.31 < blocked.mean() < 0.35
    assert all(problem.grid.neighbours == 4 and problem.start != problem.goal for problem in problems)


@pytest.mark.parametrize("kind", list(MAPS))
@pytest.mark.parametrize("neighbours", [4, 8])
def test_start_and_goal_are_connected(kind: str, neighbours: int) -> None:
    for seed in range(30):
        problem = random_problem(seed, kind=kind, rows=17, columns=23, neighbours=neighbours)
        assert problem.grid.shape == (17, 23)
        assert solve(problem, None, "astar").solved


@pytest.mark.parametrize("kind", list(MAPS))
def test_seeds(kind: str) -> None:
    options = MapOptions(kind=kind)
    assert problem_digest(random_problem(3, options)) == problem_digest(random_problem(3, options))
    assert problem_digest(random_problem(3, options)) != problem_digest(random_problem(4, options))
    some, more = random_problems(3, 1, options), random_problems(5, 1, options)
    assert [problem_digest(one) for one in some] == [problem_digest(one) for one in more[:3]]


def test_no_problem_is_there_twice() -> None:
    # Two free cells in a row: two problems, by which of them is the goal.
    small = {"rows": 1, "columns": 2, "blocked_share": 0.0}
    found = random_problems(2, 0, **small)
    assert {(problem.start, problem.goal) for problem in found} == {((0, 0), (0, 1)), ((0, 1), (0, 0))}
    with pytest.raises(InputError, match="there are hardly more than 2 such problems, 3 are wanted"):
        random_problems(3, 0, **small)


def test_mazes_are_trees() -> None:
    for corridor in (1, 2, 3):
        for seed in range(5):
            blocked = random_problem(seed, kind="maze", rows=25, columns=31, corridor=corridor).grid.blocked
            free = np.argwhere(~blocked)
            assert np.isfinite(Grid(blocked).distances(tuple(free[0]))).sum() == len(free), "one piece"
            if corridor == 1:
                steps = (~blocked[1:] & ~blocked[:-1]).sum() + (~blocked[:, 1:] & ~blocked[:, :-1]).sum()
                assert steps == len(free) - 1, "no way around"


@pytest.mark.parametrize("shape", [(31, 31), (30, 33), (16, 9), (8, 8)])
def test_rooms_are_connected(shape: tuple[int, int]) -> None:
    for seed in range(5):
        blocked = random_problem(seed, kind="rooms", rows=shape[0], columns=shape[1]).grid.blocked
        free = np.argwhere(~blocked)
        assert np.isfinite(Grid(blocked).distances(tuple(free[0]))).sum() == len(free)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "caves"}, r"unknown kind of map 'caves' \(known: scattered, maze, rooms\)"),
        ({"rows": 0}, "rows must be a whole number from 1 on, got 0"),
        ({"columns": 2.5}, r"columns must be a whole number from 1 on, got 2\.5"),
        ({"blocked_share": 1.0}, r"blocked_share must be a number from 0 on, below 1, got 1\.0"),
        ({"rows": 1, "columns": 1}, "a problem needs at least 2 cells"),
        ({"neighbours": 5}, "neighbours must be 4 or 8, got 5"),
        ({"rows": 1, "columns": 3, "blocked_share": 0.999}, "500 maps in a row have no two cells"),
    ],
)
def test_mistakes(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        random_problem(0, **change)


def test_problems_on_given_maps() -> None:
    grids = [random_problem(seed, rows=7, columns=9).grid for seed in range(2)]
    found = problems_on(grids, 9, seed=4)
    assert [problem.grid for problem in found] == [grids[i % 2] for i in range(9)]
    for problem in found:
        assert problem.start != problem.goal
        assert np.isfinite(problem.grid.distances(problem.goal)[problem.start])
    assert len({(problem.start, problem.goal) for problem in found}) > 5
    again = problems_on(grids, 9, seed=4)
    assert [(one.start, one.goal) for one in again] == [(one.start, one.goal) for one in found]
    lonely = Grid(np.array([[0, 1, 0]], dtype=bool))
    with pytest.raises(InputError, match="map 2 has no two cells with a way between them"):
        problems_on([grids[0], lonely], 2, seed=0)
    with pytest.raises(InputError, match="no maps to draw problems on"):
        problems_on([], 1, seed=0)
