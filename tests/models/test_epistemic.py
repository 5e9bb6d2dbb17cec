"""Networks that know what they do not know: moments, divergence, learning, and the contract of all kinds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from hstar.errors import InputError
from hstar.models.ensemble import Ensemble
from hstar.models.epistemic import KINDS, EpistemicConfig, epistemic_model
from hstar.models.mc_dropout import MCDropout
from hstar.models.wunn import WUNN
from hstar.training.loop import torch_threads

INPUTS = 6


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More only wait for each other with networks as small as these."""
    with torch_threads(1):
        yield


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(kind: str, **options: Any) -> Any:
    return epistemic_model(kind, INPUTS, EpistemicConfig(**{"width": 5, **options}), generator())


def some(states: int, seed: int = 1) -> torch.Tensor:
    return torch.rand(states, INPUTS, generator=generator(seed))


def variances_of_weights(model: WUNN) -> None:
    """Makes the spread of all weights large enough to matter."""
    with torch.no_grad():
        for layer in (model.hidden, model.output):
            layer.rho.add_(3.0)
            layer.bias_rho.add_(4.0)


def by_drawn_weights(model: WUNN, x: torch.Tensor, samples: int) -> torch.Tensor:
    """Outputs (samples, states) with one draw of all weights for each sample and state: the definition."""
    noise = generator(5)

    def drawn(mean: torch.Tensor, rho: torch.Tensor) -> torch.Tensor:
        shape = (samples, len(x), *mean.shape)
        sigma = torch.nn.functional.softplus(rho.detach())
        return mean.detach() + sigma * torch.randn(shape, generator=noise)

    a = x.expand(samples, *x.shape)
    for layer, activation in ((model.hidden, torch.relu), (model.output, torch.nn.Identity())):
        weights, biases = drawn(layer.mean, layer.rho), drawn(layer.bias_mean, layer.bias_rho)
        a = activation(torch.einsum("sni,snio->sno", a, weights) + biases)
    return a.squeeze(-1)


def test_moments_are_those_of_drawn_weights() -> None:
    model, x = made("wunn"), some(4)
    variances_of_weights(model)
    outputs = by_drawn_weights(model, x, 10_000)
    mean, variance = model.exact(x)
    torch.testing.assert_close(mean, outputs.mean(0), rtol=0.1, atol=0.1)
    torch.testing.assert_close(variance, outputs.var(0), rtol=0.1, atol=0.0)
    drawn = model.draw(x, 10_000, generator(2))
    torch.testing.assert_close(mean, drawn.mean(0), rtol=0.1, atol=0.1)
    torch.testing.assert_close(variance, drawn.var(0), rtol=0.1, atol=0.0)


def test_divergence_is_that_of_torch() -> None:
    model = made("wunn", prior_variance=7.0)
    total = torch.zeros(())
    for layer in (model.hidden, model.output):
        for mean, rho in ((layer.mean, layer.rho), (layer.bias_mean, layer.bias_rho)):
            posterior = Normal(mean, torch.nn.functional.softplus(rho))
            total = total + kl_divergence(posterior, Normal(0.0, math.sqrt(7.0))).sum()
    torch.testing.assert_close(model.divergence(), total)


def test_exact_loss_is_the_mean_of_sampled_ones() -> None:
    x, y = some(8), torch.arange(8.0)
    exact, sampled = made("wunn", loss_samples=0), made("wunn", loss_samples=5_000)
    torch.testing.assert_close(
        exact.loss(x, y, 0.01, generator()), sampled.loss(x, y, 0.01, generator()), rtol=0.03, atol=0.0
    )
    without = exact.loss(x, y, 0.0, generator())
    torch.testing.assert_close(exact.loss(x, y, 2.0, generator()), without + 2.0 * exact.divergence())


def test_first_spreads_are_those_of_the_paper() -> None:
    model = epistemic_model("wunn", 128, EpistemicConfig(), generator())
    assert isinstance(model, WUNN)
    for layer, expected in ((model.hidden, 0.43), (model.output, 0.19)):
        sigma = float(torch.nn.functional.softplus(layer.rho).mean().detach())
        assert sigma == pytest.approx(expected, abs=0.03)
        assert float(layer.bias_rho.detach().mean()) == -5.0
    assert float(model.hidden.mean.std().detach()) == pytest.approx(math.sqrt(2 / 128), rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("samples", [0, 30])
def test_contract(kind: str, samples: int) -> None:
    model, x, y = made(kind, samples=samples), some(9), torch.arange(9.0)
    loss = model.loss(x, y, 0.1, generator())
    assert loss.shape == () and bool(loss.isfinite())
    loss.backward()
    assert all(bool(parameter.grad.isfinite().all()) for parameter in model.parameters())
    variance = model.uncertainty(x, generator())
    assert variance.shape == (9,) and not variance.requires_grad
    assert bool((variance >= 0).all()) and float(variance.max()) > 0
    torch.testing.assert_close(variance, model.uncertainty(x, generator()))
    again = made(kind, samples=samples)
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(variance, again.uncertainty(x, generator()))


@pytest.mark.parametrize("kind", KINDS)
def test_closed_form_is_the_limit_of_samples(kind: str) -> None:
    x = some(5)
    exact = made(kind, samples=0).uncertainty(x, generator())
    sampled = made(kind, samples=5_000).uncertainty(x, generator())
    torch.testing.assert_close(exact, sampled, rtol=0.1, atol=1e-6)


@pytest.mark.parametrize("kind", ["wunn", "ensemble"])
def test_what_was_learned_is_known_and_the_rest_is_not(kind: str) -> None:
    """One-hot inputs: the first half is learned, the second half never seen."""
    model = epistemic_model(kind, 8, EpistemicConfig(width=8, samples=0, loss_samples=0), generator())
    assert isinstance(model, WUNN | Ensemble)
    inputs = torch.eye(8)
    x, y = inputs[:4], torch.tensor([1.0, 2.0, 3.0, 4.0])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    before = model.uncertainty(inputs, generator())
    for _ in range(300):
        optimizer.zero_grad()
        model.loss(x, y, 1e-3, generator()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    after = model.uncertainty(inputs, generator())
    assert float(after[:4].max()) < 0.2
    assert float(after[4:].min()) > 3 * float(after[:4].max())
    assert float(after[:4].max()) < float(before[:4].max()) or kind == "wunn"


@pytest.mark.slow
def test_the_prior_keeps_weights_back() -> None:
    """With a heavier prior the variance of what was learned stays larger."""
    found = []
    for beta in (1e-4, 1.0):
        model = epistemic_model("wunn", 4, EpistemicConfig(width=8, samples=0, loss_samples=0), generator())
        assert isinstance(model, WUNN)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(300):
            optimizer.zero_grad()
            model.loss(torch.eye(4), torch.arange(4.0), beta, generator()).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        found.append(float(model.uncertainty(torch.eye(4), generator()).max()))
    assert found[0] < 0.1 < found[1]


def test_dropout_has_no_variance_without_dropout() -> None:
    model = MCDropout(INPUTS, EpistemicConfig(width=5, dropout=0.0, samples=0), generator())
    assert float(model.uncertainty(some(3), generator()).max()) == 0.0


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match=r"unknown kind of uncertainty 'wun'.*did you mean 'wunn'"):
        epistemic_model("wun", 3, EpistemicConfig(), generator())
