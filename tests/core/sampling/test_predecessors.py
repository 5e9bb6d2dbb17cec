"""Backward steps between states: each leads forward again, and none is missing where nothing is left open."""

from __future__ import annotations

import pytest

from conftest import Case, Cases
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from oracles import preimages as oracle


@pytest.fixture(params=oracle.PLAIN)
def plain(request: pytest.FixtureRequest, cases: Cases) -> Case:
    return cases[request.param]


def test_every_predecessor_leads_to_the_state(plain: Case) -> None:
    core = plain.task.core
    steps = _core.Predecessors.of(core)
    for seed, state in enumerate(plain.states[:: max(1, len(plain.states) // 40)]):
        found, operators = steps.find(state, seed)
        assert len(found) == len(operators) == len(set(operators.tolist()))
        for before, operator in zip(found.tolist(), operators.tolist(), strict=True):
            assert before != list(state)
            assert core.successor(before, operator) == list(state)


@pytest.mark.parametrize("name", ["npuzzle-2x3", "ferry-3-2", "blocksworld-4", "ipc-gripper"])
def test_none_is_missing(cases: Cases, name: str) -> None:
    """Of the states that can be reached: regression leaves nothing open, or mutexes close it."""
    case = cases[name]
    core = case.task.core
    states = case.states[:200]
    wanted: dict[tuple[int, ...], set[tuple[tuple[int, ...], int]]] = {state: set() for state in states}
    for before in case.states:
        for operator in core.applicable_operators(before):
            after = tuple(core.successor(before, operator))
            if after in wanted and after != before:
                wanted[after].add((before, operator))
    steps = _core.Predecessors.of(core)
    for state in states:
        found, operators = steps.find(state, 7)
        pairs = set(zip(map(tuple, found.tolist()), operators.tolist(), strict=True))
        assert wanted[state] <= pairs


def test_what_is_open_is_left_to_chance_and_the_seed(cases: Cases) -> None:
    """A cell that a robot comes to may have been visited before, or not."""
    case = cases["ipc-visitall"]
    steps = _core.Predecessors.of(case.task.core)
    goal = steps.goal(1)
    assert goal is not None and steps.goal(1) == goal
    assert all(goal[variable] == value for variable, value in case.task.core.goal)
    seen = {tuple(map(tuple, steps.find(goal, seed)[0].tolist())) for seed in range(20)}
    assert len(seen) > 1
    assert steps.find(goal, 3)[0].tolist() == steps.find(goal, 3)[0].tolist()


def test_mistakes(cases: Cases) -> None:
    for name, what in (("axioms", "axioms"), ("conditional", "conditional effects")):
        with pytest.raises(UnsupportedError, match=f"regression does not support {what}"):
            _core.Predecessors.of(cases[name].task.core)
    steps = _core.Predecessors.of(cases["chain"].task.core)
    for wrong in ([0, 0], [77], [-1]):
        with pytest.raises(InputError):
            steps.find(wrong, 0)
