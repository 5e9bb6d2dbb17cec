"""The truncated normal distribution against 50 digits, and the gradients of everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp
import pytest
import torch
from torch import Tensor

from hstar.estimates.truncated_normal import TruncatedNormal
from oracles import truncated_normal as oracle

INF = math.inf
# Where a is from mu, in units of sigma: both tails, near and very far.
PLACES = [-1e5, -1000, -200, -40, -9, -3, -0.7, 0, 0.5, 2, 7, 40, 300, 1e3, 1e6]
WIDTHS = [1e-6, 0.2, 3, 50, INF]
SIGMAS = [1e-3, 0.1, 2.5, 1e3]
A = 7.5
GRID = [(A - place * s, s, A, A + width) for place in PLACES for width in WIDTHS for s in SIGMAS]
GRID += [(-mu, s, -b, -a) for mu, s, a, b in GRID if b == INF]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(oracle.DIGITS):
        yield


def columns(rows: list[tuple[float, ...]]) -> list[Tensor]:
    return [torch.tensor(column, dtype=torch.float64) for column in zip(*rows, strict=True)]


def inner(sigma: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """A place near a bound, sometimes a very improbable one."""
    length = 0.3 * torch.minimum(b - a, 2 * sigma)
    return torch.where(a.isinf(), b - length, a + length)


def far(found: Tensor, expected: mp.mpf, scale: float = 0.0) -> float:
    """The relative error, or that against a greater scale."""
    return float(abs(mp.mpf(float(found)) - expected) / max(abs(expected), mp.mpf(scale), mp.mpf(1e-300)))


def test_values() -> None:
    """Mean and density, and the distance of the mean from the origin, which is where digits are lost."""
    mu, sigma, a, b = columns(GRID)
    x = inner(sigma, a, b)
    belief = TruncatedNormal(mu, sigma, a, b)
    mean, nll, cdf = belief.mean(), belief.nll(x), belief.cdf(x)
    for i, row in enumerate(GRID):
        right = oracle.TruncatedNormal(*row)
        assert far(mean[i], right.mean()) < 1e-12, row
        assert far(nll[i], right.nll(float(x[i])), 1) < 1e-12, row
        assert far(cdf[i], right.cdf(float(x[i])), 1e-3) < 1e-10, row
        centre = (right.mean() - mp.mpf(float(belief.origin[i]))) / mp.mpf(row[1])
        assert far(belief.centre[i], centre, 1e-4) < 1e-11, row


def gradients(found: Tensor, *by: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(found.sum(), by))


VALUES: dict[str, tuple[Callable[[TruncatedNormal, Tensor], Tensor], Callable[[Any, float], mp.mpf]]] = {
    "mean": (lambda belief, x: belief.mean(), lambda right, x: right.mean()),
    "nll": (lambda belief, x: belief.nll(x), lambda right, x: right.nll(x)),
    "cdf": (lambda belief, x: belief.cdf(x), lambda right, x: right.cdf(x)),
}


@pytest.mark.parametrize("name", VALUES)
def test_gradients(name: str) -> None:
    """By mu and by sigma; those of the mean are the hardest: at 1000 sigma they are of size 1e-6."""
    value, expected = VALUES[name]
    rows = GRID[::3]
    mu, sigma, a, b = columns(rows)
    mu.requires_grad_(), sigma.requires_grad_()
    x = TruncatedNormal(mu, sigma, a, b).quantile(torch.full_like(mu, 0.3)).detach()
    by_mu, by_sigma = gradients(value(TruncatedNormal(mu, sigma, a, b), x), mu, sigma)
    for i, (m, s, *bounds) in enumerate(rows):
        at = float(x[i])
        of_mu = oracle.slope(
            lambda v, s=s, bounds=bounds, at=at: expected(oracle.TruncatedNormal(v, s, *bounds), at), m
        )
        of_sigma = oracle.slope(
            lambda v, m=m, bounds=bounds, at=at: expected(oracle.TruncatedNormal(m, v, *bounds), at), s
        )
        assert far(by_mu[i], of_mu, 1e-6) < 1e-6, rows[i]
        assert far(by_sigma[i], of_sigma, 1e-6) < 1e-6, rows[i]


MODERATE = [
    (m, s, 1.0, 1.0 + w) for m in (-9.0, 0.5, 1.2, 3.0, 20.0) for s in (0.3, 4.0) for w in (0.2, 5.0, INF)
]


@pytest.mark.parametrize("q", [0.01, 0.5, 0.97])
def test_gradients_of_quantiles(q: float) -> None:
    mu, sigma, a, b = columns(MODERATE)
    mu.requires_grad_(), sigma.requires_grad_()

    def quantile(mu: Tensor, sigma: Tensor) -> Tensor:
        return TruncatedNormal(mu, sigma, a, b).quantile(torch.full_like(mu, q))

    assert torch.autograd.gradcheck(quantile, (mu, sigma), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("q", [1e-9, 0.003, 0.3, 0.5, 0.8, 0.9999])
def test_quantiles_are_the_inverse(q: float) -> None:
    mu, sigma, a, b = columns(GRID)
    x = TruncatedNormal(mu, sigma, a, b).quantile(torch.full_like(mu, q))
    assert bool(((x >= a) & (x <= b)).all())
    for i, row in enumerate(GRID):
        # Of what numbers of 64 bits can say: x is rounded, and that may be much of a narrow interval.
        right, at = oracle.TruncatedNormal(*row), float(x[i])
        ulp, tolerance = math.ulp(at), 1e-11 * q + 1e-15
        below, above = (right.cdf(min(max(at + e, row[2]), row[3])) for e in (-ulp, ulp))
        assert below - tolerance <= q <= above + tolerance, row


def test_few_steps_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    mu, sigma, a, b = columns(GRID)
    for q in (1e-6, 0.2, 0.5, 0.99, 1 - 1e-6):
        level = torch.full_like(mu, q)
        expected = TruncatedNormal(mu, sigma, a, b).quantile(level)
        with monkeypatch.context() as patch:
            patch.setattr("hstar.estimates.truncated_normal.STEPS", 12)
            torch.testing.assert_close(
                TruncatedNormal(mu, sigma, a, b).quantile(level), expected, rtol=0, atol=0
            )


def test_the_ends() -> None:
    belief = TruncatedNormal(*columns([(0.0, 1.0, 2.0, 3.0), (9.0, 0.5, 2.0, 3.0), (2.5, 1e3, 2.0, 3.0)]))
    ends = {value: torch.full((3,), value, dtype=torch.float64) for value in (-5.0, 0.0, 1.0, 2.0, 3.0, 1e30)}
    assert [belief.cdf(ends[x]).tolist() for x in (-5.0, 2.0)] == [[0, 0, 0]] * 2
    assert [belief.cdf(ends[x]).tolist() for x in (3.0, 1e30)] == [[1, 1, 1]] * 2
    assert belief.quantile(ends[0.0]).tolist() == pytest.approx([2, 2, 2], abs=1e-6)
    assert belief.quantile(ends[1.0]).tolist() == pytest.approx([3, 3, 3], abs=1e-6)


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """States do not depend on each other, or on how many there are."""
    rows = columns(GRID)
    whole = TruncatedNormal(*rows).mean()
    monkeypatch.setattr("hstar.estimates.truncated_normal.BLOCK", 7)
    torch.testing.assert_close(TruncatedNormal(*rows).mean(), whole, rtol=1e-13, atol=0)
    assert TruncatedNormal(*(column[:0] for column in rows)).mean().shape == (0,)
