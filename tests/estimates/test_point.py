"""The point estimate: its loss, the gradient of it, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar.errors import UnsupportedError
from hstar.estimates import ESTIMATES, Batch, Known
from hstar.estimates.point import Point

NOTHING = Known()


def test_it_is_registered() -> None:
    assert ESTIMATES.get("point") is Point
    assert (Point.name, Point.outputs) == ("point", 1)


def test_loss_and_mean_by_hand() -> None:
    raw = torch.tensor([[1.0], [5.0]])
    assert Point().mean(raw, NOTHING).tolist() == [1, 5]
    assert float(Point().loss(raw, Batch(torch.tensor([3.0, 4.0])))) == 2.5


def test_a_base_is_added_to() -> None:
    raw, known = torch.tensor([[1.0], [5.0]]), Known(base=torch.tensor([10.0, -2.0]))
    assert Point().mean(raw, known).tolist() == [11, 3]
    assert float(Point().loss(raw, Batch(torch.tensor([13.0, 2.0]), known))) == 2.5


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(0, 999))
def test_gradient_against_finite_differences(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = Batch(torch.tensor(rng.normal(0, 10, n)))
    raw = torch.tensor(rng.normal(0, 10, (n, 1)), requires_grad=True)
    (gradient,) = torch.autograd.grad(Point().loss(raw, batch), raw)
    step = 1e-4
    for i in range(n):
        up, down = raw.detach().clone(), raw.detach().clone()
        up[i] += step
        down[i] -= step
        slope = (Point().loss(up, batch) - Point().loss(down, batch)) / (2 * step)
        assert float(gradient[i]) == pytest.approx(float(slope), rel=1e-5, abs=1e-6)


def test_no_distribution() -> None:
    raw = torch.zeros(1, 1)
    with pytest.raises(UnsupportedError, match=r"no quantile 0\.1; use the rule 'mean'"):
        Point().quantile(raw, 0.1, NOTHING)
    with pytest.raises(UnsupportedError, match="no distribution; use the estimate 'gaussian'"):
        Point().cdf(raw, torch.zeros(1), NOTHING)
