"""Models of maps: files that give the same values again, and one line where something does not fit."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hstar import container
from hstar.errors import ModelError
from hstar.estimates.asymmetric import Asymmetric
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.rules import Bounded, Clip, Likely, Mean, Quantile
from hstar.models.grid_config import PaperConfig, ValueMapConfig, VinConfig
from hstar.models.map_identity import MapIdentity
from hstar.models.trained_model import TrainedModel, load_model
from hstar.search.solve import SearchConfig, solve
from hstar.spaces.grid import Grid, GridProblem
from hstar.spaces.grid_maps import random_problem, with_headings


def fresh(network: Any, **changes: Any) -> TrainedModel[MapIdentity]:
    """A model whose weights are as they were drawn; `changes` of what it is for."""
    torch.manual_seed(3)
    network = replace(network, scale=5.0)
    space = replace(MapIdentity(4, False, ((16, 18),), network.any_size), **changes)
    return TrainedModel(
        space=space,
        model=network.name,
        model_config=asdict(network),
        tensors={
            name: tensor.numpy()
            for name, tensor in network.build(1, max(space.headings, 1)).state_dict().items()
        },
        estimate=Asymmetric(-1.5),
        rule=Mean(),
        recipe="prolonged",
        recipe_config={"k_pr": 2.0},
        seed=7,
        summary={"best_loss": 1.25},
    )


@pytest.mark.parametrize("network", [VinConfig(7), ValueMapConfig(3, 1, 2), PaperConfig()], ids=str)
def test_the_file_gives_the_same_model(network: Any, tmp_path: Path) -> None:
    model, problem = fresh(network), random_problem(4, rows=16, columns=18)
    model.save(tmp_path / "m.hstar")
    again = load_model(tmp_path / "m.hstar")
    for name in ("model", "model_config", "estimate", "rule", "space", "recipe_config", "seed", "summary"):
        assert getattr(again, name) == getattr(model, name)
    values = model.build(problem).values
    assert values.shape == (16, 18) and values.dtype == np.float32 and len(np.unique(values)) > 20
    assert np.array_equal(again.build(problem).values, values)
    assert not values[problem.grid.blocked].any()
    first = (tmp_path / "m.hstar").read_bytes()
    again.save(tmp_path / "m.hstar")
    assert (tmp_path / "m.hstar").read_bytes() == first


def test_values_are_added_to_the_admissible_distance() -> None:
    """With weights of 0 nothing is added."""
    model, problem = fresh(ValueMapConfig(3, 1, 2)), random_problem(4, rows=16, columns=18)
    nothing = {name: np.zeros_like(tensor) for name, tensor in model.tensors.items()}
    values = replace(model, tensors=nothing).build(problem).values
    free = ~problem.grid.blocked
    assert np.array_equal(values[free], problem.grid.lower_bounds(problem.goal).astype(np.float32)[free])
    assert solve(problem, values, "astar").expanded == solve(problem, None, "astar").expanded


def test_what_a_model_is_not_for() -> None:
    any_size, fixed = fresh(ValueMapConfig(3, 1, 2)), fresh(PaperConfig())
    larger = random_problem(1, rows=40, columns=50)
    assert any_size.build(larger).values.shape == (40, 50)
    with pytest.raises(
        ModelError, match="the model was trained for maps of 16 x 18 cells, asked for 40 x 50"
    ):
        fixed.build(larger)
    with pytest.raises(ModelError, match=r"trained for 4 neighbours, asked for 8 neighbours$"):
        any_size.build(random_problem(1, neighbours=8))
    with pytest.raises(ModelError, match="asked for 8 neighbours and cut corners"):
        any_size.build(random_problem(1, neighbours=8, cut_corners=True))
    free = np.zeros((5, 5), dtype=bool)
    with pytest.raises(ModelError, match="steps that cost 1, asked for costs of cells"):
        any_size.build(GridProblem(Grid(free, np.full((5, 5), 2.0)), (0, 0), (4, 4)))


def test_lattices(tmp_path: Path) -> None:
    model = fresh(VinConfig(5), neighbours=8, headings=8, turn_cost=0.5)
    model.save(tmp_path / "m.hstar")
    again = load_model(tmp_path / "m.hstar")
    assert (again.space.headings, again.space.turn_cost) == (8, 0.5)
    (problem,) = with_headings([random_problem(4, rows=9, columns=7)], 8, 0.5, seed=1)
    values = again.build(problem).values
    assert values.shape == (9, 7, 8) and not values[problem.grid.blocked].any()
    optimum, found = solve(problem, None, "astar"), solve(problem, values, "astar", eps=1.5)
    assert optimum.plan_cost is not None and found.plan_cost is not None
    assert found.plan_cost <= 1.5 * optimum.plan_cost
    for wrong, told in (
        (random_problem(4), "trained for 8 headings, turns for 0.5, asked for 4 neighbours"),
        (replace(problem, turn_cost=2.0), "asked for 8 headings, turns for 2"),
        (replace(problem, goal=(*problem.goal, 3)), "goals that do not say a heading"),
        (
            replace(problem, grid=replace(problem.grid, cut_corners=True)),
            "asked for 8 headings, turns for 0.5 and cut corners",
        ),
    ):
        with pytest.raises(ModelError, match=told):
            again.build(wrong)
    with pytest.raises(ModelError, match="trained for 4 neighbours, asked for 8 headings"):
        fresh(VinConfig(5)).build(problem)


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "m.hstar"
    with pytest.raises(ModelError, match="cannot read"):
        load_model(path)
    fresh(ValueMapConfig(3, 1, 2)).save(path)
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    with pytest.raises(ModelError, match="damaged"):
        load_model(path)
    path.write_bytes(data[:-5] + b"12345")
    with pytest.raises(ModelError, match="does not match its checksum"):
        load_model(path)
    path.write_bytes(data)
    header, tensors = container.read(path, "model", 2)
    for name, wrong, told in (
        ("model", "value-mop", "unknown model 'value-mop'"),
        ("model_config", {"channels": 4, "rounds": 1, "reach": 2}, "weights of value-map"),
        ("model_config", {"depth": 4}, "not options of the model 'value-map': depth"),
        ("model_config", {"scale": 0}, "scale must be a number above 0"),
        (
            "estimate",
            {"name": "asymmetric", "a": "low"},
            "a must be a number that is finite, got 'low'",
        ),
        ("rule", {"name": "order"}, "tells distances, not an order"),
        ("space", {**header["space"], "neighbours": 5}, "neighbours must be 4 or 8, got 5"),
        ("space", {**header["space"], "headings": 5}, "headings must be 0 or 4 or 8, got 5"),
        ("space", {**header["space"], "sizes": [[1]]}, "damaged model"),
        ("seed", None, "damaged model"),
    ):
        container.write(path, "model", 2, {**header, name: wrong}, tensors)
        with pytest.raises(ModelError) as caught:
            load_model(path)
        assert told in str(caught.value) and "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_rules() -> None:
    """Quantiles and clips are in the values, the bound of the rule `bounded` is for the search."""
    model, problem = fresh(VinConfig(7)), random_problem(4, rows=16, columns=18)
    mean, bounds = model.build(problem), problem.lower_bounds().astype(np.float32)
    assert mean.eps is None
    bounded = model.with_rule(Bounded(1.5)).build(problem)
    assert bounded.eps == 1.5 and np.array_equal(bounded.values, mean.values)
    free = ~problem.grid.blocked
    clipped = model.with_rule(Clip()).build(problem).values
    assert np.array_equal(clipped[free], np.maximum(mean.values, bounds)[free])
    spread = replace(model, estimate=Gaussian(sigma=2.0))
    low, high = (spread.with_rule(rule).build(problem).values for rule in (Likely(0.9), Quantile(0.9)))
    assert np.allclose((high - low)[free], 2 * 2 * 1.2815516, atol=1e-4)
    config = SearchConfig(eps=1.5)
    one, two = (
        solve(problem, bounded.values, "astar", config=config),
        solve(problem, model.with_rule(Bounded(1.5)), "astar"),
    )
    assert (one.plan_cost, one.expanded) == (two.plan_cost, two.expanded)
