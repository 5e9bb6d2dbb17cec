"""Walks from the goal towards the unknown, and walks of given lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hstar.sampling.backward_walks import PuzzleWalks
from hstar.sampling.uncertain_tasks import uncertain_task
from hstar.spaces.puzzle import State
from hstar.spaces.puzzles import parse_puzzle
from oracles import puzzles as oracle

PUZZLE = parse_puzzle("tiles:2x3")
WALKS = PuzzleWalks(PUZZLE)
RNG = np.random.default_rng(0)  # puzzles leave nothing to chance


class Recorder:
    """Variances by a function of the state, and what was asked."""

    def __init__(self, variance: Any) -> None:
        self.variance = variance
        self.asked: list[list[State]] = []

    def __call__(self, states: Sequence[State]) -> Any:
        self.asked.append(list(states))
        return np.array([self.variance(state) for state in states], dtype=np.float64)


def test_it_ends_where_the_unknown_begins() -> None:
    distances = oracle.distances(PUZZLE)
    for seed in range(20):
        recorder = Recorder(lambda state: 1.0 if distances[state] >= 5 else 0.5)
        task = uncertain_task(WALKS, recorder, np.random.default_rng(seed), epsilon=1.0, max_steps=500)
        assert distances[task] == 5
        # Nothing before it was above the threshold, and no step was taken back at once.
        for before, after in zip(recorder.asked, recorder.asked[1:], strict=False):
            (here,) = [state for state in before if set(after) <= set(WALKS.neighbours(state, RNG))]
            assert distances[here] < 5
            assert len(after) == len(WALKS.neighbours(here, RNG)) - 1


def test_it_ends_after_the_given_steps() -> None:
    recorder = Recorder(lambda state: 0.0)
    uncertain_task(WALKS, recorder, np.random.default_rng(0), max_steps=7)
    assert len(recorder.asked) == 7


@pytest.mark.parametrize("softmax", ["sd", "variance"])
def test_choices_follow_the_softmax(softmax: str) -> None:
    """Two neighbours of the goal, with variances 4 and 1."""
    first, second = WALKS.neighbours(PUZZLE.goal, RNG)
    recorder = Recorder({first: 4.0, second: 1.0}.__getitem__)
    tasks = [
        uncertain_task(WALKS, recorder, np.random.default_rng(seed), softmax=softmax) for seed in range(2000)
    ]
    share = tasks.count(first) / len(tasks)
    apart = 1.0 if softmax == "sd" else 3.0
    assert share == pytest.approx(1 / (1 + np.exp(-apart)), abs=0.035)
    assert set(tasks) == {first, second}


def test_huge_variances_do_not_overflow() -> None:
    recorder = Recorder(lambda state: 1e300)
    with np.errstate(all="raise", under="ignore"):
        task = uncertain_task(WALKS, recorder, np.random.default_rng(0), softmax="variance")
    assert task in WALKS.neighbours(PUZZLE.goal, RNG)


@pytest.mark.parametrize("name", ["tiles:3x3", "pancake:6", "blocks:5"])
def test_neighbours_are_those_of_plain_python(name: str) -> None:
    puzzle = parse_puzzle(name).random(3)
    actions = puzzle.core.actions(puzzle.start)
    assert PuzzleWalks(puzzle).neighbours(puzzle.start, RNG) == [
        puzzle.successor(puzzle.start, one) for one in actions
    ]


def test_length_inc() -> None:
    distances = oracle.distances(PUZZLE)
    for iteration in (1, 2, 3):
        ends = {WALKS.walk(iteration * 2, np.random.default_rng((iteration, seed))) for seed in range(40)}
        assert len(ends) > 1
        assert all(distances[end] <= 2 * iteration and distances[end] % 2 == 0 for end in ends)
        assert max(distances[end] for end in ends) == 2 * iteration
