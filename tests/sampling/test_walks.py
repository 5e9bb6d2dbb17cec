"""Random walks: reachable ends, lengths, determinism."""

from __future__ import annotations

import numpy as np
import pytest

import hstar
from conftest import Case, Cases
from hstar.errors import InputError
from hstar.sampling.walks import Walks
from oracles import sas


def test_ends_are_reachable(case: Case) -> None:
    states = Walks(walks=30, min_length=0, max_length=25, seed=1).states(case.task)
    assert states.shape == (30, case.task.core.num_variables) and states.dtype == np.int32
    assert {tuple(state) for state in states.tolist()} <= set(case.exact)


def test_a_walk_has_its_length(cases: Cases) -> None:
    """In the sliding puzzle the empty cell changes colour with every step."""
    case = cases["npuzzle-2x3"]
    layer = {case.oracle.initial}
    for length in range(6):
        states = Walks(walks=40, min_length=length, max_length=length).states(case.task)
        found = {tuple(state) for state in states.tolist()}
        assert found <= layer
        assert length == 0 or len(found) > 1
        layer = {target for state in layer for _, target in sas.successors(case.oracle, state)}
    lengths = Walks(walks=400, min_length=0, max_length=3, seed=2).states(case.task)
    still = (lengths == np.array(case.oracle.initial)).all(axis=1).mean()
    assert 0.2 < still < 0.6, "length 0, and 2 there and back"


def test_operators_are_equally_likely(cases: Cases) -> None:
    case = cases["ferry-3-2"]
    options = [target for _, target in sas.successors(case.oracle, case.oracle.initial)]
    states = [tuple(s) for s in Walks(walks=3000, min_length=1, max_length=1).states(case.task).tolist()]
    for target in set(options):
        share = options.count(target) / len(options)
        assert abs(states.count(target) / 3000 - share) < 5 * (share * (1 - share) / 3000) ** 0.5


def test_a_walk_ends_where_nothing_applies(cases: Cases) -> None:
    states = Walks(walks=50, min_length=100, max_length=100).states(cases["chain"].task)
    assert {tuple(state) for state in states.tolist()} == {(2,), (3,)}


def test_determinism(cases: Cases) -> None:
    task = cases["blocks"].task
    many = Walks(walks=20, seed=3).states(task)
    assert np.array_equal(many, Walks(walks=20, seed=3).states(task))
    assert np.array_equal(many[:5], Walks(walks=5, seed=3).states(task)), "whatever the number of walks"
    assert not np.array_equal(many, Walks(walks=20, seed=4).states(task))
    assert Walks(walks=0).states(task).shape == (0, task.core.num_variables)


def test_tasks_start_there(cases: Cases) -> None:
    task = cases["blocks"].task
    walks = Walks(walks=3, min_length=20, max_length=20)
    tasks = walks.tasks(task)
    assert [t.core.initial_state for t in tasks] == walks.states(task).tolist()
    assert [t.name for t in tasks] == [f"{task.name}#{i}" for i in (1, 2, 3)]
    assert all(hstar.solve(t, "ff").solved for t in tasks)


def test_wrong_options() -> None:
    for wrong in ({"walks": -1}, {"min_length": -1}, {"min_length": 300}, {"seed": 0.5}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Walks(**wrong)
