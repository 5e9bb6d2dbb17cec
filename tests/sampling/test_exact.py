"""Exact distances against the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import Case, Cases
from hstar.errors import UnsupportedError
from hstar.sampling import make_sampler
from hstar.sampling.exact import exact_distances
from oracles import preimages as oracle
from oracles import sas


def test_all_states_have_the_values_of_the_oracle(case: Case) -> None:
    """Axioms and conditional effects, too; with the task's costs."""
    values, h = exact_distances(case.task, unit_cost=False)
    assert values.dtype == np.int32 and h.dtype == np.float64
    found = dict(zip(map(tuple, values.tolist()), h.tolist(), strict=True))
    assert len(found) == len(values)
    assert found == case.exact


@pytest.mark.parametrize("task", oracle.TINY)
def test_steps(cases: Cases, task: str) -> None:
    values, h = exact_distances(cases[task].task)
    everywhere = oracle.steps_everywhere(cases[task].oracle)
    assert [everywhere[tuple(state)] for state in values.tolist()] == h.tolist()


def test_another_start(cases: Cases) -> None:
    """Reachable is what the task's own initial state reaches."""
    case = cases["chain"]
    core = case.task.core.with_initial_state([1])
    values, h = exact_distances(type(case.task)(core, "chain"), unit_cost=False)
    assert dict(zip(map(tuple, values.tolist()), h.tolist(), strict=True)) == {(1,): 3, (2,): 0, (3,): np.inf}


def test_too_many_states(cases: Cases) -> None:
    with pytest.raises(UnsupportedError, match=r"exact: more than 1000 states.*max_states.*fsm"):
        exact_distances(cases["npuzzle-3x3"].task, max_states=1000)
    states = len(cases["blocks"].exact)
    assert len(exact_distances(cases["blocks"].task, max_states=states)[0]) == states


def test_the_data_set(cases: Cases) -> None:
    for name in ("blocks", "costs", "briefcase"):
        case = cases[name]
        data = make_sampler("exact", unit_cost=False).sample(case.task)
        finite = sorted(h for h in case.exact.values() if h < np.inf)
        assert sorted(data.label.tolist()) == finite
        assert np.array_equal(data.label, data.lower) and np.array_equal(data.label, data.upper)


def test_steps_are_the_default(cases: Cases) -> None:
    case = cases["costs"]
    data = make_sampler("exact").sample(case.task)
    task = sas.parse(case.text.replace("begin_metric\n1\n", "begin_metric\n0\n"))
    assert sorted(data.label.tolist()) == sorted(h for h in sas.exact(task).values() if h < np.inf)
