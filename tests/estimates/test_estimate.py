"""Estimates as plain data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hstar.errors import InputError
from hstar.estimates.estimate import ESTIMATES, from_json, to_json
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.truncated import TruncatedGaussian


@pytest.mark.parametrize(
    "estimate",
    [Point(), Gaussian(), Gaussian(0.5), TruncatedGaussian(), TruncatedGaussian(1.4, 0.01, floor=1, range=3)],
)
def test_json(estimate: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(estimate)))) == estimate
    assert ESTIMATES.get(estimate.name) is type(estimate)


def test_options_have_defaults() -> None:
    assert from_json({"name": "point"}) == Point()
    assert from_json({"name": "truncated", "sigma": 2.0}) == TruncatedGaussian(2.0, 0.1)


def test_mistakes() -> None:
    with pytest.raises(InputError, match=r"unknown estimate 'gausian' .* did you mean 'gaussian'"):
        from_json({"name": "gausian"})
    with pytest.raises(InputError, match="not options of the estimate 'gaussian': margin"):
        from_json({"name": "gaussian", "margin": 1})
    with pytest.raises(InputError, match="sigma must be a number from 1e-06 on, got 'wide'"):
        from_json({"name": "gaussian", "sigma": "wide"})
    with pytest.raises(InputError, match=r"not an estimate: \{'sigma': 1\}"):
        from_json({"sigma": 1})
