"""The ranking loss: values by hand, its gradient, and what it does not see."""

from __future__ import annotations

import math

import pytest
import torch

from hstar.estimates.ranking import ranking_loss

PAIRS = torch.tensor([[0, 1], [0, 2], [3, 1]])


def logistic(x: float) -> float:
    return math.log(1 + math.exp(x))


def test_values_by_hand() -> None:
    h = torch.tensor([1.0, 3.0, 1.0, 4.5], dtype=torch.float64)
    expected = (logistic(1 - 3) + logistic(1 - 1) + logistic(4.5 - 3)) / 3
    assert float(ranking_loss(h, PAIRS)) == pytest.approx(expected, rel=1e-12)
    assert float(ranking_loss(h, PAIRS[1:2])) == pytest.approx(math.log(2))


def test_the_gradient_is_that_of_finite_differences() -> None:
    generator = torch.Generator().manual_seed(0)
    h = (3 * torch.randn(6, generator=generator, dtype=torch.float64)).requires_grad_()
    pairs = torch.tensor([[0, 1], [0, 2], [3, 1], [4, 3], [4, 0]])
    (gradient,) = torch.autograd.grad(ranking_loss(h, pairs), h)
    step = 1e-6
    for i in range(len(h)):
        change = torch.zeros_like(h)
        change[i] = step
        slope = (ranking_loss(h + change, pairs) - ranking_loss(h - change, pairs)) / (2 * step)
        assert float(gradient[i]) == pytest.approx(float(slope.detach()), abs=1e-8)
    assert gradient[5] == 0 and gradient[4] > 0 > gradient[2], "better states go down, worse ones up"


def test_only_differences_count() -> None:
    h = torch.tensor([1.0, 3.0, 1.0, 4.5], dtype=torch.float64)
    assert float(ranking_loss(h + 1000, PAIRS)) == pytest.approx(float(ranking_loss(h, PAIRS)))
    better = h + torch.tensor([-5.0, 5.0, 5.0, -9.0])
    assert ranking_loss(better, PAIRS) < ranking_loss(h, PAIRS) / 10


def test_far_apart_it_stays_finite() -> None:
    h = torch.tensor([1e5, -1e5], requires_grad=True)
    loss = ranking_loss(h, torch.tensor([[0, 1]]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(loss.detach()) == pytest.approx(2e5) and h.grad is not None and h.grad.tolist() == [1, -1]


def test_without_pairs_nothing_is_learned() -> None:
    h = torch.ones(3, requires_grad=True)
    loss = ranking_loss(h, torch.zeros((0, 2), dtype=torch.int64))
    loss.backward()  # type: ignore[no-untyped-call]
    assert float(loss.detach()) == 0 and h.grad is not None and not h.grad.any()
