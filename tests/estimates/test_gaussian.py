"""The Gaussian estimate: its density, spread and options."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
import torch

from hstar.errors import InputError
from hstar.estimates import Batch, Known
from hstar.estimates.gaussian import Gaussian

RAW = torch.tensor([[2.0, -1.0], [-7.0, 4.0]], dtype=torch.float64)
BASE = Known(base=torch.tensor([5.0, 0.5], dtype=torch.float64))
SIGMA = [0.1 + 10 / (1 + math.exp(1)), 0.1 + 10 / (1 + math.exp(-4))]


def test_the_spread() -> None:
    assert Gaussian().outputs == 2 and Gaussian(sigma=3).outputs == 1
    assert Gaussian().spread(RAW).tolist() == pytest.approx(SIGMA)
    assert Gaussian(sigma=3).spread(RAW[:, :1]).tolist() == [3, 3]
    assert Gaussian(floor=1, range=2).spread(torch.tensor([[0.0, -1e9], [0.0, 1e9]])).tolist() == [1, 3]


def test_against_the_standard_library() -> None:
    estimate, x = Gaussian(), torch.tensor([4.0, -11.0], dtype=torch.float64)
    right = [NormalDist(7, SIGMA[0]), NormalDist(-6.5, SIGMA[1])]
    assert estimate.mean(RAW, BASE).tolist() == [7, -6.5]
    for alpha in (1e-6, 0.2, 0.5, 0.99):
        expected = [belief.inv_cdf(alpha) for belief in right]
        assert estimate.quantile(RAW, alpha, BASE).tolist() == pytest.approx(expected, rel=1e-12)
    expected = [belief.cdf(value) for belief, value in zip(right, x.tolist(), strict=True)]
    assert estimate.cdf(RAW, x, BASE).tolist() == pytest.approx(expected, rel=1e-12)
    density = [belief.pdf(value) for belief, value in zip(right, x.tolist(), strict=True)]
    loss = -sum(math.log(value) for value in density) / 2
    assert float(estimate.loss(RAW, Batch(x, BASE))) == pytest.approx(loss, rel=1e-12)


def test_a_constant_spread_is_the_squared_error() -> None:
    raw, label = torch.tensor([[1.0], [2.0]]), torch.tensor([4.0, 2.0])
    expected = 9 / (2 * 4) / 2 + math.log(2) + math.log(2 * math.pi) / 2
    assert float(Gaussian(sigma=2).loss(raw, Batch(label))) == pytest.approx(expected)


@pytest.mark.parametrize("sigma", [0, -1, math.inf, math.nan])
def test_no_spread(sigma: float) -> None:
    for option in ("sigma", "floor", "range"):
        with pytest.raises(InputError, match=f"{option} must be a number .*, got {sigma}"):
            Gaussian(**{option: sigma})
