"""A user's own space learns its heuristic, by both recipes; what it lacks is told in one line."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar.cli import main
from hstar.errors import HstarError, InputError, ModelError, UnsupportedError
from hstar.sampling.prolonged import backward_labels
from hstar.spaces.own import OwnProblem

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_space.py"
SPACE = runpy.run_path(str(EXAMPLE))
QUICK: dict[str, dict[str, Any]] = {
    "prolonged": {"states": 3000, "epochs": 8},
    "bootstrap": {"iterations": 2, "instances": 10, "epochs": 30},
}


def changed(**changes: Any) -> Any:
    """Lights with other functions; None: without this one."""
    own = {name: value for base in (SPACE["Lights"],) for name, value in vars(base).items()}
    own = {name: value for name, value in {**own, **changes}.items() if value is not None}
    return type("Lights", (), {name: value for name, value in own.items() if not name.startswith("__")})()


@pytest.mark.parametrize("recipe", QUICK)
@pytest.mark.parametrize("name", ["Lights", "LightsBatch"])
def test_learned_saved_loaded_it_searches_better(recipe: str, name: str, tmp_path: Path) -> None:
    space = SPACE[name]()
    model = hstar.train(recipe, space, seed=1, **QUICK[recipe])
    model.save(tmp_path / "m.hstar")
    again = hstar.load_model(tmp_path / "m.hstar")
    states = [OwnProblem(space).walk(6, seed).start for seed in range(20)]
    values = [one.build(OwnProblem(space)).function(states) for one in (model, again)]
    assert (values[0] == values[1]).all() and len(set(values[0].tolist())) > 1
    found = hstar.solve(space, tmp_path / "m.hstar", search="astar")
    assert found.solved and found.expanded < hstar.solve(space, "zero", search="astar").expanded / 4
    same = hstar.train(recipe, space, seed=1, **QUICK[recipe])
    assert all((same.tensors[key] == model.tensors[key]).all() for key in model.tensors)


def test_labels_are_exact() -> None:
    problem = OwnProblem(SPACE["Lights"]())
    states, label = backward_labels(problem, 2000)
    assert len(states) == len(set(states)) == 2000 and label[0] == 0 and states[0] == 0
    for i in range(0, 2000, 190):
        assert hstar.solve(problem.at(states[i]), "lower_bound", "astar").plan_cost == label[i]
    few = OwnProblem(changed(predecessors=lambda self, s: [("to", 1, 3)] if s == 0 else []))
    assert backward_labels(few, 9)[1].tolist() == [0, 3]


def test_parts_are_exchanged() -> None:
    space = SPACE["Lights"]()
    spread = hstar.train("prolonged", space, estimate="gaussian", states=800, epochs=3)
    states = [1, 33, 12345]
    low, high = (
        spread.with_rule(rule).build(OwnProblem(space)).function(states) for rule in ("likely:0.9", "mean")
    )
    assert (low < high).all()
    bounded = hstar.train(
        "prolonged", space, model="resnet", estimate="truncated", rule="bounded:1.0", states=800, epochs=3
    )
    assert bounded.build(OwnProblem(space)).function(states).tolist() == [1, 1, 2]
    assert hstar.solve(space, spread, "astar", rule="clip:likely:0.9").solved


def test_a_module_of_ones_own(tmp_path: Path) -> None:
    from torch import nn

    def net(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, outputs))

    space = SPACE["Lights"]()
    model = hstar.train("prolonged", space, model=net, states=2000, epochs=8)
    assert hstar.solve(space, model, "astar").expanded < 1000
    path, named = tmp_path / "net.hstar", tmp_path / "named.hstar"
    hstar.train("prolonged", space, states=50, epochs=1).save(named)
    model.save(path)
    first, states = path.read_bytes(), [space.start, 0, 5]
    again = hstar.load_model(path, model=net)
    again.save(path)
    assert path.read_bytes() == first and repr(again) == repr(model) and again.space == model.space
    values = [one.build(OwnProblem(space)).function(states).tolist() for one in (model, again)]
    assert values[0] == values[1] and len(set(values[0])) == 3
    assert hstar.solve(space, again, "astar", rule="clip").expanded < 1000
    for load, kind, message in (
        (lambda: hstar.load_model(path), UnsupportedError, "own module test_own_space:.*net, whose code"),
        (lambda: hstar.solve(space, str(path)), UnsupportedError, r"load_model\(path, model=net\)"),
        (lambda: hstar.load_model(path, model=nn.Linear), ModelError, "weights of .*net: .* ask for None"),
        (lambda: hstar.load_model(path, model=lambda i: i), InputError, "model <lambda>.*TypeError"),
        (lambda: hstar.load_model(named, model=net), UnsupportedError, "leave model= out"),
    ):
        with pytest.raises(kind, match=message) as told:
            load()
        assert "\n" not in str(told.value)
    for wrong, message in (
        (lambda i, o: nn.Linear(i, o + 1), "must give 1 outputs"),
        (lambda i, o: 3, "model"),
    ):
        with pytest.raises(InputError, match=message):
            hstar.train("prolonged", space, model=wrong, states=50, epochs=1)


def test_a_killed_bootstrap_goes_on(tmp_path: Path) -> None:
    space, kept = SPACE["Lights"](), tmp_path / "c.hstar"
    options = {**QUICK["bootstrap"], "seed": 3}
    hstar.train("bootstrap", space, checkpoint=kept, **{**options, "iterations": 1})
    resumed = hstar.train("bootstrap", space, checkpoint=kept, **options)
    whole = hstar.train("bootstrap", space, **options)
    assert all((resumed.tensors[key] == whole.tensors[key]).all() for key in whole.tensors)


BAD: dict[str, tuple[str, Any, dict[str, Any], type[HstarError], str]] = {
    "encode": ("bootstrap", changed(encode=None), {}, UnsupportedError, r"no function encode\(states\)"),
    "predecessors": ("prolonged", changed(predecessors=None), {}, UnsupportedError, "add a function predece"),
    "goals": ("prolonged", changed(goals=None), {}, UnsupportedError, "add a list `goals`"),
    "no goal": ("prolonged", changed(goals=(5,)), {}, InputError, "5 is in goals"),
    "bound": (
        *("prolonged", changed(lower_bound=None), {"estimate": "truncated"}, UnsupportedError),
        "the estimate truncated needs a lower bound",
    ),
    "shape": (
        "bootstrap",
        changed(encode=lambda self, s: [1, 2, 3]),
        {},
        InputError,
        "must return the shape",
    ),
    "nan": (
        *("prolonged", changed(encode=lambda self, s: [[np.nan]] * len(s)), {}, InputError),
        "not finite",
    ),
    "words": ("prolonged", changed(encode=lambda self, s: "x"), {}, InputError, "an array of numbers"),
    "raises": ("prolonged", changed(encode=lambda self, s: 1 // 0), {}, InputError, "raised ZeroDivision"),
    "option": ("prolonged", SPACE["Lights"](), {"k_pr": 2}, InputError, "k_pr"),
    "model": ("prolonged", SPACE["Lights"](), {"model": "vin"}, InputError, "vin"),
    "recipe": (
        "nrsl",
        SPACE["Lights"](),
        {},
        UnsupportedError,
        "cannot learn for an own space; bootstrap, likely-admissible, prolonged can",
    ),
    "unsolved": (
        *("bootstrap", SPACE["Lights"](), {"nodes": 1, "iterations": 1, "instances": 3}, InputError),
        "none of 3 starts of Lights was solved; raise nodes",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_one_line(name: str) -> None:
    recipe, space, options, kind, message = BAD[name]
    with pytest.raises(kind, match=message) as told:
        hstar.train(recipe, space, **options)
    assert "\n" not in str(told.value)


def test_a_model_is_of_one_space() -> None:
    model = hstar.train("prolonged", SPACE["Lights"](), states=200, epochs=1)
    with pytest.raises(ModelError, match="trained for Lights, asked for LightsBatch"):
        hstar.solve(SPACE["LightsBatch"](), model)
    other = changed(encode=lambda self, states: np.zeros((len(states), 3)))
    with pytest.raises(ModelError, match="with 25 inputs, its encode gives 3"):
        hstar.solve(other, model)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, space = str(tmp_path / "m.hstar"), f"{EXAMPLE}:Lights"
    for words, code, text in (
        (["train", "prolonged", space, "-o", path, "--states", "300", "--epochs", "2"], 0, "300 states"),
        (["solve", space, "--heuristic", path], 0, "(press 7)"),
        (["info", path], 0, "trained for    Lights"),
        (["train", "prolonged", space, "-o", path, "--k-pr", "3"], 33, "--k-pr is not an option of"),
        (["train", "wl", space, "-o", path], 34, "cannot learn for an own space"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(words)
        found = capsys.readouterr()
        assert stop.value.code == code and text in found.out + found.err, words
