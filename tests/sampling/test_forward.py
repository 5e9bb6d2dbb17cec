"""Labels of forward sampling against exact distances, on tasks that regression does not support, too."""

from __future__ import annotations

import numpy as np
import pytest

import hstar
from conftest import DATA, Cases
from hstar.errors import InputError
from hstar.sampling.exact import exact_values, label_errors
from hstar.sampling.forward import Forward


@pytest.mark.parametrize("name", ["reach", "briefcase", "blocks"])
def test_of_all_states_the_labels_are_exact(cases: Cases, name: str) -> None:
    task = cases[name].task
    data, exact = Forward(walks=3, length=10).sample(task), exact_values(task)
    errors = label_errors(data, exact)
    assert errors.comparable == 1 and not errors.error.any() and len(data) <= len(exact)
    assert data.upper is not None and np.array_equal(data.upper, data.label)


def test_some_states_of_lights_out() -> None:
    task = hstar.load(DATA / "lights" / "p04.pddl")
    data = Forward(states=100, walks=5).sample(task)
    assert 50 < len(data) <= 100 and data.label.min() == 0
    errors = label_errors(data, exact_values(task))
    assert errors.comparable == 1 and (errors.error >= 0).all() and errors.error.mean() < 3


def test_without_any_plan(cases: Cases) -> None:
    with pytest.raises(InputError, match=r"no plan within 1 evaluated states, neither from .* raise eval"):
        Forward(evaluations=1, walks=2).sample(cases["briefcase"].task)
