"""Every sampler in the registry: the same seed gives the same data, and what it says of states is true."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import DATA
from hstar.errors import InputError
from hstar.sampling import SAMPLERS, make_sampler
from hstar.sampling.exact import exact_distances
from hstar.sampling.sampler import atom_names
from oracles import sas

TASK = hstar.load(DATA / "blocks" / "problem.pddl", unit_cost=True)
ORACLE = sas.parse(TASK.core.to_sas().decode())


def sampler(name: str, **options: Any) -> Any:
    known = {entry.name for entry in fields(SAMPLERS.get(name))}  # type: ignore[arg-type]
    wanted = {"states": 60, "seed": 4, **options}
    return make_sampler(name, **{key: value for key, value in wanted.items() if key in known})


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_the_seed_decides(name: str) -> None:
    one, same = (sampler(name, states=15).sample(TASK) for _ in range(2))
    assert len(one) and one.digest() == same.digest() and one.atoms == atom_names(TASK)
    if hasattr(sampler(name), "seed"):
        assert sampler(name, states=15, seed=5).sample(TASK).digest() != one.digest()
    assert one.provenance["sampler"] == name
    assert json.loads(one.provenance["options"]) == vars(sampler(name, states=15))


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_labels_and_bounds(name: str) -> None:
    """Labels are whole numbers of steps; goals have 0; bounds hold for every state that can be reached."""
    data = sampler(name).sample(TASK)
    values, distances = exact_distances(TASK)
    rows = hstar._core.encode(TASK.core, values)
    exact = {row.tobytes(): distance for row, distance in zip(rows, distances.tolist(), strict=True)}
    assert np.isfinite(data.label).all() and (data.label >= 0).all() and (data.label % 1 == 0).all()
    known = [exact.get(row.tobytes()) for row in data.states]
    assert sum(steps is not None for steps in known) > 10
    for i, steps in enumerate(known):
        if steps is None:
            continue
        assert data.label[i] == 0 or steps > 0 or name in ("rsl", "nrsl"), "a goal state"
        assert data.lower is None or not data.lower[i] > steps
        assert data.upper is None or not data.upper[i] < steps


@pytest.mark.parametrize("name", list(SAMPLERS))
def test_profiles_and_options(name: str) -> None:
    kind = SAMPLERS.get(name)
    assert kind.name == name and kind.__doc__
    for profile in kind.profiles:
        made = make_sampler(name, profile)
        assert all(getattr(made, key) == value for key, value in kind.profiles[profile].items())
    with pytest.raises(InputError, match=f"unknown profile of {name} 'nothing'"):
        make_sampler(name, "nothing")
    with pytest.raises(InputError, match=f"unknown option of {name} 'nothing'"):
        make_sampler(name, nothing=1)
    if hasattr(make_sampler(name), "seed"):
        with pytest.raises(InputError, match="seed"):
            make_sampler(name, seed=-1)
