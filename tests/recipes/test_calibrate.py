"""Calibration of models: scores are those of the search, promises are kept, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import hstar
from hstar import container
from hstar.errors import InputError, ModelError
from hstar.estimates import Clip, Mean, Quantile, Rule, conformal
from hstar.estimates.point import Point
from hstar.models.task_identity import atoms_of, identify
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import train
from hstar.recipes.calibrate import calibrate, plan_values
from hstar.sampling.optimal import Optimal, optimal_states
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.sampling.walks import Walks
from hstar.search.heuristics import evaluate
from labelled import generated, labelled

UNIT = 1 / 1024
CASES = [(1.0, "additive"), (1.0, "ratio"), (1.3, "additive"), (1.3, "ratio")]
States = npt.NDArray[np.int32]


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    return generated(tmp_path_factory.mktemp("blocks"), "blocksworld", blocks=5, seed=4)


def starts(task: hstar.Task, number: int, seed: int) -> list[hstar.Task]:
    """Other starts of the task, by walks, from which the goal does not hold; no translation is needed."""
    walks = Walks(walks=2 * number, min_length=20, max_length=60, seed=seed).tasks(task)
    found = [start for start in walks if evaluate(start, "goalcount", [start.core.initial_state])[0] > 0]
    assert len(found) >= number
    return found[:number]


@pytest.fixture(scope="module")
def learned(task: hstar.Task) -> TrainedModel[Any]:
    """From few plans, so that it errs."""
    return train("wl", labelled(starts(task, 3, 1)), iterations=1)


@pytest.fixture(scope="module")
def others(task: hstar.Task, learned: TrainedModel[Any]) -> tuple[list[hstar.Task], RelationalData]:
    """Starts that it has not learned from, and their plans."""
    given = starts(task, 40, 2)
    data = labelled(given)
    new = [one.digest() not in learned.trained_on for one in data.instances]
    assert sum(new) >= 30
    tasks = [start for start, kept in zip(given, new, strict=True) if kept]
    return tasks, RelationalData(data.words, tuple(np.array(data.instances, dtype=object)[new]))


def plan_of(start: hstar.Task) -> States:
    """The states of an optimal plan before its goal."""
    return np.array(optimal_states(start, Optimal())[:-1], dtype=np.int32)


def distances(plan: States) -> npt.NDArray[np.float64]:
    return np.arange(len(plan), 0, -1.0)


def models(learned: TrainedModel[Any], data: RelationalData) -> dict[str, tuple[TrainedModel[Any], Rule]]:
    """Models and rules of all kinds, which need no long training."""
    short: dict[str, Any] = {"epochs": 2, "validation": 0.0}
    bounded = train("truncated", data, model="wl", iterations=1, **short)
    plain = train("truncated", data, model="linear", estimate="gaussian", lower="none", **short)
    return {
        "wl": (learned, Mean()),
        "wl with a bound": (replace(learned, lower="lmcut"), Clip()),
        "truncated": (bounded, Quantile(0.3)),
        "gaussian": (plain, Clip(Quantile(0.2))),
    }


# --- one value everywhere ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "form"), CASES)
def test_scores_are_those_of_the_search(
    task: hstar.Task,
    learned: TrainedModel[Any],
    others: tuple[list[hstar.Task], RelationalData],
    bound: float,
    form: str,
) -> None:
    tasks, data = others
    few = RelationalData(data.words, data.instances[:8])
    for name, (model, rule) in models(learned, labelled(starts(task, 3, 1))).items():
        new, found = calibrate(model, few, 0.5, bound=bound, form=form, rule=rule)
        assert new.rule == found.rule and (name != "wl" or len(set(found.scores)) > 1)
        for start, instance, score in zip(tasks, few.instances, found.scores, strict=False):
            plan = plan_of(start)
            seen = model.with_rule(rule).build(start).evaluate(plan)
            values, true = plan_values(model, instance, rule)
            np.testing.assert_array_equal(true, distances(plan))
            np.testing.assert_allclose(np.maximum(values, 0), seen, atol=UNIT, err_msg=name)
            assert score == conformal.plan_score(values, true, form)
            moved = new.build(start).evaluate(plan)
            assert (score <= found.rule.score) <= bool((moved <= bound * distances(plan)).all())
            if model.lower is not None:
                assert (moved >= evaluate(start, model.lower, plan)).all()


def test_whole_distances_are_rounded_up_to(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData]
) -> None:
    """On plans within the score a value is the greatest whole number that is safe, and never above h*."""
    tasks, data = others
    new, found = calibrate(learned, data, 0.8)
    smooth = replace(new, rule=replace(found.rule, whole=False))
    kept = 0
    for start, score in zip(tasks, found.scores, strict=True):
        plan = plan_of(start)
        whole, real = new.build(start).evaluate(plan), smooth.build(start).evaluate(plan)
        assert np.array_equal(whole, np.ceil(real)) and np.array_equal(whole, np.round(whole))
        over = bool((whole > distances(plan)).any())
        assert over == (score > found.rule.score + UNIT)
        kept += not over
    assert kept >= conformal.rank(len(data.instances), 0.8)


# --- promises ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["astar", "idastar"])
@pytest.mark.parametrize(("bound", "form"), CASES)
def test_plans_within_the_score_keep_the_bound(
    learned: TrainedModel[Any],
    others: tuple[list[hstar.Task], RelationalData],
    search: str,
    bound: float,
    form: str,
) -> None:
    tasks, data = others
    new, found = calibrate(learned, data, 0.8, bound=bound, form=form)
    within = [start for start, score in zip(tasks, found.scores, strict=True) if score <= found.rule.score]
    assert conformal.rank(len(tasks), 0.8) <= len(within) < len(tasks)
    for start in within[:12]:
        result = hstar.solve(start, new, search)
        assert result.solved and result.plan_cost is not None
        assert result.plan_cost <= bound * len(plan_of(start))


@pytest.mark.slow
def test_fresh_starts_keep_the_promise(
    task: hstar.Task, learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData]
) -> None:
    """And without the calibration the model does not."""
    new, _ = calibrate(learned, others[1], 0.8)
    careless = replace(learned, tensors={**learned.tensors, "bias.0": learned.tensors["bias.0"] + 6})
    kept = broken = 0
    fresh = starts(task, 60, 3)
    for start in fresh:
        optimum = len(plan_of(start))
        kept += hstar.solve(start, new, "astar").plan_cost == optimum
        broken += hstar.solve(start, careless, "wastar", weight=3.0).plan_cost != optimum
    assert kept >= 0.8 * len(fresh) - 4 * (len(fresh) * 0.16) ** 0.5
    assert broken > 0


def test_a_careless_model_is_made_careful(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData]
) -> None:
    """Whatever is added to its values is taken off again, and ratios shrink accordingly."""
    _, data = others
    higher = replace(learned, tensors={**learned.tensors, "bias.0": learned.tensors["bias.0"] + 100})
    one, two = (calibrate(model, data, 0.9)[1].rule for model in (learned, higher))
    assert two.score == pytest.approx(one.score + 100)
    one, two = (calibrate(model, data, 0.9, bound=2.0)[1].rule for model in (learned, higher))
    assert two.factor < one.factor / 10


# --- files ------------------------------------------------------------------------------------------


def test_files(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData], tmp_path: Path
) -> None:
    new, found = calibrate(learned, others[1], 0.9, bound=1.5)
    new.save(tmp_path / "new.hstar")
    again = load_model(tmp_path / "new.hstar")
    assert again.rule == found.rule == again.calibration and learned.calibration is None
    assert again.trained_on == learned.trained_on and len(again.trained_on) == 3
    again.save(tmp_path / "again.hstar")
    assert (tmp_path / "again.hstar").read_bytes() == (tmp_path / "new.hstar").read_bytes()
    old = replace(learned, trained_on=())
    old.save(tmp_path / "old.hstar")
    assert load_model(tmp_path / "old.hstar").trained_on == ()


def test_calibrating_again_replaces(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData]
) -> None:
    _, data = others
    first, found = calibrate(learned, data, 0.9)
    assert calibrate(first, data, 0.9)[1] == found
    second, _ = calibrate(first, data, 0.5, bound=2.0)
    assert second.calibration is not None and second.calibration.of == Mean()
    assert calibrate(second, data, 0.9, rule=first.rule)[0].rule == first.rule


# --- what is refused --------------------------------------------------------------------------------


def with_columns(instance: RelationalInstance, **columns: npt.ArrayLike) -> RelationalInstance:
    found = {name: np.asarray(column, dtype=np.float32) for name, column in columns.items()}
    return replace(instance, columns={**instance.columns, **found})


def test_instances_of_the_training(task: hstar.Task, learned: TrainedModel[Any]) -> None:
    same = labelled(starts(task, 3, 1), letter="q", siblings=True)
    with pytest.raises(
        InputError, match=r"^3 of 3 instances are those that the model was trained on, first q0"
    ):
        calibrate(learned, same, 0.5)
    held_out = train("wl", labelled(starts(task, 3, 9)), held_out=same, iterations=1)
    with pytest.raises(InputError, match="3 of 3 instances"):
        calibrate(held_out, same, 0.5)


def test_data_that_do_not_fit(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData], tmp_path: Path
) -> None:
    _, data = others
    words, first = data.words, data.instances[0]
    with pytest.raises(InputError, match=r"are too few for a confidence of 0\.99; it takes at least 99"):
        calibrate(learned, data, 0.99)
    with pytest.raises(InputError, match=r"^0 instances are too few"):
        calibrate(learned, RelationalData(words, ()), 0.9)
    ferry = labelled([generated(tmp_path, "ferry", locations=3, cars=1, seed=2)])
    with pytest.raises(ModelError, match="was trained for blocksworld-4ops, the data are of ferry"):
        calibrate(learned, ferry, 0.5)
    length = len(first)
    for label in (
        np.full(length, np.nan),
        np.r_[first.columns["label"][:-1], np.nan],
        first.columns["label"] + 1,
        first.columns["label"] / 2,
    ):
        broken = RelationalData(words, (with_columns(first, label=label),))
        with pytest.raises(InputError, match=r"^p0: its labelled states are not those of an optimal plan$"):
            calibrate(learned, broken, 0.5)
    for column, message in (
        (np.full(length, np.nan), "^p0: the heuristic is NaN"),
        (np.full(length, np.inf), "dead ends"),
    ):
        based, broken = replace(learned, base="ff"), RelationalData(words, (with_columns(first, ff=column),))
        with pytest.raises(InputError, match=message):
            calibrate(based, broken, 0.5)
    poor = replace(first, columns={name: first.columns[name] for name in ("label", "parent")})
    with pytest.raises(InputError, match="the data have no column hmax; label the problems anew"):
        calibrate(replace(learned, base="hmax"), RelationalData(words, (poor,)), 0.5)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, float("nan")])
def test_no_confidence(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData], confidence: float
) -> None:
    with pytest.raises(InputError, match="confidence must be a number above 0, below 1"):
        calibrate(learned, others[1], confidence)


@pytest.mark.parametrize("bound", [0.99, 0.0, float("nan"), float("inf")])
def test_no_bound(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData], bound: float
) -> None:
    with pytest.raises(InputError, match="bound must be a number from 1 on"):
        calibrate(learned, others[1], 0.5, bound=bound)


def test_nothing_to_scale(
    learned: TrainedModel[Any], others: tuple[list[hstar.Task], RelationalData]
) -> None:
    lower = replace(learned, tensors={**learned.tensors, "bias.0": learned.tensors["bias.0"] - 1000})
    with pytest.raises(InputError, match="the model has no values above 0"):
        calibrate(lower, others[1], 0.5, bound=2.0)
    assert calibrate(lower, others[1], 0.5)[1].rule.score < -900


# --- models of one task -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network(task: hstar.Task) -> TrainedModel[Any]:
    """Some numbers: the promise needs no good model."""
    atoms, rng = atoms_of(task), np.random.default_rng(0)

    def weights(*shape: int) -> npt.NDArray[np.float32]:
        return rng.normal(0, 0.7, shape).astype(np.float32)

    return TrainedModel(
        space=identify(task),
        tensors={
            "hidden_weights": weights(len(atoms), 8),
            "hidden_biases": weights(8),
            "output_weights": weights(8, 1),
            "output_biases": weights(1) + 8,
        },
        recipe="random",
        recipe_config={},
        model="ffnn",
        model_config={"width": 8, "outputs": 1, "scale": 1.0},
        estimate=Point(),
        rule=Mean(),
        seed=0,
    )


@pytest.mark.parametrize("bound", [1.0, 1.5])
def test_a_model_of_one_task(
    task: hstar.Task, network: TrainedModel[Any], bound: float, tmp_path: Path
) -> None:
    given = starts(task, 20, 5)
    at_goal = replace(given[0], core=task.core.with_initial_state(optimal_states(task, Optimal())[-1]))
    seen: list[int] = []
    new, found = calibrate(network, [at_goal, *given], 0.8, bound=bound, progress=seen.append)
    assert seen == list(range(1, 22)) and found.left_out == 1 and found.rule.instances == 20
    new.save(tmp_path / "new.hstar")
    new = load_model(tmp_path / "new.hstar")
    assert new.calibration == found.rule and network.calibration is None
    kept = 0
    for start, score in zip(given, found.scores, strict=True):
        plan = plan_of(start)
        values = new.build(start).evaluate(plan)
        expected = network.build(start).evaluate(plan) * found.rule.factor - found.rule.shift
        expected = np.maximum(np.ceil(expected - UNIT) if bound == 1 else expected, 0)
        np.testing.assert_allclose(values, expected, atol=1 if bound == 1 else 3 * UNIT)
        if score <= found.rule.score:
            kept += 1
            assert (values <= bound * distances(plan)).all()
            result = hstar.solve(start, new, "astar")
            assert result.plan_cost is not None and result.plan_cost <= bound * len(plan)
    assert kept >= conformal.rank(20, 0.8)
    assert calibrate(new, given, 0.8, bound=bound)[1].scores == found.scores


def test_a_damaged_rule(network: TrainedModel[Any], tmp_path: Path) -> None:
    network.save(tmp_path / "m")
    header, tensors = container.read(tmp_path / "m", "model", 2)
    broken = {**header, "rule": {"name": "calibrated", "confidence": 2}}
    container.write(tmp_path / "m", "model", 2, broken, tensors)
    with pytest.raises(ModelError, match="damaged model: "):
        load_model(tmp_path / "m")
