"""The recipe prolonged: labels that are learned, paths within their bound, and trainings that go on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.errors import InputError
from hstar.models.grid_config import PaperConfig, VinConfig
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import RECIPES, train
from hstar.recipes.prolonged_map import BELIEFS, ProlongedOptions, labelled
from hstar.recipes.recipe import Parts
from hstar.sampling.prolonged import OptimalPath, Prolonged
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
from hstar.spaces.grid_maps import random_problems, with_headings
from hstar.training.grid_examples import GridExamples
from hstar.training.loop import Progress

MAPS = ("rows", "columns", "scenarios")
SMALL: dict[str, Any] = {"rows": 10, "columns": 10, "scenarios": 12, "sweeps": 12, "waves": 2, "width": 8}


def weights(model: TrainedModel[Any]) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in model.tensors.items()}


@pytest.fixture(scope="module")
def model() -> TrainedModel[Any]:
    return train("prolonged", **SMALL, updates=40, batch_size=8)


@pytest.mark.slow
def test_it_learns() -> None:
    """What it was shown it knows better than the admissible distance does."""
    problems = random_problems(3, seed=5, rows=10, columns=10)
    options = {**SMALL, "updates": 120, "symmetries": False, "validation": 0.0, "estimate": "point"}
    options |= {"sampler": "dijkstra", "sweeps": 24}
    model = train("prolonged", problems, **{name: options[name] for name in options if name not in MAPS})
    errors: dict[str, list[float]] = {"model": [], "admissible": []}
    for problem in problems:
        exact = Prolonged(k_pr=math.inf, open=False).sample(problem)
        bounds = problem.grid.lower_bounds(problem.goal)
        for name, values in (("model", model.build(problem).values), ("admissible", bounds)):
            errors[name] += (values.reshape(-1)[exact.states] - exact.label).tolist()
    assert np.square(errors["model"]).mean() < 0.3 * np.square(errors["admissible"]).mean()


def test_what_is_told_of_the_training(model: TrainedModel[Any]) -> None:
    found = model.summary
    assert (found["scenarios"], found["unreachable"], len(found["curve"])) == (12, 0, found["epochs"])
    assert found["train_states"] + found["validation_states"] == found["states"] > 200
    assert (model.recipe_config["k_pr"], model.recipe_config["maps"]["rows"]) == (2.0, 10)
    assert model.space.sizes == ((10, 10),) and model.space.neighbours == 4


@pytest.mark.parametrize("eps", [1.0, 1.3, 2.0, 4.0])
def test_paths_are_within_the_bound(model: TrainedModel[Any], eps: float) -> None:
    for problem in random_problems(15, seed=7, rows=14, columns=9):
        optimum = solve(problem, None, "astar").plan_cost
        found = solve(problem, model.build(problem).values, "astar", eps=eps).plan_cost
        assert optimum is not None and found is not None and optimum <= found <= eps * optimum


@pytest.mark.parametrize("estimate", BELIEFS)
def test_estimates(estimate: str, tmp_path: Path) -> None:
    """All of them learn, and give values that a file brings back."""
    problems = random_problems(3, seed=5, rows=10, columns=10)
    options = {name: SMALL[name] for name in SMALL if name not in MAPS}
    found = train("prolonged", problems, **options, estimate=estimate, updates=30, validation=0.0)
    losses = [loss for _, loss, _ in found.summary["curve"]]
    assert min(losses[3:]) < losses[0]
    found.save(tmp_path / "m.hstar")
    values = load_model(tmp_path / "m.hstar").build(problems[0]).values
    assert np.array_equal(values, found.build(problems[0]).values)
    if estimate == "truncated":
        bounds = problems[0].grid.lower_bounds(problems[0].goal)
        assert (values >= bounds - 0.11)[~problems[0].grid.blocked].all(), "no belief below the distance"


def test_a_seed_fixes_the_model_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    options: dict[str, Any] = {**SMALL, "scenarios": 4, "epochs": 4, "seed": 3}
    whole = train("prolonged", **options)
    assert weights(whole) != weights(train("prolonged", **{**options, "seed": 4}))

    class StoppedError(Exception):
        pass

    def stop(record: Progress) -> None:
        if record.epoch == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        train("prolonged", **options, progress=stop, checkpoint=tmp_path / "part")
    seen: list[int] = []
    again = train(
        "prolonged",
        **options,
        progress=lambda record: seen.append(record.epoch),
        checkpoint=tmp_path / "part",
    )
    assert min(seen) > 1, "it did not go on"
    assert weights(again) == weights(whole)
    with pytest.raises(InputError, match="a checkpoint of another training"):
        train("prolonged", **{**options, "k_pr": 5.0}, checkpoint=tmp_path / "part")


def test_samplers() -> None:
    """The vanilla data are the states of the path, Dijkstra's all from which there is a way."""
    problems = random_problems(3, seed=1, rows=12, columns=12)

    def states(**options: Any) -> list[set[int]]:
        return [set(one.cells.tolist()) for one in labelled(problems, ProlongedOptions(**options))]

    vanilla, near, all_of_them = states(sampler="optimal-path"), states(k_pr=1.5), states(sampler="dijkstra")
    more = states(k_pr=1.5, open_states=True)
    for number, problem in enumerate(problems):
        path = set(OptimalPath().sample(problem).states.tolist())
        assert vanilla[number] == path and path <= near[number] < more[number] <= all_of_them[number]
        reachable = np.flatnonzero(np.isfinite(problem.grid.distances(problem.goal)))
        assert all_of_them[number] == set(reachable.tolist())
    assert states(k_pr=math.inf) == all_of_them


@pytest.mark.parametrize("sampler", ["prolonged", "optimal-path"])
def test_a_start_that_is_not_reached(sampler: str) -> None:
    blocked = np.zeros((4, 5), dtype=bool)
    blocked[:, 2] = True
    cut = GridProblem(Grid(blocked), (0, 0), (0, 4))
    (found,) = labelled([cut], ProlongedOptions(sampler=sampler))
    assert not found.reached and len(found.cells) == (8 if sampler == "prolonged" else 0)
    with pytest.raises(InputError, match="no states to learn from"):
        train("prolonged", [cut], sampler="optimal-path")


def plan(profile: str | None, **options: Any) -> Parts:
    """What a profile and options come to."""
    return RECIPES.get("prolonged").check("map", profile, options)


def test_the_settings_of_the_paper() -> None:
    chosen = plan("paper")
    assert isinstance(chosen["model"], PaperConfig) and chosen["recipe"].open_states
    assert (chosen["training"].updates, chosen["training"].keep, chosen["recipe"].a) == (4096, "last", -2.5)
    assert (chosen["training"].batch_size, chosen["training"].learning_rate) == (1024, 1e-3)
    assert (chosen["training"].schedule, chosen["training"].optimizer) == ("constant", "adam")
    assert (chosen["maps"].rows, chosen["maps"].blocked_share, chosen["maps"].neighbours) == (30, 0.33, 4)
    assert isinstance(plan(None)["model"], VinConfig)
    assert plan(None, model="value-map")["training"].updates == 3000
    assert plan("paper", epochs=2)["training"].updates is None


def test_the_data_of_the_paper() -> None:
    """531 scenarios to learn from, about 122,449 labels of them as published, and 12,007 of their paths."""
    chosen = plan("paper")
    problems = random_problems(chosen["recipe"].scenarios, 0, chosen["maps"])
    examples = GridExamples(list(labelled(problems, chosen["recipe"])), chosen["model"])
    train, held_out = examples.split(chosen["training"].validation, 0)
    assert (len(train.scenarios), len(held_out.scenarios)) == (531, 59)
    assert len(train.label) == pytest.approx(122_449, rel=0.02)
    paths = [OptimalPath().sample(one.problem) for one in train.scenarios]
    assert sum(map(len, paths)) == pytest.approx(12_007, rel=0.2)


def test_the_network_of_the_paper_learns_too() -> None:
    problems = random_problems(2, seed=0, rows=16, columns=16)
    model = train(
        "prolonged", problems, model="paper", sampler="optimal-path", epochs=30, batch_size=8, validation=0.0
    )
    losses = [loss for _, loss, _ in model.summary["curve"]]
    assert losses[-1] < 0.7 * losses[0]
    assert model.build(problems[0]).values.shape == (16, 16)


def test_lattices() -> None:
    """Learned from given grids or random ones; paths keep the bound there, too."""
    options = {**SMALL, "updates": 20, "headings": 8, "spread": 8}
    model = train("prolonged", **options, turn_cost=0.5)
    assert (model.space.headings, model.space.turn_cost, model.space.neighbours) == (8, 0.5, 8)
    for problem in with_headings(random_problems(5, seed=7, rows=10, columns=10), 8, 0.5, seed=1):
        optimum = solve(problem, None, "astar").plan_cost
        found = solve(problem, model.build(problem).values, "astar", eps=1.5).plan_cost
        assert optimum is not None and found is not None and optimum <= found <= 1.5 * optimum
    own = {name: options[name] for name in options if name not in MAPS}
    lattices = with_headings(random_problems(3, seed=1, rows=9, columns=9), 4, 1.0, seed=0)
    with pytest.raises(InputError, match="lattices are given, which have their own"):
        train("prolonged", lattices, **own)
    del own["headings"]
    assert train("prolonged", lattices, **own).space.headings == 4
    with pytest.raises(InputError, match="differ in steps: 4 headings, turns for 1, and 4 neighbours"):
        train("prolonged", [*lattices, random_problems(1, 0)[0]], **own)
    said = LatticeProblem(lattices[0].grid, lattices[0].start, (*lattices[0].goal, 1), 4)
    with pytest.raises(InputError, match="goals for every heading, but one is given"):
        train("prolonged", [said], **own)
    with pytest.raises(InputError, match="the model paper knows cells without headings; use vin"):
        train("prolonged", scenarios=2, model="paper", headings=4)


def test_mistakes() -> None:
    for options, told in (
        ({"headings": 3}, "headings must be 0 or 4 or 8, got 3"),
        ({"sampler": "astar"}, "unknown sampler 'astar'"),
        ({"model": "value-mop"}, "unknown model 'value-mop'"),
        ({"estimate": "normal"}, "unknown estimate 'normal'"),
        ({"k_pr": 0.5}, "k_pr must be a number from 1 on"),
        ({"scenarios": 0}, "scenarios must be a whole number from 1 on"),
        ({"profile": "papers"}, "unknown profile of prolonged 'papers'"),
        ({"model": "paper", "channels": 3}, "unknown option of prolonged 'channels'"),
        ({"epochs": 3, "updates": 3}, "give one of them"),
        ({"kind": "forest"}, "unknown kind of map 'forest'"),
        ({"a": math.nan}, "a must be a number that is finite"),
    ):
        with pytest.raises(InputError, match=told):
            train("prolonged", **options)
    with pytest.raises(InputError, match="an empty list: nothing to learn from"):
        train("prolonged", [])
    free = np.zeros((4, 4), dtype=bool)
    one, two = (GridProblem(Grid(free, None, steps), (0, 0), (3, 3)) for steps in (4, 8))
    with pytest.raises(InputError, match="differ in steps: 4 neighbours, and 8 neighbours"):
        train("prolonged", [one, two])
    with pytest.raises(InputError, match="each step costs 1"):
        train("prolonged", [GridProblem(Grid(free, np.full((4, 4), 2.0)), (0, 0), (3, 3))])
    both = [random_problems(1, 0, rows=rows, columns=16)[0] for rows in (16, 17)]
    with pytest.raises(InputError, match="the model paper learns from maps of one size; use vin"):
        train("prolonged", both, model="paper")
    with pytest.raises(InputError, match="turned maps have other sizes"):
        train("prolonged", both[1:], model="paper", symmetries=True)
