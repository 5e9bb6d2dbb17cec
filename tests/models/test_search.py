"""From pre-images to a plan: sample, fit, save, load, search."""

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar.cli import main
from hstar.errors import InputError, ModelError, UnsupportedError
from hstar.estimates import Bounded, Mean, Quantile
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.generators import GENERATORS
from hstar.models.resnet import ResNetConfig
from hstar.models.task_identity import identify
from hstar.models.trained_model import TrainedModel, load_model
from hstar.sampling.exact import Exact
from hstar.sampling.walks import Walks
from hstar.search.heuristics import evaluate
from hstar.spaces.puzzles import parse_puzzle
from hstar.training.config import TrainConfig
from hstar.training.examples import StateExamples
from hstar.training.loop import fit


def blocks_task(folder: Path, blocks: int, seed: int) -> hstar.Task:
    paths = folder / f"domain-{blocks}-{seed}.pddl", folder / f"problem-{blocks}-{seed}.pddl"
    for path, text in zip(paths, GENERATORS.get("blocksworld")(blocks=blocks, seed=seed), strict=True):
        path.write_text(text)
    return hstar.load(*paths)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    return blocks_task(tmp_path_factory.mktemp("blocks"), 5, 1)


@pytest.fixture(scope="module")
def model(task: hstar.Task) -> TrainedModel[Any]:
    """Fitted to exact labels of all states: a heuristic that should be nearly perfect."""
    dataset = Exact().sample(task)
    config = ResNetConfig(width=64)
    build = functools.partial(config.build, len(dataset.atoms))
    settings = TrainConfig(epochs=40, validation=0.0)
    trained = fit(build, StateExamples(dataset), Point(), settings, redraw=True)
    return TrainedModel(
        space=identify(task),
        tensors=config.export(trained.model),
        recipe="exact",
        recipe_config={},
        model="resnet",
        model_config={"width": 64},
        estimate=Point(),
        rule=Mean(),
        seed=0,
    )


def test_learned_heuristic_beats_the_uninformed_ones(task: hstar.Task, model: TrainedModel[Any]) -> None:
    learned = hstar.solve(task, model)
    assert learned.solved
    for other in ("blind", "goalcount"):
        assert learned.expanded < hstar.solve(task, other).expanded


def test_native_values_are_those_of_the_network(task: hstar.Task, model: TrainedModel[Any]) -> None:
    dataset = Exact().sample(task)
    expected = np.maximum(model.network.reference(dataset.unpack())[:, 0], 0)
    states = [task.core.initial_state]
    for op in task.core.applicable_operators(states[0]):
        states.append(task.core.successor(states[0], op))
    found = model.build(task).evaluate(np.array(states, dtype=np.int32))
    rows = {state.tobytes(): value for state, value in zip(dataset.states, expected, strict=True)}
    bits = hstar._core.encode(task.core, np.array(states, dtype=np.int32))
    np.testing.assert_allclose(found, [rows[row.tobytes()] for row in bits], atol=1 / 1024)


def test_a_saved_model_searches_alike(task: hstar.Task, model: TrainedModel[Any], tmp_path: Path) -> None:
    model.save(tmp_path / "m.hstar")
    again = hstar.solve(task, load_model(tmp_path / "m.hstar"))
    assert (again.expanded, again.plan) == (hstar.solve(task, model).expanded, hstar.solve(task, model).plan)


def test_a_model_of_another_task_is_refused(model: TrainedModel[Any], tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        hstar.solve(blocks_task(tmp_path, 6, 1), model)


def test_int16_differs_little(task: hstar.Task, model: TrainedModel[Any]) -> None:
    """By a thousandth and the rounding to 1/1024, and so in what it expands."""
    integers = model.with_precision("int16")
    states = Walks(walks=500, seed=1).states(task)
    expected = model.build(task).evaluate(states)
    found = integers.build(task).evaluate(states)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1.5 / 1024)
    assert (found != expected).any()
    assert hstar.solve(task, integers).expanded <= 1.2 * hstar.solve(task, model).expanded


def test_precision_is_not_in_the_file(task: hstar.Task, model: TrainedModel[Any], tmp_path: Path) -> None:
    for name, saved in (("a", model), ("b", model.with_precision("int16"))):
        saved.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert load_model(tmp_path / "b").precision == "float32"
    with pytest.raises(InputError, match=r"unknown precision 'int8' \(known: float32, int16\)"):
        model.with_precision("int8")


def test_precision_on_the_command_line(
    task: hstar.Task, model: TrainedModel[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.save(tmp_path / "m.hstar")

    def run(*words: str) -> tuple[object, str, str]:
        files = [str(task.domain_file), str(task.problem_file), "--heuristic", str(tmp_path / "m.hstar")]
        with pytest.raises(SystemExit) as stop:
            main(["solve", *files, "--json", *words])
        return stop.value.code, *capsys.readouterr()

    code, out, _ = run("--precision", "int16")
    record = json.loads(out)
    assert (code, record["precision"]) == (0, "int16")
    assert record["expansions"] == hstar.solve(task, model.with_precision("int16")).expanded
    assert json.loads(run()[1])["precision"] is None
    assert run("--precision", "int8")[0] == 33


def test_estimates_and_rules_that_do_not_fit(model: TrainedModel[Any], task: hstar.Task) -> None:
    with pytest.raises(ModelError, match="the network has 1 outputs, the estimate gaussian needs 2"):
        replace(model, estimate=Gaussian())
    with pytest.raises(ModelError, match=r"trained for .*, asked for tiles"):
        model.build(parse_puzzle("tiles:3x3"))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"a point estimate has no quantile 0\.3"):
        model.with_rule(Quantile(0.3)).build(task)


def test_bounded_takes_lmcut(model: TrainedModel[Any], task: hstar.Task) -> None:
    states = np.array([task.core.initial_state], dtype=np.int32)
    (lower,), (value,) = (evaluate(task, one, states) for one in ("lmcut", model))
    for eps in (1.0, 1.1, 100.0):
        (bounded,) = evaluate(task, model.with_rule(Bounded(eps)), states)
        assert bounded == pytest.approx(min(max(value, lower), eps * lower), abs=1e-3)
    optimum = hstar.solve(task, "lmcut", "astar").plan_cost
    assert hstar.solve(task, model.with_rule(Bounded(1.0)), "astar").plan_cost == optimum
