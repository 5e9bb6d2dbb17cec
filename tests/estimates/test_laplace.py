"""The Laplace estimate: its density against numbers of high precision, gradients, and wild input."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import drawn
from hstar.errors import InputError
from hstar.estimates import Batch, Known, Quantile
from hstar.estimates.laplace import Laplace

RAW = torch.tensor([[2.0, -1.0], [-7.0, 4.0]], dtype=torch.float64)
BASE = Known(base=torch.tensor([5.0, 0.5], dtype=torch.float64))
MU = [7.0, -6.5]
ALPHAS = (1e-9, 1e-4, 0.2, 0.5, 0.7, 0.9999, 1 - 1e-9)

finite = st.floats(-1e4, 1e4, width=32)


def scale(row: int) -> mpmath.mpf:
    """b of a row, by its definition."""
    return (mpmath.mpf("0.1") + 10 / (1 + mpmath.exp(-mpmath.mpf(float(RAW[row, 1]))))) / mpmath.sqrt(2)


@pytest.mark.parametrize(("row", "x"), [(0, 4.0), (0, 30.0), (1, -6.5), (1, -1.25), (1, -60.0)])
def test_against_high_precision(row: int, x: float) -> None:
    """The distribution function, the loss and the spread by integrals of the density."""
    assert BASE.base is not None
    estimate, raw, known = Laplace(), RAW[[row]], Known(base=BASE.base[[row]])
    at = torch.tensor([x], dtype=torch.float64)
    with mpmath.workdps(40):
        b, mu = scale(row), mpmath.mpf(MU[row])

        def density(t: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-abs(t - mu) / b) / (2 * b)

        below = mpmath.quad(density, [-mpmath.inf, min(mpmath.mpf(x), mu), mpmath.mpf(x)])
        variance = mpmath.quad(lambda t: density(t) * (t - mu) ** 2, [-mpmath.inf, mu, mpmath.inf])
        loss = -mpmath.log(density(mpmath.mpf(x)))
    assert estimate.mean(raw, known).tolist() == [MU[row]]
    assert float(estimate.cdf(raw, at, known)) == pytest.approx(float(below), rel=1e-12)
    assert float(estimate.loss(raw, Batch(at, known))) == pytest.approx(float(loss), rel=1e-12)
    assert float(estimate.spread(raw)) == pytest.approx(float(mpmath.sqrt(variance)), rel=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_quantiles_against_high_precision(alpha: float) -> None:
    with mpmath.workdps(50):
        level = mpmath.mpf(alpha)
        depth = mpmath.log(2 * level) if alpha <= 0.5 else -mpmath.log(2 * (1 - level))
        expected = [float(MU[row] + scale(row) * depth) for row in range(2)]
    assert Laplace().quantile(RAW, alpha, BASE).tolist() == pytest.approx(expected, rel=1e-12)
    assert Quantile(alpha).value(Laplace(), RAW, BASE).tolist() == pytest.approx(expected, rel=1e-12)


def test_gradients_are_those_of_finite_differences() -> None:
    label, h = torch.tensor([4.0, -1.25], dtype=torch.float64), 1e-6
    raw = RAW.clone().requires_grad_()
    Laplace().loss(raw, Batch(label, BASE)).backward()
    assert raw.grad is not None
    for row in range(2):
        for column in range(2):
            moved = []
            for sign in (1, -1):
                other = RAW.clone()
                other[row, column] += sign * h
                moved.append(float(Laplace().loss(other, Batch(label, BASE))))
            assert float(raw.grad[row, column]) == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-6)


def test_a_label_at_mu_has_a_gradient_of_nothing_for_mu() -> None:
    raw = torch.tensor([[3.0, 0.0]], requires_grad=True)
    Laplace().loss(raw, Batch(torch.tensor([3.0]))).backward()
    assert raw.grad is not None and float(raw.grad[0, 0]) == 0 and math.isfinite(float(raw.grad[0, 1]))


@settings(max_examples=100, deadline=None)
@given(mu=finite, rho=finite, label=finite, alpha=st.floats(1e-6, 1 - 1e-6))
def test_in_float32_nothing_is_lost(mu: float, rho: float, label: float, alpha: float) -> None:
    """Finite everywhere, that of float64 but for rounding; quantile and distribution invert each other."""
    raw, y = torch.tensor([[mu, rho]], dtype=torch.float32, requires_grad=True), torch.tensor([label])
    exact = raw.detach().double()
    loss = Laplace().loss(raw, Batch(y))
    loss.backward()
    assert raw.grad is not None and bool(raw.grad.isfinite().all()) and loss.dtype == torch.float32
    assert float(loss.detach()) == pytest.approx(
        float(Laplace().loss(exact, Batch(y.double()))), rel=1e-4, abs=1e-4
    )
    x = Laplace().quantile(exact, alpha, Known())
    # The quantile is rounded where mu is great and the spread small.
    assert float(Laplace().cdf(exact, x, Known())) == pytest.approx(alpha, rel=1e-6)
    assert 0 <= float(Laplace().cdf(raw.detach(), y, Known())) <= 1


@settings(max_examples=50, deadline=None)
@given(mu=finite, distance=st.floats(0, 50), sigma=st.floats(0.1, 10))
def test_both_sides_are_alike(mu: float, distance: float, sigma: float) -> None:
    raw, estimate = torch.tensor([[mu]], dtype=torch.float64), Laplace(sigma)
    x = [torch.tensor([mu + side * distance], dtype=torch.float64) for side in (-1, 1)]
    low, high = (float(estimate.cdf(raw, side, Known())) for side in x)
    assert low + high == pytest.approx(1, abs=1e-9) and low <= 0.5


def test_samples_have_its_moments() -> None:
    raw = torch.zeros(40_000, 1, dtype=torch.float64) + 3
    found = drawn(Laplace(2.0), raw, Known(), 1)
    assert float(found.mean()) == pytest.approx(3, abs=0.05) and float(found.std()) == pytest.approx(
        2, abs=0.06
    )
    assert float((found - 3).abs().mean()) == pytest.approx(math.sqrt(2), abs=0.04)  # b; a normal one has 1.6


def test_options() -> None:
    assert Laplace().outputs == 2 and Laplace(sigma=3).outputs == 1
    with pytest.raises(InputError, match="sigma must be a number from 1e-06 on, got 0"):
        Laplace(0)
