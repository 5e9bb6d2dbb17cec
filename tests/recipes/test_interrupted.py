"""Ctrl-C in a training: the best model so far, if that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import RECIPES
from hstar.recipes.recipe import Run

TASK = Path(__file__).parents[1] / "data" / "blocks" / "problem.pddl"
LIKELY = {"iterations": 5, "tasks": 4, "nodes": 20_000, "max_steps": 30, "hidden": 8}
LIKELY |= {"planner_steps": 30, "known_steps": 50, "samples": 0, "loss_samples": 0}
SMALL = {"states": 100, "width": 8, "epochs": 20, "patience": 100}


def interrupted(
    recipe: str, source: str | Path, when: Callable[[Any], bool], keep: bool = True, **options: Any
) -> TrainedModel[Any]:
    """What a recipe gives that gets Ctrl-C at a certain progress."""

    def progress(record: Any) -> None:
        if when(record):
            raise KeyboardInterrupt

    problem = hstar.load(source)
    run = Run(progress, keep_interrupted=keep)
    return RECIPES.get(recipe).learn(problem.kind, problem, run, None, options)


def test_a_network_is_the_best_so_far(tmp_path: Path) -> None:
    model = interrupted("rsl", TASK, lambda record: record.epoch == 3, **SMALL)
    assert (model.summary["stopped"], model.summary["epochs"]) == ("interrupted", 3)
    model.save(tmp_path / "m.hstar")
    assert load_model(tmp_path / "m.hstar").summary["stopped"] == "interrupted"
    assert hstar.solve(hstar.load(TASK), model).solved


@pytest.mark.parametrize("network", [1, 2])
def test_of_several_networks_the_one_with_the_least_loss(network: int) -> None:
    def when(record: Any) -> bool:
        return bool(record.network == network and record.epoch == 2)

    model = interrupted("rsl", TASK, when, networks=3, **SMALL)
    assert model.summary["stopped"] == "interrupted"
    losses = [one["loss"] for one in model.summary["selection"]]
    assert len(losses) == network and model.summary["best_loss"] == min(losses)


@pytest.mark.parametrize(
    ("recipe", "options"),
    [
        ("likely-admissible", LIKELY),
        ("bootstrap", {"instances": 20, "least_solved": 2, "nodes": 40}),
    ],
)
def test_a_learner_goes_back_to_its_last_whole_iteration(recipe: str, options: dict[str, Any]) -> None:
    model = interrupted(recipe, "tiles:2x3", lambda record: record.iteration == 3, **options)
    assert (model.summary["stopped"], model.summary["iterations"]) == ("interrupted", 2)
    assert len(model.summary["curve"]) == 2
    assert hstar.solve(hstar.load("tiles:2x3").random(1), model).solved


def test_otherwise_it_is_an_exception() -> None:
    with pytest.raises(KeyboardInterrupt, match="training stopped after 3 epochs"):
        interrupted("rsl", TASK, lambda record: record.epoch == 3, keep=False, **SMALL)
    with pytest.raises(KeyboardInterrupt, match="0 iterations done"):
        interrupted("likely-admissible", "tiles:2x3", lambda record: True)


def test_nothing_learned_before_an_interrupt() -> None:
    """One evaluated state solves no instance, so that two iterations have nothing to learn from."""
    few = {"instances": 5, "least_solved": 5, "nodes": 1}
    with pytest.raises(KeyboardInterrupt, match="2 iterations done, and nothing learned"):
        interrupted("bootstrap", "tiles:3x3", lambda record: record.iteration == 3, **few)
