"""How the two networks of likely-admissible heuristics learn, on inputs that need no puzzle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from hstar.models.epistemic import EpistemicConfig, epistemic_model
from hstar.models.ffnn import FFNN, FFNNConfig
from hstar.training.two_networks import (
    LARGEST_ERROR,
    SWEEP_EVERY,
    adam,
    fit_planner,
    fit_until_known,
    from_arrays,
    seeded,
    to_arrays,
    torch_threads,
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
    return fit_until_known(model, adam(model.parameters(), 0.02), X, Y, seeded(2), **settings)


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
        beta=1.0,
        threshold=0.64,
        steps=500,
        batch=2,
    )
    # Its weight is exp(2) beside nine of exp(-1): in 0.91 of all batches, each other in 0.12.
    assert float(model.seen[3]) / 500 == pytest.approx(0.912, abs=0.05)
    assert float(model.seen[[0, 1, 2, 4, 5, 6, 7, 8, 9]].mean()) / 500 == pytest.approx(0.121, abs=0.03)


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
