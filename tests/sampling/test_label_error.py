"""Label errors against h* that is known otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hstar
from hstar.errors import UnsupportedError
from hstar.sampling import make_sampler
from hstar.sampling.exact import exact_values, label_errors

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def blocks() -> hstar.Task:
    return hstar.load(DATA / "blocks" / "domain.pddl", DATA / "blocks" / "problem.pddl", unit_cost=True)


def test_exact_labels_have_no_error(blocks: hstar.Task) -> None:
    exact = exact_values(blocks)
    data = make_sampler("exact").sample(blocks)
    found = label_errors(data, exact)
    assert len(found.h) == len(data) == len(exact)
    assert not found.error.any()
    assert found.bound.all()
    record = found.record()
    assert (record["comparable"], record["label_error"], record["exact_labels"]) == (1.0, 0.0, 1.0)


def test_errors_are_told_by_h(blocks: hstar.Task) -> None:
    data = make_sampler("exact").sample(blocks)
    # Two too much where h* is 3; one state that cannot be reached: every atom holds.
    wrong = np.where(data.label == 3, data.label + 2, data.label).astype(np.float32)
    states = data.states.copy()
    lost = int(np.flatnonzero(data.label == 5)[0])
    states[lost] = np.uint64((1 << len(data.atoms)) - 1)
    found = label_errors(replace(data, label=wrong, states=states), exact_values(blocks))
    assert len(found.h) == len(data) - 1
    threes = int((data.label == 3).sum())
    by_h = {h: (error, count) for h, error, count in found.record()["error_by_h"]}
    assert by_h[3.0] == (2.0, threes)
    assert all(error == 0 for h, (error, _) in by_h.items() if h != 3)
    assert found.record()["label_error"] == pytest.approx(2 * threes / (len(data) - 1))


def test_bounds_are_never_below_h(blocks: hstar.Task) -> None:
    found = label_errors(make_sampler("fsm", states=60).sample(blocks), exact_values(blocks))
    assert 0 < found.comparable < 1
    assert found.bound.any()
    assert not found.bound.all()
    assert (found.error[found.bound] >= 0).all()


def test_nothing_comparable(blocks: hstar.Task) -> None:
    data = make_sampler("exact").sample(blocks)
    record = label_errors(data, {}).record()
    assert (record["comparable"], record["label_error"], record["error_by_h"]) == (0.0, None, [])


def test_too_large_a_task(blocks: hstar.Task) -> None:
    with pytest.raises(UnsupportedError):
        exact_values(blocks, max_states=10)
