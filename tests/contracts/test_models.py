"""Every entry of MODELS, on every kind of space that it names: saved and loaded it gives the same values, and
it refuses problems of all other kinds in one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import DATA
from hstar.errors import ModelError
from hstar.estimates.point import Point
from hstar.estimates.rules import Bounded, Clip, Mean, Order, Rule
from hstar.models import IDENTITIES, MODELS, TrainedModel, load_model
from hstar.models.domain_identity import DomainIdentity
from hstar.models.map_identity import GoalIdentity, MapIdentity
from hstar.models.own_identity import OwnIdentity
from hstar.models.puzzle_identity import PuzzleIdentity
from hstar.models.task_identity import identify
from hstar.search.puzzle_network import puzzle_features
from hstar.spaces.grid_maps import random_problem
from hstar.spaces.puzzles import parse_puzzle
from labelled import labelled, reachable

TASK = hstar.load(DATA / "blocks" / "domain.pddl", DATA / "blocks" / "problem.pddl", unit_cost=True)
SIZE = parse_puzzle("tiles:2x3")
MAP = random_problem(4, rows=16, columns=18)
OWN = hstar.load(f"{Path(__file__).parents[2] / 'examples' / 'own_space.py'}:Lights")
PROBLEMS: dict[str, Any] = {
    "task": TASK,
    "domain": TASK,
    "puzzle": SIZE,
    "map": MAP,
    "map goal": MAP,
    "own": OWN,
}
SMALL: dict[str, dict[str, Any]] = {
    "resnet": {"width": 8},
    "ffnn": {"width": 3, "outputs": 1},
    "wl": {"least_states": 1, "iterations": 1},
    "vin": {"sweeps": 3, "width": 2},
    "value-map": {"channels": 2, "rounds": 1, "reach": 2},
}
OWN_STATES = [OWN.walk(8, seed).start for seed in range(20)]
PAIRS = [(name, kind) for name in MODELS for kind in MODELS.get(name).spaces]


def fresh(name: str, kind: str) -> TrainedModel[Any]:
    """A model that was never trained, with weights by a seed."""
    import torch

    torch.manual_seed(3)
    options = MODELS.get(name)(**SMALL.get(name, {}))
    space, encoder, tensors = OF_KIND[kind](options)
    config = {key: value for key, value in asdict(options).items() if key != "fit"}
    return TrainedModel(space, name, config, tensors, Point(), Mean(), "none", {}, 0, encoder)


def of_task(options: Any) -> tuple[Any, str | None, Any]:
    space = identify(TASK)
    if options.name == "ffnn":
        return space, None, dense(len(space.atoms), options)
    return space, None, options.export(options.build(len(space.atoms), 1))


def of_puzzle(options: Any) -> tuple[Any, str | None, Any]:
    return PuzzleIdentity(SIZE), "one-hot", dense(puzzle_features(SIZE, "one-hot").inputs, options)


def dense(inputs: int, options: Any) -> Any:
    import torch

    from hstar.models.ffnn import FFNN

    weights = FFNN(inputs, options, torch.Generator().manual_seed(3)).arrays()
    return {**weights, "output_biases": weights["output_biases"] + 2}  # above 0


def of_domain(options: Any) -> tuple[Any, str | None, Any]:
    data = labelled([TASK])
    fitted = options.fitted(data, data.column("label").astype(np.float64))
    return DomainIdentity(data.words), None, fitted.export(fitted.build(data.words, 1))


def of_map(options: Any) -> tuple[Any, str | None, Any]:
    weights = {name: tensor.numpy() for name, tensor in options.build(1).state_dict().items()}
    return MapIdentity(4, False, ((16, 18),), options.any_size), None, weights


def of_own(options: Any) -> tuple[Any, str | None, Any]:
    space = OwnIdentity(OWN.name, 25)
    if options.name == "ffnn":
        return space, None, dense(25, options)
    return space, None, options.export(options.build(25, 1))


OF_KIND: dict[str, Callable[[Any], tuple[Any, str | None, Any]]] = {
    "task": of_task,
    "domain": of_domain,
    "puzzle": of_puzzle,
    "map": of_map,
    "map goal": lambda options: (GoalIdentity.of(MAP), None, dense(16 + 18, options)),
    "own": of_own,
}


def values(model: TrainedModel[Any]) -> list[float]:
    native = model.build(PROBLEMS[model.space.kind])
    if model.space.kind == "puzzle":
        return [*map(int, native.values([SIZE.random(seed).start for seed in range(20)]))]
    if model.space.kind in ("map", "map goal"):
        return [*map(float, native.values[~MAP.grid.blocked])]
    if model.space.kind == "own":
        return [*map(float, native.function(OWN_STATES))]
    return [*map(float, native.evaluate(reachable(TASK, 20)))]


def test_every_kind_has_problems_and_models() -> None:
    assert set(PROBLEMS) == set(OF_KIND) == set(IDENTITIES) == {kind for _, kind in PAIRS}


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_saved_and_loaded_it_is_the_same(name: str, kind: str, tmp_path: Path) -> None:
    model, path = fresh(name, kind), tmp_path / "m.hstar"
    if kind in ("task", "domain", "own"):
        model = model.with_rule(Order())  # values below 0 are told apart
    model.save(path)
    again = load_model(path)
    assert values(again) == values(model) and len(set(values(model))) > 1
    assert (again.space, again.model, again.encoder, again.estimate, again.rule) == (
        *(model.space, model.model, model.encoder, model.estimate, model.rule),
    )
    first = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == first
    assert "\n" not in repr(again) and str(model.space) in repr(again)
    told = again.space.describe(again)
    assert told and all(isinstance(word, str) for word in told)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_other_problems_are_refused(name: str, kind: str) -> None:
    model = fresh(name, kind)
    model.space.check(PROBLEMS[kind])
    for other, problem in PROBLEMS.items():
        if kind == other or any({kind, other} <= pair for pair in ({"task", "domain"}, {"map", "map goal"})):
            continue
        for ask in (model.space.check, model.build):
            with pytest.raises(ModelError, match="trained for") as told:
                ask(problem)
            assert "\n" not in str(told.value)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
@pytest.mark.parametrize("rule", [Clip(), Bounded(1.0)], ids=lambda rule: rule.name)
def test_rules_with_bounds(name: str, kind: str, rule: Rule) -> None:
    """Bounds hold whatever the weights are; puzzles have no native form of `bounded`."""
    model = fresh(name, kind)
    if kind == "puzzle" and isinstance(rule, Bounded):
        with pytest.raises(hstar.InputError, match="not bounded"):
            model.with_rule(rule)
        return
    lower = {"task": "lmcut", "domain": "lmcut"}.get(kind)
    found = np.array(values(replace(model, rule=rule, lower=lower)))
    if kind == "puzzle":
        bounds = np.array([SIZE.core.value("manhattan", SIZE.random(seed).start) for seed in range(20)])
    elif kind in ("map", "map goal"):
        bounds = MAP.lower_bounds()[~MAP.grid.blocked]
        if isinstance(rule, Bounded):
            return  # the search keeps to it: tests/models/test_map_identity.py
    elif kind == "own":
        bounds = OWN.bounds(OWN_STATES)
    else:
        bounds = hstar.search.heuristics.evaluate(TASK, "lmcut", reachable(TASK, 20))
    assert (found >= bounds - 1e-3).all() and (
        not isinstance(rule, Bounded) or (found <= bounds + 1e-3).all()
    )
