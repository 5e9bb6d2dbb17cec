"""`hstar.train`: every recipe on every kind of space that it declares, and refusals before any work."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar.errors import HstarError, InputError, UnsupportedError
from hstar.estimates import ESTIMATES
from hstar.models.model import models_of
from hstar.recipes import RECIPES
from hstar.recipes.compatibility import KINDS, PARTS, matrix
from hstar.sampling.sampler import SAMPLERS
from hstar.spaces.grid_maps import MapOptions, random_problems
from hstar.spaces.own import OwnProblem

LIGHTS = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_space.py"))["Lights"]
BLOCKS = Path(__file__).parents[1] / "data" / "blocks"
TINY: dict[str, dict[str, Any]] = {
    "task": {"epochs": 2},
    "domain": {},
    "puzzle": {"iterations": 1},
    "map": {"updates": 2},
    "own": {"states": 200, "epochs": 2},
}
OWN: dict[tuple[str, str], dict[str, Any]] = {
    ("likely-admissible", "map"): {"iterations": 1, "nodes": 200, "tasks": 2},
    ("likely-admissible", "own"): {"iterations": 1, "nodes": 200, "tasks": 2},
    ("prolonged", "puzzle"): {"states": 12, "epochs": 2},
    ("bootstrap", "own"): {"iterations": 1, "instances": 4, "epochs": 2},
    ("likely-admissible", "task"): {"iterations": 1, "nodes": 200, "tasks": 1},
    ("likely-admissible", "puzzle"): {"iterations": 1, "profile": "quick"},
    ("bootstrap", "puzzle"): {"instances": 20, "least_solved": 2},
    ("truncated", "domain"): {"updates": 2},
}


def sources() -> dict[str, Any]:
    task = hstar.load(BLOCKS / "domain.pddl", BLOCKS / "problem.pddl")
    maps = random_problems(6, 0, MapOptions(rows=8, columns=8))
    return {
        "task": task,
        "domain": [task, task.walk(3, 1)],
        "puzzle": hstar.load("tiles:2x2"),
        "map": maps,
        "own": OwnProblem(LIGHTS()),
    }


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [info.name for info in hstar.recipes()])
def test_every_recipe_on_every_kind_of_space(recipe: str, tmp_path: Path) -> None:
    info, source = RECIPES.get(recipe), sources()
    assert info.paper and set(info.spaces) <= set(KINDS)
    for kind in source:
        if kind in info.spaces:
            options = OWN.get((recipe, kind), TINY[kind])
            problem = source[kind][0] if isinstance(source[kind], list) else source[kind]
            one_map = (recipe, kind) == ("likely-admissible", "map")
            model = hstar.train(recipe, problem if one_map else source[kind], seed=1, **options)
            model.save(tmp_path / "m.hstar")
            result = hstar.solve(problem, tmp_path / "m.hstar", max_expansions=100_000)
            assert result.status in ("solved", "expansion_limit") and result.evaluated > 0
        elif not (kind == "task" and "domain" in info.spaces):  # one task of a domain is a short list of them
            with pytest.raises(UnsupportedError, match=f"{recipe} learns f.*"):
                hstar.train(recipe, source[kind])


@pytest.mark.parametrize("model", models_of("task"))
@pytest.mark.parametrize("estimate", [name for name in ESTIMATES if not ESTIMATES.get(name).bounded])
def test_parts_are_exchanged(model: str, estimate: str) -> None:
    task = sources()["task"]
    made = hstar.train("nrsl", task, model=model, estimate=estimate, states=200, epochs=1, seed=0)
    assert (made.model, made.estimate.name) == (model, estimate)
    assert hstar.solve(task, made).solved


@pytest.mark.parametrize("sampler", list(SAMPLERS))
def test_samplers_are_exchanged(sampler: str) -> None:
    made = hstar.train("nrsl", sources()["task"], sampler=sampler, epochs=1)
    assert made.summary["states"] > 0


def test_a_rule_is_kept() -> None:
    task = sources()["task"]
    made = hstar.train("fsm", task, estimate="gaussian", rule="likely:0.9", states=200, epochs=1)
    values = [hstar.solve(task, made, rule=rule).initial_h for rule in ("likely:0.9", "likely:0.1")]
    assert hstar.solve(task, made).initial_h == values[0] < values[1]
    assert hstar.solve(task, made, alpha=0.1).initial_h == values[1]


@pytest.mark.parametrize(
    ("recipe", "source", "options", "message"),
    [
        ("nrls", "task", {}, "unknown recipe 'nrls' .* did you mean 'nrsl'"),
        ("nrsl", "task", {"estimate": "truncated"}, "needs a lower bound of each state"),
        ("nrsl", "task", {"estimate": "gauss"}, "unknown estimate 'gauss'"),
        ("nrsl", "task", {"model": "vin"}, r"unknown model 'vin' \(known: ffnn, resnet\)"),
        ("nrsl", "task", {"sampler": "nsrl"}, "unknown sampler of a task 'nsrl'"),
        ("nrsl", "task", {"rule": "median"}, "median"),
        ("wl", "puzzle", {}, "cannot learn for a puzzle; bootstrap, likely-admissible, prolonged can"),
        ("bootstrap", "task", {}, "cannot learn for a task"),
        ("wl", [], {}, "an empty list"),
        ("wl", None, {}, "needs something to learn from"),
        ("nrsl", 3, {}, "not a problem: 3"),
    ],
)
def test_mistakes(recipe: str, source: Any, options: dict[str, Any], message: str) -> None:
    subject = sources()[source] if isinstance(source, str) else source
    with pytest.raises(HstarError, match=message) as caught:
        hstar.train(recipe, subject, **options)
    assert "\n" not in str(caught.value)


def test_a_puzzle_with_another_goal_is_refused() -> None:
    puzzle = hstar.load("blocks:4")
    with pytest.raises(InputError, match="is not the usual one"):
        hstar.train("bootstrap", type(puzzle)((0, 0, 0, 0), (0, 0, 1, 2)))


def test_the_table_of_the_docs_is_that_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "compatibility.md"
    assert matrix() in page.read_text(encoding="utf-8")
    for kind, lines in PARTS.items():
        assert lines(), kind
