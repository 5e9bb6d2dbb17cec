"""Prolonged backward search: labels against plain Python, how far it goes, limits, and the vanilla data."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar import _core
from hstar.errors import InputError
from hstar.sampling.prolonged import Labels, OptimalPath, Prolonged, value_map
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
from hstar.spaces.grid_maps import random_problem
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.tiles import Tiles
from oracles import puzzles as puzzle_oracle
from oracles.grid_cases import Case, cases, random_case

SWEEP = (1.0, 1.5, 2.0, 3.0, 5.0, math.inf)


def check(case: Case, labels: Labels) -> None:
    """Exact labels are those of the oracle, others are not below it; no state is there twice."""
    states = [tuple(map(int, np.unravel_index(number, case.problem.shape))) for number in labels.states]
    assert len(set(states)) == len(states)
    for state, label, exact in zip(states, labels.label, labels.exact, strict=True):
        h = case.exact[state]
        assert label == pytest.approx(h, abs=1e-5, rel=1e-9) if exact else label >= h - 1e-5
    assert labels.reached == (case.optimum is not None)
    if labels.reached:
        assert case.problem.start in {state for state, e in zip(states, labels.exact, strict=True) if e}


@settings(max_examples=90, deadline=None)
@given(cases, st.sampled_from(SWEEP), st.booleans())
def test_labels_of_grids_and_lattices(case: Case, k_pr: float, blind: bool) -> None:
    labels = Prolonged(k_pr=k_pr, blind=blind).sample(case.problem)
    check(case, labels)
    assert labels.status == ("unsolvable" if case.optimum is None else "solved")
    if math.isinf(k_pr) or case.optimum is None:
        assert labels.exact.all() and len(labels) == len(case.exact), "all that have a way to the goal"
    assert len(Prolonged(k_pr=k_pr, blind=blind, open=False).sample(case.problem)) == labels.exact.sum()


def test_unit_labels_are_whole_and_diagonal_ones_exact() -> None:
    """Not a rounding error of a sum: what a + b sqrt(2) is, rounded once."""
    size = 300
    problem = GridProblem(Grid(np.zeros((size, size), dtype=bool), None, 8), (0, 0), (size - 1, size - 1))
    label = value_map(problem, Prolonged(k_pr=math.inf).sample(problem))
    rows, columns = np.indices((size, size))
    low, high = np.sort([size - 1 - rows, size - 1 - columns], axis=0)
    np.testing.assert_allclose(label, high - low + low * math.sqrt(2), rtol=3e-15)


def test_more_with_a_greater_factor() -> None:
    for seed in range(20):
        problem = random_problem(seed, neighbours=4 if seed % 2 else 8)
        closed = []
        for k_pr in SWEEP:
            labels = Prolonged(k_pr=k_pr, blind=False).sample(problem)
            closed.append({int(state) for state in labels.states[labels.exact]})
        sizes = [len(states) for states in closed]
        assert sizes == sorted(sizes)
        # With one heuristic the order is the same, and a longer search begins with the shorter one.
        assert all(small <= large for small, large in pairwise(closed))
        for k_pr, size in zip(SWEEP, sizes, strict=True):
            assert size == min(math.ceil(k_pr * sizes[0]) if k_pr < math.inf else sizes[-1], sizes[-1])


def test_the_heuristic_leads_to_the_start() -> None:
    problem = GridProblem(Grid(np.zeros((50, 50), dtype=bool)), (10, 10), (30, 30))
    with_it, without = (Prolonged(k_pr=1, blind=blind).sample(problem) for blind in (False, True))
    assert with_it.expanded < without.expanded / 4
    assert with_it.states[with_it.exact][0] == 30 * 50 + 30, "the goal is closed first"
    assert with_it.states[with_it.exact][-1] == 10 * 50 + 10, "the start last"


def test_a_start_that_cannot_be_reached() -> None:
    problem = GridProblem(Grid(np.array([[0, 1, 0, 0]])), (0, 0), (0, 3))
    labels = Prolonged().sample(problem)
    assert (labels.status, labels.reached) == ("unsolvable", False)
    assert (labels.states.tolist(), labels.label.tolist()) == ([3, 2], [0, 1])
    assert labels.exact.all()
    with pytest.raises(InputError, match=r"there is no path from \(0, 0\) to the goal \(0, 3\)"):
        OptimalPath().sample(problem)


def test_the_optimal_path() -> None:
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 60:
        case = random_case(rng)
        if case.optimum is None:
            continue
        tried += 1
        labels = OptimalPath().sample(case.problem)
        check(case, labels)
        assert labels.label[0] == pytest.approx(case.optimum, abs=1e-5, rel=1e-9)
        assert labels.label[-1] == 0 and labels.exact.all()
        assert (np.diff(labels.label) <= 0).all()
        result = solve(case.problem, None, "astar")
        assert result.plan_cost == pytest.approx(labels.label[0], abs=1e-5)


def test_headings_of_the_goal() -> None:
    grid = Grid(np.zeros((4, 4), dtype=bool))
    some = Prolonged(k_pr=math.inf).sample(LatticeProblem(grid, (0, 0, 0), (2, 2, 3)))
    every = Prolonged(k_pr=math.inf).sample(LatticeProblem(grid, (0, 0, 0), (2, 2)))
    assert (some.label == 0).sum() == 1 and (every.label == 0).sum() == 8
    assert len(some) == len(every) == 4 * 4 * 8


# --- puzzles ----------------------------------------------------------------------------------------


def puzzles() -> list[Puzzle]:
    found: list[Puzzle] = []
    for seed in range(6):
        found += [
            Tiles.solved(2, 3).random(seed),
            Pancake.solved(6).random(seed),
            Blocks.solved(5).random(seed),
            Blocks.solved(5, (0, 0, 1, 2, 3)).random(seed),
        ]
    return [*found, Pancake((0,)), Blocks((0,)), Tiles(2, 2, (0, 1, 2, 3))]


@pytest.mark.parametrize("k_pr", [1.0, 2.0, math.inf])
def test_labels_of_puzzles(k_pr: float) -> None:
    for puzzle in puzzles():
        exact = puzzle_oracle.distances(puzzle)
        labels = Prolonged(k_pr=k_pr).sample(puzzle)
        states = [tuple(row) for row in labels.states.tolist()]
        assert len(set(states)) == len(states)
        for state, label, is_exact in zip(states, labels.label, labels.exact, strict=True):
            assert label == exact[state] if is_exact else label >= exact[state]
        closed = {state for state, is_exact in zip(states, labels.exact, strict=True) if is_exact}
        assert labels.status == "solved" and labels.reached and puzzle.start in closed
        if math.isinf(k_pr):
            assert closed == set(exact) == set(states)
        path = OptimalPath().sample(puzzle)
        assert path.label.tolist() == list(range(exact[puzzle.start], -1, -1))
        steps = [tuple(row) for row in path.states.tolist()]
        assert steps[0] == puzzle.start and steps[-1] == puzzle.goal
        for one, two in pairwise(steps):
            assert two in {after for _, after in puzzle_oracle.neighbours(puzzle, one)}


def test_the_heuristics_of_puzzles_lead_to_the_start() -> None:
    for puzzle in (Tiles.solved(3, 3).random(4), Pancake.solved(9).random(3), Blocks.solved(7).random(4)):
        guided, blind = (Prolonged(k_pr=1, blind=blind).sample(puzzle) for blind in (False, True))
        assert guided.expanded < blind.expanded / 2, puzzle.name
        assert guided.reached and blind.reached


# --- limits and mistakes ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["grid", "tiles"])
def test_limits(kind: str) -> None:
    problem: Any = Tiles.solved(4, 4).random(1)
    if kind == "grid":
        problem = GridProblem(Grid(np.zeros((300, 300), dtype=bool)), (0, 0), (299, 299))
    labels = Prolonged(k_pr=1, blind=True, max_expansions=500).sample(problem)
    assert (labels.status, labels.reached, labels.exact.sum()) == ("expansion_limit", False, 500)
    assert len(OptimalPath(max_expansions=5).sample(problem)) == 0
    assert Prolonged(time_limit=0).sample(problem).status == "time_limit"


def test_the_limit_of_memory_ends_a_puzzle() -> None:
    # What the process holds now and a little more: the table grows until its next size is too much.
    limit = _core.peak_memory() + 8_000_000
    labels = Prolonged(k_pr=math.inf, memory_limit=limit, open=False).sample(Tiles.solved(4, 4).random(2))
    assert labels.status == "memory_limit" and labels.exact.all() and len(labels) > 1000


@pytest.mark.parametrize("k_pr", [0.99, 0, -1, math.nan, "two", True])
def test_the_factor_must_be_one_or_more(k_pr: Any) -> None:
    with pytest.raises(InputError, match=f"k_pr must be a number from 1 on, got {k_pr!r}"):
        Prolonged(k_pr=k_pr)
