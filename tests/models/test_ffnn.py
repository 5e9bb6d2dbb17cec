"""The planning network: its loss against torch, the clip, dropout, and what it learns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from hstar.estimates.gaussian import Gaussian
from hstar.models.ffnn import FFNN, FFNNConfig
from hstar.training.loop import torch_threads


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More only wait for each other with networks as small as these."""
    with torch_threads(1):
        yield


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def some() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(30, 6, generator=generator(3)), torch.randint(
        0, 40, (30,), generator=generator(4)
    ).float()


def test_loss_is_the_likelihood_of_scaled_labels() -> None:
    network, (x, y) = FFNN(6, FFNNConfig(width=5), generator()), some()
    raw = network(x)
    rho = raw[:, 1].clamp(-5, 1)
    belief = Normal(raw[:, 0], torch.nn.functional.softplus(rho))
    expected = -belief.log_prob(y / 10).mean() - np.log(2 * np.pi) / 2
    loss, largest = network.loss(x, y, generator())
    torch.testing.assert_close(loss, expected)
    assert largest == pytest.approx(float((10 * raw[:, 0] - y).detach().abs().max()), rel=1e-5)


def test_one_output_has_the_squared_error() -> None:
    network, (x, y) = FFNN(6, FFNNConfig(width=5, outputs=1), generator()), some()
    loss, _ = network.loss(x, y, generator())
    torch.testing.assert_close(loss, (network(x)[:, 0] - y / 10).square().mean())


def test_gradient_passes_through_the_clip() -> None:
    network, (x, y) = FFNN(6, FFNNConfig(width=5), generator()), some()
    with torch.no_grad():
        network.output_weights[:, 1] = 0.0
        network.output_biases[1] = 9.0  # far beyond the highest rho, for labels that are fitted worse
        network.output_biases[0] = 2.0
    assert float(network.sigma(network(x)).detach().max()) == pytest.approx(1.3133, abs=1e-3)
    loss, _ = network.loss(x, y, generator())
    loss.backward()  # type: ignore[no-untyped-call]
    assert network.output_biases.grad is not None and abs(float(network.output_biases.grad[1])) > 1e-3


def test_dropout_is_for_learning_only() -> None:
    x, y = some()
    plain, dropping = (FFNN(6, FFNNConfig(width=200, dropout=p), generator()) for p in (0.0, 0.3))
    torch.testing.assert_close(plain(x), dropping(x))
    exact, largest = plain.loss(x, y, generator())
    losses = [float(dropping.loss(x, y, generator(seed))[0].detach()) for seed in range(20)]
    assert len(set(losses)) == 20
    assert dropping.loss(x, y, generator())[1] == pytest.approx(largest, rel=1e-5)
    assert float(exact.detach()) < np.mean(losses)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.slow
def test_it_learns(outputs: int) -> None:
    """A linear function, with noise on half of the states that two outputs can tell."""
    noise = np.random.default_rng(0)
    x = torch.from_numpy(noise.random((400, 3), dtype=np.float32))
    x[:, 2] = (x[:, 2] > 0.5).float()
    y = 20 + 10 * x[:, 0] - 5 * x[:, 1] + 4 * x[:, 2] * torch.from_numpy(noise.standard_normal(400)).float()
    network = FFNN(3, FFNNConfig(width=16, outputs=outputs), generator())
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(800):
        optimizer.zero_grad()
        network.loss(x, y, generator())[0].backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    raw = network(x).detach()
    wanted = 20 + 10 * x[:, 0] - 5 * x[:, 1]
    noisy = x[:, 2] == 1
    assert float((10 * raw[:, 0] - wanted)[~noisy].abs().mean()) < 1.5
    if outputs == 2:
        sigma = 10 * network.sigma(raw)
        assert float(sigma[noisy].mean()) > 2 * float(sigma[~noisy].mean())
        assert 2.0 < float(sigma[noisy].mean()) < 7.0


def test_arrays_compute_the_same() -> None:
    network, (x, _) = FFNN(6, FFNNConfig(width=5), generator()), some()
    arrays = network.arrays()
    hidden = np.maximum(x.numpy() @ arrays["hidden_weights"] + arrays["hidden_biases"], 0)
    raw = hidden @ arrays["output_weights"] + arrays["output_biases"]
    np.testing.assert_allclose(raw, network(x).detach().numpy(), rtol=1e-4, atol=1e-5)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("outputs", [1, 2])
def test_native_is_the_same_network_in_moves(outputs: int) -> None:
    config = FFNNConfig(width=5, outputs=outputs, sigmoid=True)
    network = FFNN(6, config, generator())
    x = torch.randint(0, 2, (30, 6), generator=generator(3)).float()
    raw, native = (
        network(x).detach(),
        torch.from_numpy(network.config.network(network.arrays()).reference(x.numpy())),
    )
    torch.testing.assert_close(native[:, 0], 10 * raw[:, 0])
    estimate = config.estimate
    assert estimate.outputs == outputs
    if outputs == 2:
        assert isinstance(estimate, Gaussian)
        torch.testing.assert_close(estimate.spread(native), 10 * network.sigma(raw))


def test_limits_of_the_spread() -> None:
    """The same by softplus and by sigmoid."""
    for sigmoid in (False, True):
        network = FFNN(6, FFNNConfig(sigmoid=sigmoid), generator())
        found = network.sigma(torch.tensor([[0.0, -60.0], [0.0, 60.0]]))
        torch.testing.assert_close(found, torch.tensor([0.006715, 1.313262]), rtol=1e-3, atol=1e-6)
