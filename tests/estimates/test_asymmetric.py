"""The asymmetric loss: by hand, its gradient, and what it leads to."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar.errors import InputError, UnsupportedError
from hstar.estimates import ESTIMATES, Batch, Known
from hstar.estimates.asymmetric import Asymmetric
from hstar.estimates.point import Point


def test_weights_of_both_sides() -> None:
    label = Batch(torch.tensor([10.0]))
    assert ESTIMATES.get("asymmetric") is Asymmetric
    assert float(Asymmetric().loss(torch.tensor([[12.0]]), label)) == 4 * 12.25, "too high"
    assert float(Asymmetric().loss(torch.tensor([[8.0]]), label)) == 4 * 2.25, "too low"
    assert float(Asymmetric().loss(torch.tensor([[10.0]]), label)) == 0
    assert float(Asymmetric(1.0).loss(torch.tensor([[12.0]]), label)) == 0


def test_without_asymmetry_it_is_the_squared_error() -> None:
    raw, batch = torch.randn(50, 1), Batch(torch.randn(50), Known(base=torch.randn(50)))
    torch.testing.assert_close(Asymmetric(0.0).loss(raw, batch), Point().loss(raw, batch))
    assert torch.equal(Asymmetric().mean(raw, batch.known), Point().mean(raw, batch.known))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.floats(-4, 4), st.integers(0, 999))
def test_gradient_against_finite_differences(n: int, a: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = Batch(torch.tensor(rng.normal(0, 10, n)), Known(base=torch.tensor(rng.normal(0, 10, n))))
    raw = torch.tensor(rng.normal(0, 10, (n, 1)), requires_grad=True)
    loss, step = Asymmetric(a).loss, 1e-5
    (gradient,) = torch.autograd.grad(loss(raw, batch), raw)
    for i in range(n):
        up, down = raw.detach().clone(), raw.detach().clone()
        up[i] += step
        down[i] -= step
        slope = (loss(up, batch) - loss(down, batch)) / (2 * step)
        assert float(gradient[i]) == pytest.approx(float(slope), rel=1e-4, abs=1e-3)


def test_the_best_constant_is_below_the_mean() -> None:
    """Where it is follows from the weights: 12.25 times the excess is 2.25 times what is missing."""
    batch = Batch(torch.tensor([0.0, 1.0], dtype=torch.float64))
    values = torch.linspace(0, 1, 1001, dtype=torch.float64)
    losses = torch.stack([Asymmetric().loss(value.expand(2, 1), batch) for value in values])
    assert float(values[losses.argmin()]) == pytest.approx(2.25 / (12.25 + 2.25), abs=1e-3)


def test_mistakes() -> None:
    for wrong in (math.nan, -math.inf, "low", True):
        with pytest.raises(InputError, match="a must be a number that is finite"):
            Asymmetric(wrong)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="no quantile"):
        Asymmetric().quantile(torch.zeros(1, 1), 0.1, Known())
