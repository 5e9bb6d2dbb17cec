"""Every estimate in the registry keeps the contract, with its options and without them."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch

from hstar.errors import InputError, UnsupportedError
from hstar.estimates import ESTIMATES, Batch, Clip, Estimate, Known, Mean, Quantile
from hstar.estimates.estimate import from_json, to_json

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "gaussian": [{"sigma": 1.4}, {"floor": 0.5, "range": 3.0}],
    "laplace": [{"sigma": 1.4}, {"floor": 0.5, "range": 3.0}],
    "truncated": [{"sigma": 1.4}, {"sigma": 0.7, "margin": 0.01}],
}
CASES = [
    pytest.param(ESTIMATES.get(name)(**options), id=f"{name}{options or ''}")
    for name in ESTIMATES
    for options in [{}, *OPTIONS.get(name, [])]
]
N = 60


def states(estimate: Estimate, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, Batch]:
    """Outputs within and without the bounds, of which some are missing."""
    generator = torch.Generator().manual_seed(8)

    def random(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    raw = torch.randn(N, estimate.outputs, generator=generator, dtype=torch.float64) * 5
    lower = (random(N) * 10).floor()
    label = lower + (random(N) * 4).floor()
    upper = label + (random(N) * 3).floor()
    lower[::3], upper[::2] = math.nan, math.nan
    label, lower, upper, base = (column.to(dtype) for column in (label, lower, upper, 10 * random(N)))
    return raw.to(dtype), Batch(label, Known(lower, upper, base))


def spread(estimate: Estimate) -> bool:
    raw, batch = states(estimate)
    try:
        estimate.cdf(raw, batch.label, batch.known)
    except UnsupportedError:
        return False
    return True


def take(known: Known, rows: Any) -> Known:
    return Known(*(None if side is None else side[rows] for side in (known.lower, known.upper, known.base)))


@pytest.mark.parametrize("estimate", CASES)
def test_plain_data(estimate: Any) -> None:
    assert from_json(to_json(estimate)) == estimate
    assert to_json(estimate)["name"] == estimate.name
    assert estimate.outputs in (1, 2)
    assert sys.modules[type(estimate).__module__].__doc__


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("estimate", CASES)
def test_shapes_and_types(estimate: Any, dtype: torch.dtype) -> None:
    raw, batch = states(estimate, dtype)
    loss = estimate.loss(raw, batch)
    assert loss.shape == () and loss.dtype == dtype and bool(loss.isfinite())
    found = [estimate.mean(raw, batch.known)]
    if spread(estimate):
        found += [
            estimate.quantile(raw, 0.2, batch.known),
            estimate.cdf(raw, batch.label, batch.known),
        ]
    for value in found:
        assert value.shape == (N,) and value.dtype == dtype and bool(value.isfinite().all())


@pytest.mark.parametrize("estimate", CASES)
def test_states_are_independent(estimate: Any) -> None:
    raw, batch = states(estimate)
    rows = torch.arange(N - 1, -1, -7)
    torch.testing.assert_close(
        estimate.mean(raw[rows], take(batch.known, rows)), estimate.mean(raw, batch.known)[rows]
    )
    losses = [estimate.loss(raw[[i]], Batch(batch.label[[i]], take(batch.known, [i]))) for i in range(N)]
    torch.testing.assert_close(torch.stack(losses).mean(), estimate.loss(raw, batch))


@pytest.mark.parametrize("estimate", CASES)
def test_the_base_is_added_to_the_first_output(estimate: Any) -> None:
    raw, batch = states(estimate)
    added = raw.clone()
    added[:, 0] += batch.known.base
    without = replace(batch.known, base=None)
    torch.testing.assert_close(estimate.mean(raw, batch.known), estimate.mean(added, without))
    torch.testing.assert_close(estimate.loss(raw, batch), estimate.loss(added, Batch(batch.label, without)))


@pytest.mark.parametrize("estimate", CASES)
def test_no_bounds_are_as_unknown_ones(estimate: Any) -> None:
    raw, _ = states(estimate)
    unknown = torch.full((N,), math.nan)
    torch.testing.assert_close(estimate.mean(raw, Known(unknown, unknown)), estimate.mean(raw, Known()))


@pytest.mark.slow
@pytest.mark.parametrize("estimate", CASES)
def test_gradients(estimate: Any) -> None:
    raw, batch = states(estimate)
    raw.requires_grad_()
    assert torch.autograd.gradcheck(lambda raw: estimate.loss(raw, batch), (raw,))
    assert torch.autograd.gradcheck(lambda raw: estimate.mean(raw, batch.known), (raw,))


@pytest.mark.slow
@pytest.mark.parametrize("estimate", CASES)
def test_quantiles(estimate: Any) -> None:
    """They rise, invert the distribution, and fit the mean."""
    raw, batch = states(estimate)
    if not spread(estimate):
        with pytest.raises(UnsupportedError):
            estimate.quantile(raw, 0.5, batch.known)
        return
    levels = [(i + 0.5) / 400 for i in range(400)]
    quantiles = torch.stack([estimate.quantile(raw, alpha, batch.known) for alpha in levels])
    assert bool((quantiles.diff(dim=0) > 0).all())
    for alpha, x in zip(levels[::40], quantiles[::40], strict=True):
        p = estimate.cdf(raw, x, batch.known)
        torch.testing.assert_close(p, torch.full_like(p, alpha), rtol=1e-9, atol=0)
    scale = quantiles.std(dim=0)
    assert float(((quantiles.mean(dim=0) - estimate.mean(raw, batch.known)) / scale).abs().max()) < 0.01
    with pytest.raises(InputError, match="level between 0 and 1"):
        estimate.quantile(raw, 0.0, batch.known)


@pytest.mark.parametrize("estimate", CASES)
def test_what_is_bounded_stays_in_its_bounds(estimate: Any) -> None:
    raw, batch = states(estimate)
    lower, upper = batch.known.lower, batch.known.upper
    assert lower is not None and upper is not None
    for rule in [Mean(), *([Quantile(0.02), Quantile(0.98)] if spread(estimate) else [])]:
        h = rule.value(estimate, raw, batch.known)
        below, above = bool((h < lower).any()), bool((h > upper).any())
        if estimate.bounded:
            assert not below and not above
            mean = estimate.mean(raw, batch.known)
            assert bool(((mean < lower) | (mean > upper)).any()), "without a rule the margin is seen"
        clipped = Clip(rule, lower=None).value(estimate, raw, batch.known)
        assert not bool((clipped < lower).any()) and not bool((clipped > upper).any())
    plain = Mean().value(estimate, raw, batch.known)
    assert estimate.bounded or bool((plain < lower).any()), "the outputs are wild enough to see a difference"
