"""Models of maps: files that give the same values again, and one line where something does not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hstar import container
from hstar.errors import ModelError
from hstar.estimates.asymmetric import Asymmetric
from hstar.models.domain_model import load_heuristic
from hstar.models.grid_config import PaperConfig, ValueMapConfig, VinConfig
from hstar.models.grid_model import KIND, GridModel, load_grid_model, save_grid_model
from hstar.search.solve import SearchConfig, solve
from hstar.spaces.grid import Grid, GridProblem
from hstar.spaces.grid_maps import random_problem, with_headings


def fresh(network: Any, **changes: Any) -> GridModel:
    """A model whose weights are as they were drawn."""
    torch.manual_seed(3)
    weights = network.build(1, 5.0, max(changes.get("headings", 0), 1)).state_dict()
    model = GridModel(
        network=network,
        tensors={name: tensor.numpy() for name, tensor in weights.items()},
        estimate=Asymmetric(-1.5),
        scale=5.0,
        neighbours=4,
        cut_corners=False,
        sizes=((16, 18),),
        recipe="prolonged",
        recipe_config={"k_pr": 2.0},
        seed=7,
        summary={"best_loss": 1.25},
    )
    return replace(model, **changes)


@pytest.mark.parametrize("network", [VinConfig(7), ValueMapConfig(3, 1, 2), PaperConfig()], ids=str)
def test_the_file_gives_the_same_model(network: Any, tmp_path: Path) -> None:
    model, problem = fresh(network), random_problem(4, rows=16, columns=18)
    save_grid_model(tmp_path / "m.hstar", model)
    again = load_grid_model(tmp_path / "m.hstar")
    for name in ("network", "estimate", "scale", "neighbours", "sizes", "recipe_config", "seed", "summary"):
        assert getattr(again, name) == getattr(model, name)
    values = model.values(problem)
    assert values.shape == (16, 18) and values.dtype == np.float32 and len(np.unique(values)) > 20
    assert np.array_equal(again.values(problem), values)
    assert not values[problem.grid.blocked].any()
    first = (tmp_path / "m.hstar").read_bytes()
    save_grid_model(tmp_path / "m.hstar", again)
    assert (tmp_path / "m.hstar").read_bytes() == first


def test_values_are_added_to_the_admissible_distance() -> None:
    """With weights of 0 nothing is added."""
    model, problem = fresh(ValueMapConfig(3, 1, 2)), random_problem(4, rows=16, columns=18)
    nothing = {name: np.zeros_like(tensor) for name, tensor in model.tensors.items()}
    values = replace(model, tensors=nothing).values(problem)
    free = ~problem.grid.blocked
    assert np.array_equal(values[free], problem.grid.lower_bounds(problem.goal).astype(np.float32)[free])
    assert solve(problem, values, "astar").expanded == solve(problem, None, "astar").expanded


def test_what_a_model_is_not_for() -> None:
    any_size, fixed = fresh(ValueMapConfig(3, 1, 2)), fresh(PaperConfig())
    larger = random_problem(1, rows=40, columns=50)
    assert any_size.values(larger).shape == (40, 50)
    with pytest.raises(
        ModelError, match="the model paper was trained for maps of 16 x 18 cells, asked for 40 x 50"
    ):
        fixed.values(larger)
    with pytest.raises(ModelError, match=r"trained for 4 neighbours, asked for 8 neighbours$"):
        any_size.values(random_problem(1, neighbours=8))
    with pytest.raises(ModelError, match="asked for 8 neighbours and cut corners"):
        any_size.values(random_problem(1, neighbours=8, cut_corners=True))
    free = np.zeros((5, 5), dtype=bool)
    with pytest.raises(ModelError, match="steps that cost 1, asked for costs of cells"):
        any_size.values(GridProblem(Grid(free, np.full((5, 5), 2.0)), (0, 0), (4, 4)))


def test_lattices(tmp_path: Path) -> None:
    model = fresh(VinConfig(5), neighbours=8, headings=8, turn_cost=0.5)
    save_grid_model(tmp_path / "m.hstar", model)
    again = load_grid_model(tmp_path / "m.hstar")
    assert (again.headings, again.turn_cost) == (8, 0.5)
    (problem,) = with_headings([random_problem(4, rows=9, columns=7)], 8, 0.5, seed=1)
    values = again.values(problem)
    assert values.shape == (9, 7, 8) and not values[problem.grid.blocked].any()
    optimum, found = (solve(problem, *given, "astar") for given in ((), (values, SearchConfig(eps=1.5))))
    assert optimum.plan_cost is not None and found.plan_cost is not None
    assert found.plan_cost <= 1.5 * optimum.plan_cost
    for wrong, told in (
        (random_problem(4), "trained for 8 headings, turns for 0.5, asked for cells without headings"),
        (replace(problem, turn_cost=2.0), "asked for 8 headings, turns for 2"),
        (replace(problem, goal=(*problem.goal, 3)), "goals that do not say a heading"),
        (replace(problem, grid=replace(problem.grid, cut_corners=True)), "other rules of corners"),
    ):
        with pytest.raises(ModelError, match=told):
            again.values(wrong)
    with pytest.raises(ModelError, match="trained for cells without headings, asked for 8 headings"):
        fresh(VinConfig(5)).values(problem)


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "m.hstar"
    with pytest.raises(ModelError, match="cannot read"):
        load_grid_model(path)
    save_grid_model(path, fresh(ValueMapConfig(3, 1, 2)))
    assert container.kind(path) == KIND
    with pytest.raises(ModelError, match="a grid model of hstar, expected a model"):
        load_heuristic(path)
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    with pytest.raises(ModelError, match="damaged"):
        load_grid_model(path)
    path.write_bytes(data[:-5] + b"12345")
    with pytest.raises(ModelError, match="does not match its checksum"):
        load_grid_model(path)
    path.write_bytes(data)
    header, tensors = container.read(path, KIND, 1)
    for name, wrong, told in (
        ("network", {"name": "value-mop"}, "unknown model 'value-mop'"),
        ("network", {"name": "value-map", "channels": 4, "rounds": 1, "reach": 2}, "weights of value-map"),
        ("network", {"name": "value-map", "depth": 4}, "not options of the model 'value-map': depth"),
        ("estimate", {"name": "asymmetric", "a": "low"}, "asymmetric: a must be a finite number"),
        ("scale", 0, "the scale must be a number above 0"),
        ("neighbours", 5, "neighbours are 4 or 8, got 5"),
        ("headings", 5, "headings are 4 or 8, or 0, got 5"),
        ("sizes", [[1]], "damaged model"),
        ("seed", None, "damaged model"),
    ):
        container.write(path, KIND, 1, {**header, name: wrong}, tensors)
        with pytest.raises(ModelError) as caught:
            load_grid_model(path)
        assert told in str(caught.value) and "\n" not in str(caught.value) and str(path) in str(caught.value)
