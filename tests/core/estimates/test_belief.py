"""Estimates and rules in the core: against mpmath in the tails, and against those of Python in all cases."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.estimates import Bounded, Calibrated, Clip, Estimate, Known, Mean, Quantile, Rule
from hstar.estimates.belief import native_belief
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.laplace import Laplace
from hstar.estimates.point import Point
from hstar.estimates.truncated import TruncatedGaussian
from native import belief

INF, NAN = math.inf, math.nan
NOTHING = 1e-300  # a margin that leaves the bound where it is
LEVELS = (1e-4, 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999)

Numbers = npt.NDArray[np.float64]


def believed_values(raw: Numbers, **given: object) -> Numbers:
    """Of a belief by its fields."""
    made, others = belief(given)
    return _core.believed_values(raw, made, **others)


def truncated(mu: float, sigma: float, a: float, level: float | None = None) -> float:
    """The mean, or a quantile, of a normal distribution that is cut off below a."""
    values = believed_values(
        np.array([[mu]]),
        lower=np.array([a]),
        estimate="truncated",
        sigma=sigma,
        margin=NOTHING,
        level=level,
    )
    return float(values[0])


# --- the truncated normal distribution --------------------------------------------------------------

# Published: mu, sigma, where it is cut off, mean.
REFERENCE = [
    (0, 1, 0, 0.7978845608),
    (5, 2, 3, 5.575199942),
    (2, math.sqrt(2), 4.9, 5.419733493),
    (-60, 3.4, 18.9, 19.04597541),
    (-200, 9, 18.9, 19.26879141),
    (-1000, 5, 9.9, 9.924753713),
    (12, 0.1, 18.9, 18.90144867),
    (10, math.sqrt(0.5), 2.9, 10.0),
]


@pytest.mark.parametrize(("mu", "sigma", "a", "mean"), REFERENCE)
def test_reference(mu: float, sigma: float, a: float, mean: float) -> None:
    assert truncated(mu, sigma, a) == pytest.approx(mean, rel=1e-9)


def log_tail(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)) / 2)


def hazard(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.exp(-z * z / 2 - log_tail(z)) / mpmath.sqrt(2 * mpmath.pi)


# In units of sigma from mu; 5 is where one formula takes over from another.
PLACES = (-40, -5, -1, -0.5, -1e-3, 0, 1e-3, 0.5, 2, 4, 4.999, 5, 5.001, 7, 30, 1e3, 1e5)


@pytest.mark.parametrize("place", PLACES)
def test_means_are_exact(place: float) -> None:
    """Their distance from the bound is, also where it is a tiny part of that from mu."""
    with mpmath.workdps(60):
        expected = hazard(mpmath.mpf(place)) - place
        assert truncated(-place, 1.0, 0.0) == pytest.approx(float(expected), rel=1e-12)
        assert truncated(-3.0 * place, 3.0, 0.0) == pytest.approx(float(3 * expected), rel=1e-12)


@pytest.mark.parametrize("level", [1e-12, 9e-6, 1.1e-5, *LEVELS, 1 - 1e-9])
@pytest.mark.parametrize("place", PLACES)
def test_quantiles_are_exact(place: float, level: float) -> None:
    with mpmath.workdps(60):
        found = truncated(-place, 1.0, 0.0, level)
        z, wanted = mpmath.mpf(place) + found, log_tail(mpmath.mpf(place)) + mpmath.log1p(-mpmath.mpf(level))
        for _ in range(4):  # from what was found to the true one
            z += (log_tail(z) - wanted) / hazard(z)
        assert found == pytest.approx(float(z - place), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("level", [None, *LEVELS])
@pytest.mark.parametrize("sigma", [0.1, 0.5, math.sqrt(2), 3.4, 10.1])
def test_python_computes_the_same(sigma: float, level: float | None) -> None:
    sizes = (0.0, 0.3, 1.0, 2.5, 7.0, 30.0, 100.0, 1e3, 1e4)
    mu, lower = np.array(list(itertools.product([*sizes, *(-x for x in sizes)], (0.0, 1.0, 19.0, 400.0)))).T
    estimate, rule = TruncatedGaussian(sigma, margin=NOTHING), Mean() if level is None else Quantile(level)
    raw = mu[:, None].copy()
    found = _core.believed_values(raw, native_belief(estimate, rule), lower=lower)
    expected = rule.value(estimate, torch.from_numpy(raw), Known(torch.from_numpy(lower))).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(found - lower, expected - lower, rtol=1e-7, atol=1e-11)


wild = st.floats(allow_nan=False)


@settings(max_examples=200, deadline=None)
@given(
    mu=wild,
    lower=wild,
    sigma=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    level=st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True),
    margin=st.sampled_from([NOTHING, 0.1, 1e10]),
)
def test_wild_numbers(mu: float, lower: float, sigma: float, level: float | None, margin: float) -> None:
    """No NaN, and nothing below the bound."""
    (value,) = believed_values(
        np.array([[mu]]),
        lower=np.array([lower]),
        estimate="truncated",
        sigma=sigma,
        level=level,
        margin=margin,
    )
    assert value >= lower


# --- all estimates and rules ------------------------------------------------------------------------

BOUNDED: dict[str, Any] = {"confidence": 0.9, "instances": 9, "bound": 1.5, "form": "ratio"}
BELIEFS = [
    *((Point(), rule) for rule in (Mean(), Clip(), Clip(Mean(), None, 7.5), Clip(Mean(), 2.0, 9.0))),
    *((Point(), Calibrated(confidence=0.9, instances=9, score=1.75, whole=whole)) for whole in (False, True)),
    (Point(), Calibrated(**BOUNDED, score=1.25, whole=True)),
    *(
        (estimate, rule)
        for estimate in (
            Gaussian(),
            Gaussian(math.sqrt(2)),
            Gaussian(floor=0.5, range=2.0),
            Laplace(),
            Laplace(math.sqrt(2)),
            TruncatedGaussian(),
            TruncatedGaussian(0.7),
            TruncatedGaussian(floor=1.0, range=3.0, margin=0.5),
        )
        for rule in (
            *(Mean(), Quantile(0.05), Quantile(0.8), Clip(), Clip(Quantile(0.1), 1.0, 12.0)),
            Calibrated(confidence=0.9, instances=9, score=-0.3, of=Quantile(0.3)),
            Calibrated(**BOUNDED, score=2.0, of=Clip(Quantile(0.1), 1.0, 12.0)),
        )
    ),
    *((Point(), Bounded(eps)) for eps in (1.0, 1.5, 40.0)),
    *(
        (estimate, Bounded(1.3, of))
        for estimate in (Gaussian(), TruncatedGaussian(0.7))
        for of in (Mean(), Quantile(0.8))
    ),
]


@pytest.mark.parametrize("has_base", [False, True])
@pytest.mark.parametrize(
    ("estimate", "rule", "has_lower"),
    [
        (estimate, rule, has_lower)
        for has_lower in (False, True)
        for estimate, rule in BELIEFS
        if has_lower or not isinstance(rule, Bounded)
    ],
)
def test_estimates_and_rules_are_those_of_python(
    estimate: Estimate, rule: Rule, has_base: bool, has_lower: bool
) -> None:
    rng = np.random.default_rng(3)
    n = 200
    raw = rng.normal(0, 8, (n, estimate.outputs))
    base = rng.integers(0, 20, n).astype(np.float64) if has_base else None
    lower = rng.integers(0, 20, n).astype(np.float64) if has_lower else None
    if lower is not None:
        lower[:20] = INF  # h* is infinite
    tensors = [None if known is None else torch.from_numpy(known) for known in (lower, base)]
    expected = rule.value(estimate, torch.from_numpy(raw), Known(tensors[0], None, tensors[1]))
    found = _core.believed_values(raw, native_belief(estimate, rule), base=base, lower=lower)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12, atol=1e-12)


def test_infinite_and_missing_numbers() -> None:
    def value(raw: float, **given: object) -> float:
        return float(believed_values(np.array([[raw]]), **given)[0])

    cut = {"estimate": "truncated", "sigma": 1.0, "lower": np.array([4.0])}
    assert value(INF) == INF and value(-INF) == -INF and math.isnan(value(NAN))
    assert value(INF, **cut) == INF and value(-INF, **cut) == 4 and math.isnan(value(NAN, **cut))
    assert value(INF, clip=True, clip_upper=9.0) == 9
    assert value(1.0, base=np.array([INF])) == INF
    assert math.isnan(value(-INF, base=np.array([INF])))
    assert value(-INF, estimate="truncated", sigma=1.0) == -INF
    moved = {"factor": 2.0, "shift": 0.5}
    assert value(INF, **moved, whole=True) == INF and math.isnan(value(NAN, **moved, lower=np.array([4.0])))
    assert (value(1.5, **moved), value(1.5, **moved, whole=True)) == (2.5, 3)
    assert (
        value(1.5, **moved, lower=np.array([4.0])) == 4
        and value(9.0, clip=True, clip_upper=3.0, **moved) == 5.5
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"estimate": "uniform"},
            r"unknown estimate 'uniform' \(known: point, gaussian, laplace, truncated\)",
        ),
        ({"estimate": "gaussian", "sigma": 0.0}, "gaussian: sigma must be greater than 0 and finite, got 0"),
        (
            {"estimate": "gaussian", "sigma": NAN},
            "sigma must be greater than 0 and finite, got nan",
        ),
        ({"estimate": "truncated", "sigma": 1.0, "margin": -1.0}, "truncated: margin must be greater"),
        ({"floor": INF}, "point: floor must be greater"),
        ({"range": 0.0}, "point: range must be greater"),
        (
            {"estimate": "gaussian", "sigma": 1.0, "level": 1.0},
            "a quantile needs a level between 0 and 1, got 1",
        ),
        ({"clip_lower": 1.0}, "bounds of a clip, but no clip"),
        ({"eps": 2.0}, "the rule 'bounded' needs a lower bound"),
        ({"eps": 0.5, "lower": np.zeros(2)}, "bounded: eps must be 1 or more and finite, got 0.5"),
        ({"eps": INF, "lower": np.zeros(2)}, "bounded: eps must be 1 or more and finite, got inf"),
        ({"eps": 2.0, "clip": True, "lower": np.zeros(2)}, "bounded takes a mean or a quantile"),
        ({"eps": 2.0, "offset": 1.0, "lower": np.zeros(2)}, "bounded takes a mean or a quantile"),
        ({"clip": True, "clip_upper": NAN}, "clip: the upper bound is NaN"),
        (
            {"clip": True, "clip_lower": 3.0, "clip_upper": 2.0},
            "the lower bound 3 is above the upper one 2",
        ),
        ({"estimate": "gaussian"}, "the estimate 'gaussian' needs 2 numbers a state, not 1"),
        ({"base": np.zeros(3)}, "one number for each state"),
        ({"factor": 0.0}, "calibrated: needs a finite factor greater than 0 and a finite shift, got 0 and 0"),
        ({"factor": INF}, "calibrated: needs a finite factor"),
        ({"factor": 1.0, "shift": NAN}, "and a finite shift, got 1 and nan"),
    ],
)
def test_impossible_options(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        believed_values(np.zeros((2, 1)), **given)


def test_a_point_has_no_quantile() -> None:
    with pytest.raises(UnsupportedError, match=r"a point estimate has no quantile 0\.1; use the rule 'mean'"):
        believed_values(np.zeros((2, 1)), level=0.1)


def test_beyond_what_was_learned_the_spread_is_1() -> None:
    """From `sure_below` on; the value of a quantile jumps there, that of a mean knows nothing of it."""
    raw = np.array([[4.9, 0.0], [5.0, 0.0], [7.0, 3.0]])

    def values(sure_below: float) -> Numbers:
        return believed_values(raw, estimate="gaussian", level=0.1, sure_below=sure_below)

    z = -1.2815515655446004
    sigma = 0.1 + 10 / (1 + np.exp(-raw[:, 1]))
    assert values(INF) == pytest.approx(raw[:, 0] + z * sigma)
    assert values(-INF) == pytest.approx(raw[:, 0] + z)
    assert values(5.0) == pytest.approx(raw[:, 0] + z * np.array([sigma[0], 1, 1]))
    with pytest.raises(InputError, match="sure_below must be a number"):
        values(NAN)
    for estimate, level in (("gaussian", None), ("truncated", 0.1)):
        with pytest.raises(InputError, match="sure_below is for quantiles of a gaussian estimate"):
            believed_values(raw, estimate=estimate, level=level, sure_below=5.0)
