"""Optimal plans of puzzles: as short as a search of the whole space says, for every kind."""

from __future__ import annotations

import itertools

import pytest

from hstar import _core
from hstar.search.databases import PUZZLE_15
from hstar.search.puzzle_optimal import optimal_plans
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.puzzles import parse_puzzle
from oracles import puzzles as oracle


def is_plan(puzzle: Puzzle, states: list[State]) -> bool:
    """Whether each state is a neighbour of the one before, from start to goal."""
    neighbours = itertools.pairwise(states)
    return (states[0], states[-1]) == (puzzle.start, puzzle.goal) and all(
        two in (puzzle.successor(one, action) for action in range(1024)) for one, two in neighbours
    )


@pytest.mark.parametrize("name", ["tiles:2x3", "pancake:6", "blocks:5"])
def test_plans_are_the_shortest(name: str) -> None:
    size = parse_puzzle(name)
    exact, plans = oracle.distances(size), optimal_plans(size)
    for state, distance in list(exact.items())[:: 1 + len(exact) // 100]:
        puzzle = size.at(state)
        states = plans.states(puzzle)
        assert states is not None and len(states) == distance + 1 and is_plan(puzzle, states)


@pytest.mark.parametrize("name", ["pancake:20", "blocks:12"])
def test_larger_ones(name: str) -> None:
    size = parse_puzzle(name)
    plans, puzzle = optimal_plans(size), size.random(5)
    states = plans.states(puzzle, time_limit=100.0)
    assert states is not None and is_plan(puzzle, states)


def test_time_that_runs_out() -> None:
    size = parse_puzzle("tiles:3x4")
    assert optimal_plans(size).states(size.random(1), time_limit=0.0) is None


def test_ctrl_c() -> None:
    """In a search that would take days."""
    size = parse_puzzle("tiles:3x8")

    def interrupt(record: _core.Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimal_plans(size).states(size.random(1), progress=interrupt)


def test_what_is_out_of_reach() -> None:
    names = ("tiles:4x4", "tiles:5x5", "pancake:24", "blocks:15")
    assert [parse_puzzle(name).quickly_solved for name in names] == [True, False, True, True]


def test_patterns_of_the_15_puzzle() -> None:
    """Each set has every tile once, so that its costs may be added; the second set is the mirror image."""
    for patterns in PUZZLE_15:
        assert sorted(tile for pattern in patterns for tile in pattern) == list(range(1, 16))
    mirrored = [[tile % 4 * 4 + tile // 4 for tile in pattern] for pattern in PUZZLE_15[0]]
    assert mirrored == [list(pattern) for pattern in PUZZLE_15[1]]
