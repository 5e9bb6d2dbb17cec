"""Networks over maps: the table of the paper, and values that depend on nothing but the scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hstar.errors import InputError
from hstar.models import models_of
from hstar.models.grid_config import GridNetwork, PaperConfig, ValueMapConfig, VinConfig
from hstar.models.grid_network import PaperNetwork
from hstar.spaces.grid import Grid, GridProblem
from hstar.spaces.grid_maps import random_problem

CASES = [
    VinConfig(sweeps=12, waves=3, width=5),
    VinConfig(sweeps=6, spread=8),
    ValueMapConfig(4),
    ValueMapConfig(4, 3, 2, tied=True),
    ValueMapConfig(4, distance=False),
    PaperConfig(),
]


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(5)
    yield
    torch.set_num_threads(before)


def outputs(
    network: Any, module: nn.Module, problems: list[GridProblem], cells: int = 20
) -> list[np.ndarray]:
    """Of the first free cells of each problem, all in one batch."""
    images = [network.encode(problem) for problem in problems]
    free = [np.flatnonzero(~problem.grid.blocked)[:cells] for problem in problems]
    scenario = np.repeat(np.arange(len(problems)), [len(some) for some in free])
    with torch.inference_mode():
        raw = module(network.inputs(images, scenario, np.concatenate(free)))
    assert raw.shape == (len(scenario), 2)
    return [raw[scenario == i].numpy() for i in range(len(problems))]


def test_the_table_of_the_paper() -> None:
    module, seen = PaperNetwork(1, 1.0), []
    x = torch.zeros(2, 3, 30, 30)
    for layer, pool in zip(module.layers, module.POOLS, strict=True):
        x = nn.functional.avg_pool2d(layer(x), pool)
        seen.append(tuple(x.shape[1:]))
    assert seen == [(4, 30, 30), (8, 30, 30), (16, 30, 30), (32, 7, 7), (64, 3, 3), (1, 1, 1)]
    assert [layer.dilation[0] for layer in module.layers] == [1, 2, 4, 8, 1, 1]
    variance = float(
        torch.stack([PaperNetwork(1, 1.0).layers[4].weight.detach().var() for _ in range(5)]).mean()
    )
    assert variance == pytest.approx(1 / (32 * 9), rel=0.1)


@pytest.mark.parametrize("network", CASES, ids=str)
def test_a_scenario_is_valued_alone_as_in_a_batch(network: Any) -> None:
    problems = [random_problem(seed, rows=18, columns=20) for seed in range(3)]
    module = replace(network, scale=3.0).build(2).eval()
    together = outputs(network, module, problems)
    for one, expected in zip(problems, together, strict=True):
        np.testing.assert_allclose(outputs(network, module, [one])[0], expected, rtol=1e-4, atol=1e-5)
    assert not np.allclose(together[0], together[1])


@pytest.mark.parametrize("network", [ValueMapConfig(4, 2, 4), VinConfig(9), VinConfig(9, spread=8)], ids=str)
def test_maps_of_different_sizes_in_one_batch(network: GridNetwork) -> None:
    """What lies outside a map is as if there were obstacles without end."""
    problems = [random_problem(seed, rows=rows, columns=17 - rows) for seed, rows in enumerate((4, 9, 12))]
    module = network.build(2).eval()
    for one, expected in zip(problems, outputs(network, module, problems), strict=True):
        np.testing.assert_allclose(outputs(network, module, [one])[0], expected, rtol=1e-4, atol=1e-5)
    walled = np.ones((10, 20), dtype=bool)
    walled[:4, :13] = problems[0].grid.blocked
    enclosed = GridProblem(Grid(walled), problems[0].start, problems[0].goal)
    found = outputs(network, module, [problems[0], enclosed])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("network", CASES, ids=str)
def test_outputs_are_in_units_of_the_scale(network: Any) -> None:
    problem, found = random_problem(1, rows=16, columns=16), []
    for scale in (1.0, 8.0):
        torch.manual_seed(0)
        found.append(outputs(network, replace(network, scale=scale).build(2).eval(), [problem])[0])
    np.testing.assert_allclose(8 * found[0], found[1], rtol=1e-4, atol=1e-6)


def test_tied_rounds_share_their_weights() -> None:
    sizes = [
        sum(weights.numel() for weights in ValueMapConfig(4, rounds, 4, tied).build(1).parameters())
        for rounds, tied in ((1, False), (3, False), (3, True))
    ]
    assert sizes[0] == sizes[2] < sizes[1]


@pytest.mark.parametrize("spread", [4, 8])
def test_values_spread_as_far_as_there_are_sweeps(spread: int) -> None:
    """A corridor: a wall that is put into it is felt as far as values come, and no farther."""
    network = VinConfig(sweeps=5, waves=2, spread=spread)
    module = network.build(2).eval()
    for name, layer in module.named_children():
        if name == "step":
            nn.init.zeros_(layer.weight)  # type: ignore[arg-type]
            nn.init.constant_(layer.bias, -3.0)  # type: ignore[arg-type]
    blocked = np.zeros((3, 20), dtype=bool)
    blocked[1:] = True
    open_end = GridProblem(Grid(blocked), (0, 19), (0, 0))
    blocked = blocked.copy()
    blocked[0, 1] = True
    closed = GridProblem(Grid(blocked), (0, 0), (0, 0))
    with torch.inference_mode():
        one, two = (
            module(network.inputs([network.encode(problem)], np.zeros(18, np.int64), np.arange(2, 20)))
            for problem in (open_end, closed)
        )
    differ = (one - two).abs().amax(1).numpy() > 1e-6
    assert differ.tolist() == 4 * [True] + 14 * [False]


@pytest.mark.parametrize("network", [ValueMapConfig(4), VinConfig(6)], ids=str)
def test_states_of_a_lattice_have_outputs_of_their_own(network: GridNetwork) -> None:
    problem = random_problem(1, rows=7, columns=9)
    module = network.build(2, 8).eval()
    with torch.inference_mode():
        images = [network.encode(problem)] * 2
        everything = np.arange(7 * 9 * 8)
        raw = module(network.inputs(images[:1], np.zeros(len(everything), np.int64), everything, 8))
        some = np.array([5, 130, 503])
        again = module(network.inputs(images, np.ones(3, np.int64), some, 8))
    assert raw.shape == (504, 2)
    np.testing.assert_allclose(again, raw[some], rtol=1e-4, atol=1e-5)
    assert len(np.unique(raw.reshape(63, 8, 2)[~problem.grid.blocked.reshape(-1)][0, :, 0])) == 8


def test_options() -> None:
    assert models_of("map") == ["vin", "value-map", "paper"]
    assert ValueMapConfig(reach=8).dilations == (1, 2, 4, 8) and ValueMapConfig(reach=1).dilations == (1,)
    for wrong in ({"channels": 0}, {"rounds": 1.5}, {"reach": True}):
        with pytest.raises(InputError, match="must be a whole number from 1 to"):
            ValueMapConfig(**wrong)
    with pytest.raises(InputError, match="spread must be 4 or 8, got 5"):
        VinConfig(spread=5)
    with pytest.raises(InputError, match="sweeps must be a whole number from 1 to"):
        VinConfig(sweeps=0)
    with pytest.raises(InputError, match="reach must be a power of 2, got 6"):
        ValueMapConfig(reach=6)
    with pytest.raises(InputError, match=r"needs maps of 16 x 16 cells or more, got 30 x 15; use vin"):
        PaperConfig().encode(random_problem(0, columns=15))
