"""prolonged on planning tasks: labels against h* of the oracle, upper bounds apart, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import Case, Cases
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.sampling import make_sampler
from hstar.sampling.exact import exact_distances
from oracles import preimages as oracle

REGRESSED = ("blocks", "npuzzle-2x3", "chain", "costs", "ferry-3-2")


def labels(
    case: Case, k_pr: float, **options: object
) -> tuple[_core.ProlongedLabels, list[tuple[int, ...]], list[int]]:
    found = _core.prolonged(case.task.core, _core.ProlongedOptions(k_pr=k_pr, **options))
    return found, [tuple(row) for row in found.take_states().tolist()], found.take_label().tolist()


@pytest.mark.parametrize("name", oracle.TINY)
@pytest.mark.parametrize("k_pr", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("blind", [False, True])
def test_closed_labels_are_exact_and_open_ones_are_bounds(
    cases: Cases, name: str, k_pr: float, blind: bool
) -> None:
    case = cases[name]
    everywhere = oracle.steps_everywhere(case.oracle)
    found, states, label = labels(case, k_pr, blind=blind)
    assert len(set(states)) == len(states)
    start = everywhere[tuple(case.oracle.initial)]
    assert found.reached == (start < math.inf)
    for i, (state, told) in enumerate(zip(states, label, strict=True)):
        if i < found.exact:
            assert told == everywhere[state], state
        else:
            assert told >= everywhere[state], state
    if found.reached and k_pr == 1:
        assert states[found.exact - 1] == tuple(case.oracle.initial)


@pytest.mark.parametrize("name", REGRESSED)
def test_all_states_that_reach_the_goal_are_found(cases: Cases, name: str) -> None:
    """Without an end every reachable state is among them, and h* is its label."""
    case = cases[name]
    values, h = exact_distances(case.task)
    found, states, label = labels(case, math.inf)
    known = dict(zip(states[: found.exact], label, strict=False))
    assert (found.status, found.exact) == ("solved", len(states))
    for state, steps in zip(values.tolist(), h.tolist(), strict=True):
        assert known.get(tuple(state), math.inf) == steps


def test_prolonging_closes_as_many_states_as_it_says(cases: Cases) -> None:
    case = cases["npuzzle-3x3"]
    first = labels(case, 1.0)[0]
    assert first.reached
    for k_pr in (1.5, 3.0):
        assert labels(case, k_pr)[0].exact == math.ceil(k_pr * first.exact)
    assert first.expanded < labels(case, 1.0, blind=True)[0].expanded, "hmax guides to the start"


def test_the_data_set(cases: Cases) -> None:
    case = cases["npuzzle-3x3"]
    data = make_sampler("prolonged", k_pr=1.5, open=True).sample(case.task)
    exact = ~np.isnan(data.lower)
    assert 0 < exact.sum() < len(data)
    assert np.array_equal(data.lower[exact], data.label[exact])
    assert np.array_equal(data.upper, data.label)
    assert make_sampler("prolonged", k_pr=1.5).sample(case.task).label.tolist() == data.label[exact].tolist()
    few = [make_sampler("prolonged", states=50, seed=seed).sample(case.task) for seed in (1, 1, 2)]
    assert [len(one) for one in few] == [50] * 3
    assert few[0].digest() == few[1].digest() != few[2].digest()
    least = make_sampler("prolonged", max_closed=40).sample(case.task)
    assert len(least) == 40 and least.label.max() < data.label.max()


def test_what_it_refuses(cases: Cases) -> None:
    with pytest.raises(InputError, match=r"k_pr must be a number from 1 on, got 0\.5"):
        make_sampler("prolonged", k_pr=0.5)
    with pytest.raises(UnsupportedError, match="prolonged samples by regression, which does not support"):
        make_sampler("prolonged").sample(cases["briefcase"].task)
    with pytest.raises(
        UnsupportedError, match=r"prolonged: more than 1 states satisfy the goal.*raise goals.*fsm or nrsl"
    ):
        make_sampler("prolonged", goals=1).sample(cases["ferry-3-2"].task)
