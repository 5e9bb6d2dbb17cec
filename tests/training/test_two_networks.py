"""How the two networks of likely-admissible heuristics learn, on inputs that need no puzzle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from hstar.errors import InputError
from hstar.models.epistemic import EpistemicConfig, epistemic_model
from hstar.models.ffnn import FFNN, FFNNConfig
from hstar.models.wunn import WUNN
from hstar.training.checkpoint import from_arrays, to_arrays
from hstar.training.loop import adam, seeded, torch_threads
from hstar.training.two_networks import (
    LARGEST_ERROR,
    SWEEP_EVERY,
    KnownSettings,
    _drawn,
    fit_planner,
    fit_until_known,
)

X, Y = torch.eye(6), torch.arange(6.0)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with torch_threads(1):
        yield


def known(**options: Any) -> Any:
    return epistemic_model("wunn", 6, EpistemicConfig(**{"width": 6, "samples": 0, **options}), seeded(1))


def test_planner_stops_when_all_is_learned() -> None:
    network = FFNN(6, FFNNConfig(width=12), seeded(0))
    optimizer = adam(network.parameters(), 0.02)
    fit = fit_planner(network, optimizer, X, Y, 1000, seeded(1))
    assert fit.steps < 1000 and fit.largest_error < LARGEST_ERROR
    assert float((10 * network(X)[:, 0] - Y).detach().abs().max()) < LARGEST_ERROR
    again = fit_planner(network, optimizer, X, Y, 1000, seeded(2))
    assert again.steps == 0


def test_planner_takes_no_more_steps_than_it_may() -> None:
    network = FFNN(6, FFNNConfig(width=2), seeded(0))
    before = network(X).detach().clone()
    fit = fit_planner(network, adam(network.parameters(), 1e-3), X, 100 * Y, 3, seeded(1))
    assert fit.steps == 3 and fit.largest_error > LARGEST_ERROR
    assert not torch.equal(before, network(X))


def fit(model: Any, **options: Any) -> Any:
    settings = {"beta": 1e-4, "threshold": 0.64, "steps": 600, "batch": 100, **options}
    return fit_until_known(model, adam(model.parameters(), 0.02), X, Y, seeded(2), KnownSettings(**settings))


def test_it_learns_until_it_is_sure() -> None:
    model = known()
    found = fit(model, threshold=0.01)
    assert found.reached and 0 < found.steps < 600 and found.steps % SWEEP_EVERY == 0
    assert float(model.uncertainty(X, seeded(3)).max()) < 0.01
    mean = model.exact(X)[0].detach()
    assert float((mean - Y).abs().mean()) < 2.0


def test_it_says_when_it_does_not_become_sure() -> None:
    found = fit(known(), threshold=1e-9, steps=120)
    assert (found.reached, found.steps) == (False, 120) and found.largest_variance > 1e-9


def test_no_early_stop_on_demand() -> None:
    found = fit(known(), threshold=1e9, steps=60, stop_early=False)
    assert (found.reached, found.steps) == (False, 60)
    assert fit(known(), threshold=1e9).steps == 0


def test_unknown_states_are_drawn_before_known_ones() -> None:
    """Of ten states nine are known to a model that counts what it is asked to learn."""

    class Counter:
        def __init__(self) -> None:
            self.weight = torch.nn.Parameter(torch.zeros(()))
            self.seen = torch.zeros(10)

        def uncertainty(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
            return torch.where(torch.arange(10) == 3, 4.0, 0.1)

        def loss(
            self, x: torch.Tensor, y: torch.Tensor, beta: float, generator: torch.Generator
        ) -> torch.Tensor:
            assert len(set(y.tolist())) == 2, "without replacement"
            self.seen[y.long()] += 1
            return self.weight.square()

    model: Any = Counter()
    fit_until_known(
        model,
        adam([model.weight], 0.1),
        torch.eye(10),
        torch.arange(10.0),
        seeded(0),
        KnownSettings(beta=1.0, threshold=0.64, steps=500, batch=2),
    )
    # Its weight is exp(2) beside nine of exp(-1): in 0.91 of all batches, each other in 0.12.
    assert float(model.seen[3]) / 500 == pytest.approx(0.912, abs=0.05)
    assert float(model.seen[[0, 1, 2, 4, 5, 6, 7, 8, 9]].mean()) / 500 == pytest.approx(0.121, abs=0.03)


def spread_of(*spreads: float) -> tuple[torch.Tensor, WUNN]:
    """States, and a network whose standard deviations in them are these: one hidden unit, as good as sure."""
    model = WUNN(len(spreads), EpistemicConfig(width=1, samples=0, loss_samples=0), seeded(0))
    with torch.no_grad():
        for layer in (model.hidden, model.output):
            layer.mean[:], layer.rho[:], layer.bias_rho[:] = 0, -60, -60
        model.hidden.mean[:, 0] = torch.tensor(spreads)
        model.output.rho[:] = math.log(math.e - 1)  # its sigma is 1
    return torch.eye(len(spreads)), model


@pytest.mark.parametrize("native", [True, False], ids=["native", "torch"])
def test_draws_by_weights_that_overflow(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """exp(100) is infinite in float32; e to 1 all the same is how often each is drawn."""
    monkeypatch.setattr(WUNN, "in_closed_form", native)
    times = torch.zeros(3)
    for seed in range(300):
        x, model = spread_of(100, 101, 0.1)
        torch.testing.assert_close(
            model.uncertainty(x, seeded(0)), torch.tensor([1e4, 10201, 0.01]), rtol=1e-3, atol=1e-3
        )
        before = model.hidden.mean.detach().clone()
        fit_until_known(
            model,
            torch.optim.Adam(model.parameters(), 1e-3),
            *(x, torch.zeros(3), seeded(seed)),
            KnownSettings(beta=0.0, threshold=0.64, steps=1, batch=1),
        )
        times += (model.hidden.mean.detach() - before).squeeze(1) != 0
    assert times.sum() == 300 and times[2] == 0
    assert float(times[1]) / 300 == pytest.approx(math.e / (1 + math.e), abs=0.08)


def test_draws_in_which_a_few_have_nearly_all_the_weight() -> None:
    """Of 5 + 35 states a batch of 8 has the five, which nobody else would leave room for, and three more."""
    for spread in (30.0, 300.0):
        x, model = spread_of(*[spread] * 5, *[0.1] * 35)
        before = model.hidden.mean.detach().clone()
        options = {"beta": 0.0, "threshold": 0.64, "steps": 1, "batch": 8}
        fit_until_known(
            model,
            torch.optim.Adam(model.parameters(), 1e-3),
            x,
            5 * torch.ones(40),
            seeded(1),
            KnownSettings(**options),
        )
        moved = (model.hidden.mean.detach() - before).squeeze(1) != 0
        assert bool(moved[:5].all()) and int(moved[5:].sum()) == 3


def test_draws_of_torch_by_logarithms() -> None:
    logarithms = torch.tensor([0.0, 1.0, 2.0]) + 100
    rows = [_drawn(logarithms.exp(), logarithms, 1, generator) for generator in [seeded(0)] * 2000]
    share = torch.cat(rows).bincount(minlength=3) / 2000
    torch.testing.assert_close(share, torch.softmax(logarithms, 0), rtol=0, atol=0.04)
    assert sorted(_drawn(logarithms.exp(), logarithms, 3, seeded(0)).tolist()) == [0, 1, 2]


@pytest.mark.parametrize("native", [True, False], ids=["native", "torch"])
def test_spreads_that_collapse(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rho -60 the variance is 0 in float32; learning goes on, and rho above -20 comes back."""
    monkeypatch.setattr(WUNN, "in_closed_form", native)
    model = WUNN(6, EpistemicConfig(width=6, samples=0, loss_samples=0), seeded(1))
    with torch.no_grad():
        for layer in (model.hidden, model.output):
            layer.rho[:], layer.bias_rho[:] = -60, -60
        model.output.rho[:] = -18
    found = fit(model, beta=0.05, steps=100, stop_early=False)
    assert found.steps == 100 and 0 <= found.largest_variance < 1e-6
    assert all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    assert float(model.output.rho.detach().min()) > -18
    assert float(model.divergence().detach()) < math.inf


@pytest.mark.parametrize("native", [True, False], ids=["native", "torch"])
@pytest.mark.parametrize("number", [math.nan, 1e30])
def test_variances_that_are_not_finite(native: bool, number: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WUNN, "in_closed_form", native)
    model = known(loss_samples=0)
    with torch.no_grad():
        model.hidden.mean[3] = number
    with pytest.raises(InputError, match="not finite: known_learning_rate is too large"):
        fit(model, batch=3)


def test_arrays_go_on_as_if_nothing_had_been() -> None:
    one, two = known(loss_samples=0), known(loss_samples=0)
    first, second = (adam(model.parameters(), 0.02) for model in (one, two))

    def step(model: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        model.loss(X, Y, 0.1, seeded(0)).backward()
        optimizer.step()

    for _ in range(3):
        step(one, first)
    arrays = {name: array.reshape(array.shape or 1) for name, array in to_arrays(one, first).items()}
    from_arrays(two, second, arrays)  # as a file would give them
    for _ in range(3):
        step(one, first)
        step(two, second)
    for name, weights in one.state_dict().items():
        assert torch.equal(weights, two.state_dict()[name])


# In the core.


@pytest.mark.parametrize(("inputs", "width"), [(40, 7), (3, 1)])
def test_native_steps_are_those_of_torch(inputs: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All states in every step, so that nothing is drawn; weights, moments and what is told are compared."""
    x = torch.rand(50, inputs, generator=seeded(0)) * (torch.rand(50, inputs, generator=seeded(1)) < 0.5)
    y = 20 * torch.rand(50, generator=seeded(2))
    found = []
    for native in (False, True):
        monkeypatch.setattr(WUNN, "in_closed_form", native)
        model = WUNN(inputs, EpistemicConfig(width=width, samples=0, loss_samples=0), seeded(3))
        optimizer = adam(model.parameters(), 0.02)
        fits = [
            fit_until_known(model, optimizer, x, y, seeded(4), KnownSettings(b, 1e-6, s, 50))
            for b, s in ((0.05, 30), (0.01, 60))
        ]
        found.append((fits, to_arrays(model, optimizer)))
    (fits, arrays), (native_fits, native_arrays) = found
    for one, other in zip(fits, native_fits, strict=True):
        assert (one.steps, one.reached) == (other.steps, other.reached)
        assert other.largest_variance == pytest.approx(one.largest_variance, rel=1e-3)
    assert arrays.keys() == native_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_allclose(native_arrays[name], array, rtol=2e-3, atol=1e-4, err_msg=name)


def test_native_batches_are_of_unknown_states_first() -> None:
    """Two groups of inputs, one of them well known: a step of one state is for the other one."""
    x = torch.eye(2).repeat_interleave(20, 0)
    y = torch.cat([torch.full((20,), 5.0), torch.full((20,), 30.0)])
    model = WUNN(2, EpistemicConfig(width=4, samples=0, loss_samples=0), seeded(0))
    with torch.no_grad():
        model.hidden.rho[0], model.hidden.bias_rho[:] = -9, -9
        model.hidden.rho[1], model.output.rho[:] = 20, -9
    variance = model.uncertainty(x, seeded(0))
    assert float(variance[0]) < 0.1 and float(variance[-1]) > 50
    before = model.hidden.mean.detach().clone()
    options = {"beta": 0.0, "threshold": 0.64, "steps": 5, "batch": 1}
    fit_until_known(
        model, torch.optim.Adam(model.parameters(), 1e-3), x, y, seeded(2), KnownSettings(**options)
    )
    moved = (model.hidden.mean.detach() - before).abs().amax(dim=1)
    assert float(moved[0]) == 0 < float(moved[1])


def test_native_fit_can_be_repeated() -> None:
    """Its draws come from the generator."""
    x, y = torch.rand(30, 5, generator=seeded(0)), torch.arange(30.0)
    found = []
    for seed in (1, 1, 2):
        model = WUNN(5, EpistemicConfig(width=3, samples=0, loss_samples=0), seeded(0))
        optimizer = adam(model.parameters(), 0.01)
        fit_until_known(model, optimizer, x, y, seeded(seed), KnownSettings(0.1, 1e-9, 20, 4))
        found.append(model.hidden.mean.detach().clone())
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


def test_native_weights_that_do_not_fit() -> None:
    model = WUNN(5, EpistemicConfig(width=3, samples=0, loss_samples=0), seeded(0))
    optimizer = adam(model.parameters(), 0.01)
    options: dict[str, Any] = {"beta": 0.1, "threshold": 0.1, "steps": 2, "batch": 4}
    with pytest.raises(InputError, match="do not fit its inputs"):
        fit_until_known(
            model, optimizer, torch.ones(2, 6), torch.ones(2), seeded(0), KnownSettings(**options)
        )
    with pytest.raises(InputError, match="as many labels as states"):
        fit_until_known(
            model, optimizer, torch.ones(2, 5), torch.ones(3), seeded(0), KnownSettings(**options)
        )
