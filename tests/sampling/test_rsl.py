"""rsl and nrsl: how many states, from which pool, with which labels."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import Case, Cases
from hstar import _core
from hstar.errors import InputError
from hstar.sampling import make_sampler
from hstar.sampling.nrsl import NRSL
from hstar.sampling.rsl import RSL

SAMPLERS = {"rsl": RSL, "nrsl": NRSL}


@pytest.fixture(params=SAMPLERS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def levels(case: Case, name: str, **options: int) -> int:
    return int(_core.preimages(case.task.core, name, **options)[1].max()) + 1


def test_every_level_gets_as_many_states(cases: Cases, name: str) -> None:
    case = cases["blocks"]
    count = levels(case, name, rollouts=5, length=30, seed=0)
    for states in (1000, 31, 30, 7, 1):
        data = make_sampler(name, states=states, length=30).sample(case.task)
        assert len(data) == (states // count * count if states >= count else states)


def test_the_paper(cases: Cases, name: str) -> None:
    """99,699 states: 501 levels of 199; half of them random; 501 for states in no pre-image."""
    data = make_sampler(name, "paper").sample(cases["blocks"].task)
    assert len(data) == 99_699
    assert data.upper is not None
    guessed = np.isnan(data.upper)
    assert (data.label[guessed] == 501).all()
    assert (data.label[~guessed] <= 500).all()
    atoms = data.unpack().sum(axis=1)
    assert atoms.min() < 5 < atoms.max(), "atoms are not controlled"


def test_unlabelled_states(cases: Cases, name: str) -> None:
    for rule in ("max", "limit"):
        data = make_sampler(name, states=500, length=6, rollouts=1, unlabelled=rule).sample(
            cases["npuzzle-2x3"].task
        )
        assert data.upper is not None
        guessed = np.isnan(data.upper)
        wanted = data.label[~guessed].max() + 1 if rule == "max" else 7
        assert guessed.any() and (data.label[guessed] == wanted).all()


def test_labels_are_those_of_the_rollouts(cases: Cases, name: str) -> None:
    """The same seed gives the same rollouts: labels by all of them."""
    core = cases["ferry-3-2"].task.core
    data = make_sampler(name, states=400, length=25, seed=9).sample(cases["ferry-3-2"].task)
    values, depth = _core.preimages(core, name, rollouts=5, length=25, seed=9)
    labels = _core.label(core, values, depth, data.states)
    assert data.upper is not None
    assert np.array_equal(np.isnan(data.upper), labels == -1)
    assert np.array_equal(data.label[labels >= 0], labels[labels >= 0])


def test_as_many_rollouts_as_pay(cases: Cases, name: str) -> None:
    """Without a number: until there are enough pre-images, so that fewer states are in none."""
    share = {}
    for rollouts in (1, 5, 0):
        data = make_sampler(name, states=400, length=100, rollouts=rollouts).sample(cases["npuzzle-2x3"].task)
        assert data.upper is not None
        share[rollouts] = np.isnan(data.upper).mean()
    assert share[0] < share[5] < share[1]


def test_pools(cases: Cases) -> None:
    """Level: states of level i lie in a pre-image of depth i; cumulative: of depth up to i, mostly less."""
    case = cases["npuzzle-2x3"]
    core, options = case.task.core, {"rollouts": 5, "length": 30, "seed": 2}
    values, depth = _core.preimages(core, "rsl", **options)
    count, each = int(depth.max()) + 1, 20
    sums = {}
    for pool in ("level", "cumulative"):
        data = make_sampler("rsl", states=count * each, random_share=0.0, pool=pool, **options).sample(
            case.task
        )
        assert len(data) == count * each
        total = 0
        for level in range(count):
            rows = np.ascontiguousarray(data.states[level * each : (level + 1) * each])
            allowed = depth == level if pool == "level" else depth <= level
            inside = _core.label(
                core, np.ascontiguousarray(values[allowed]), np.ascontiguousarray(depth[allowed]), rows
            )
            assert (inside >= 0).all()
            total += int(inside.sum())
        sums[pool] = total
    assert sums["cumulative"] < 0.75 * sums["level"]


def test_random_share(cases: Cases, name: str) -> None:
    task = cases["npuzzle-2x3"].task
    shares = []
    for share in (0.0, 0.5, 1.0):
        data = make_sampler(name, states=3000, length=10, random_share=share).sample(task)
        assert data.upper is not None
        shares.append(float(np.isnan(data.upper).mean()))
    assert shares[0] == 0
    assert 0.35 < shares[1] < 0.55 < 0.8 < shares[2]


def test_one_seed_one_data_set(cases: Cases, name: str) -> None:
    for completion in ("variables", "atoms"):
        one, same, other = (
            make_sampler(name, states=500, length=20, completion=completion, seed=seed).sample(
                cases["blocks"].task
            )
            for seed in (1, 1, 2)
        )
        assert one.digest() == same.digest() != other.digest()


def test_unknown_words_are_answered_with_the_known_ones(cases: Cases) -> None:
    task = cases["blocks"].task
    for wrong, known in (
        ({"pool": "all"}, "cumulative, level"),
        ({"completion": "x"}, "variables, atoms"),
        ({"unlabelled": "min"}, "limit, max"),
    ):
        with pytest.raises(InputError, match=known):
            make_sampler("rsl", **wrong).sample(task)
