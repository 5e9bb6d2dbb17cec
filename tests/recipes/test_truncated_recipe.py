"""The recipe `truncated`: one value on data and in the search, learning, repetition, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import hstar
from hstar import container
from hstar.errors import InputError, ModelError, UnsupportedError
from hstar.estimates import Bounded, Calibrated, Clip, Mean, Quantile, Rule
from hstar.estimates.rules import Order
from hstar.models import models_of
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import RECIPES, train
from hstar.recipes.accuracy import accuracy
from hstar.sampling import relational
from hstar.sampling.optimal import NoLabelError
from hstar.sampling.relational import RelationalData
from hstar.search.heuristics import evaluate
from hstar.training.examples import KnownColumns, RelationalExamples
from hstar.training.loop import Progress, TrainingInterrupted
from labelled import States, described, dinner, generated, islands, labelled, reachable, written

DATA = Path(__file__).parents[1] / "data"
MODELS = models_of("domain")
ESTIMATES = ("point", "gaussian", "laplace", "truncated")
SHORT: dict[str, Any] = {"epochs": 2, "validation": 0.0}
SMALL = {"hgn": {"hidden": 8, "steps": 2}, "nlm": {"features": 4}, "wl": {"iterations": 2}}
UNIT = 0.5 / 1024  # the search rounds to units of 1/1024

Numbers = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[hstar.Task]:
    folder = tmp_path_factory.mktemp("blocks")
    return [generated(folder, "blocksworld", blocks=n, seed=seed) for n in (3, 4, 5) for seed in range(4)]


@pytest.fixture(scope="module")
def siblings(tasks: list[hstar.Task]) -> RelationalData:
    return labelled(tasks, siblings=True)


@pytest.fixture(scope="module")
def data(siblings: RelationalData) -> RelationalData:
    return siblings.with_labels()


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> RelationalData:
    folder = tmp_path_factory.mktemp("others")
    return labelled([generated(folder, "blocksworld", blocks=5, seed=seed) for seed in range(10, 14)])


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> tuple[hstar.Task, States]:
    """A task with more objects than any that is learned from, and states of it, a goal among them."""
    task = generated(tmp_path_factory.mktemp("larger"), "blocksworld", blocks=6, seed=3)
    return task, with_goal(task, reachable(task, 40))


def with_goal(task: hstar.Task, states: States) -> States:
    """And the states of a plan."""
    result = hstar.solve(task, "ff")
    assert result.plan
    index = {task.core.operator(i).name.strip(): i for i in range(task.core.num_operators)}
    state, plan = task.core.initial_state, []
    for step in result.plan:
        state = task.core.successor(state, index[step])
        plan.append(state)
    return np.vstack([states, np.array(plan, dtype=np.int32)])


def fit(data: RelationalData, model: str = "wl", **options: Any) -> TrainedModel[Any]:
    return train("truncated", data, model=model, **{**SMALL.get(model, {}), **SHORT, **options})


def with_column(data: RelationalData, name: str, values: Mapping[str, Any]) -> RelationalData:
    """The same data but for a column of some instances."""
    return RelationalData(
        data.words,
        tuple(
            replace(one, columns={**one.columns, name: np.asarray(values[one.name], dtype=np.float32)})
            if one.name in values
            else one
            for one in data.instances
        ),
    )


def weights(model: TrainedModel[Any]) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in model.tensors.items()}


def without_times(model: TrainedModel[Any]) -> TrainedModel[Any]:
    """What does not depend on the machine."""
    summary = {name: value for name, value in model.summary.items() if name != "time_s"}
    return replace(model, summary={**summary, "curve": [losses for _, *losses in summary["curve"]]})


# --- one value everywhere ---------------------------------------------------------------------------


def on_data(model: TrainedModel[Any], data: RelationalData, upper: str | None = None) -> Numbers:
    """By torch, over the columns of the data: (states,)."""
    reader = model.network
    known = KnownColumns(model.lower, upper, model.base)
    examples = RelationalExamples(data, reader, known, inputs=False)
    indices = np.arange(len(examples))
    raw = reader.raw(model.space.words, examples.states(indices), model.tensors, model.estimate.outputs)
    batch = examples.known_batch(indices, torch.device("cpu"))
    return model.rule.value(model.estimate, torch.from_numpy(raw), batch.known).numpy()


def in_search(model: TrainedModel[Any], task: hstar.Task, states: States) -> Numbers:
    return np.asarray(model.build(task).evaluate(states))


def same(model: TrainedModel[Any], task: hstar.Task, states: States) -> Numbers:
    """Both must agree; returns the values."""
    expected = np.maximum(on_data(model, described(task, model.space.words, states)), 0)
    goals = evaluate(task, "goalcount", states) == 0
    assert goals.any() and not goals.all()
    expected[goals] = 0
    found = in_search(model, task, states)
    # What a promise hangs on is rounded down, by up to a whole unit.
    unit = 2 * UNIT if isinstance(model.rule, Bounded | Calibrated) else UNIT
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=unit + 1e-4)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("estimate", [*ESTIMATES, "asymmetric"])
@pytest.mark.parametrize("model", MODELS)
def test_the_same_values_on_data_and_in_the_search(
    data: RelationalData, larger: tuple[hstar.Task, States], model: str, estimate: str
) -> None:
    learned = fit(data, model, estimate=estimate)
    task, states = larger
    values = same(learned, task, states)
    assert np.unique(values).size > 3
    rules: list[Rule] = [Clip(), Clip(Mean(), 2.0, 9.0), Order()]
    rules += [
        Calibrated(confidence=0.9, instances=9, score=1.3),
        Calibrated(
            confidence=0.9, instances=9, score=1.3, bound=1.5, form="ratio", of=Clip(Mean(), 2.0, 9.0)
        ),
    ]
    if estimate not in ("point", "asymmetric"):
        rules += [Quantile(0.2), Clip(Quantile(0.9))]
    for rule in rules:
        for base, lower in ((None, "lmcut"), ("lmcut", None), ("ff", "hmax")):
            same(replace(learned, rule=rule, base=base, lower=lower), task, states)
    for eps in (1.3, 40.0):
        for base, lower in ((None, "lmcut"), ("ff", "hmax")):
            same(replace(learned, rule=Bounded(eps), base=base, lower=lower), task, states)


@pytest.mark.parametrize(
    ("domain", "sizes"),
    [
        ("ferry", {"locations": 3, "cars": 2}),
        ("gripper", {"balls": 3}),
        ("visitall", {"rows": 3, "columns": 3, "goal_percent": 50}),
    ],
)
def test_the_same_values_in_other_domains(tmp_path: Path, domain: str, sizes: dict[str, int]) -> None:
    tasks = [generated(tmp_path, domain, **sizes, seed=seed) for seed in (1, 2)]
    data = labelled(tasks[:1])
    states = with_goal(tasks[1], reachable(tasks[1], 30))
    for model in MODELS:
        same(fit(data, model), tasks[1], states)


@pytest.mark.parametrize("model", MODELS)
def test_heuristics_count_steps_where_actions_have_costs(tmp_path: Path, model: str) -> None:
    """Also domains with a hierarchy of types."""
    files = DATA / "costs" / "domain.pddl", DATA / "costs" / "problem.pddl"
    data = labelled([hstar.load(*files, unit_cost=True)])
    costly = hstar.load(*files)
    states = with_goal(costly, reachable(costly, 40))
    steps, costs = evaluate(costly.with_unit_cost(), "ff", states), evaluate(costly, "ff", states)
    assert not np.allclose(steps, costs)
    for base, lower, rule in (("ff", "lmcut", Mean()), (None, "lmcut", Quantile(0.3)), ("ff", None, Clip())):
        learned = fit(data, model, estimate="truncated")
        same(replace(learned, base=base, lower=lower, rule=rule), costly, states)
    result = hstar.solve(costly, learned)
    assert result.solved and result.plan_cost != result.plan_length


@pytest.mark.parametrize("level", [-1e4, 0.0, 7.0, 1e4])
def test_bounded_plans_cost_what_was_promised(data: RelationalData, tmp_path: Path, level: float) -> None:
    """Wherever the model believes to be."""
    model = fit(data, "linear", rule="bounded:1.2")
    bias = model.tensors["bias"] + np.array([level, 0], dtype=np.float32)
    wrong = replace(model, tensors={**model.tensors, "bias": bias})
    for seed in range(4):
        task = generated(tmp_path, "blocksworld", blocks=5, seed=seed)
        optimum = hstar.solve(task, "lmcut", search="astar").plan_cost
        found = hstar.solve(task, wrong, search="astar").plan_cost
        assert optimum is not None and found is not None and optimum <= found <= 1.2 * optimum
    states = np.array([task.core.initial_state], dtype=np.int32)
    by_lmcut = (evaluate(task, replace(wrong, lower=lower), states).item() for lower in (None, "lmcut"))
    assert len(set(by_lmcut)) == 1, "which is the bound of models without one"
    with pytest.raises(ModelError, match="a bounded of the rule clip does not reach the search"):
        replace(wrong, rule=Bounded(2.0, Clip())).build(task)


@pytest.mark.parametrize("rule", [Mean(), Quantile(0.01), Quantile(0.99), Clip(Quantile(0.5))])
@pytest.mark.parametrize("level", [-1e4, -3.0, 0.0, 50.0])
def test_what_the_search_sees_is_never_below_the_bound(
    data: RelationalData, larger: tuple[hstar.Task, States], rule: Rule, level: float
) -> None:
    """Wherever the model believes to be."""
    task, states = larger
    model = fit(data, "linear", rule="mean")
    bias = model.tensors["bias"] + np.array([level, 0], dtype=np.float32)
    values = in_search(replace(model, rule=rule, tensors={**model.tensors, "bias": bias}), task, states)
    bound = evaluate(task, "lmcut", states)
    assert (values >= bound).all()
    if level == -1e4:
        np.testing.assert_allclose(values, bound, atol=0.1)


def test_dead_ends_are_dead_ends(tmp_path: Path) -> None:
    task = islands(tmp_path, "a")
    model = fit(labelled([task]), least_states=1)
    states = reachable(task, 10)
    dead = np.isinf(evaluate(task, "ff", states))
    assert dead.sum() == 1 and np.array_equal(np.isinf(in_search(model, task, states)), dead)
    result = hstar.solve(task, model)
    assert result.plan == ("go a b", "go b c")


# --- learning ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize(("model", "rate", "updates"), [("linear", 0.05, 100), ("wl", 1e-3, 40)])
def test_it_knows_more_than_ff(
    data: RelationalData, held_out: RelationalData, model: str, rate: float, updates: int, estimate: str
) -> None:
    options: dict[str, Any] = {"estimate": estimate, "updates": updates, "learning_rate": rate}
    learned = train("truncated", data, held_out=held_out, model=model, **options)
    found = accuracy(learned, held_out)
    assert found["mse"] < 0.8 * found["mse_ff"] and found["mse"] < found["mse_lmcut"]
    # But for the margin: the rule puts values at their bound.
    assert found["mse"] == pytest.approx(learned.summary["best_loss"], rel=0.05)


@pytest.mark.parametrize(("lower", "base"), [("blind", "ff"), ("hmax", "lmcut"), ("lmcut", "lmcut")])
@pytest.mark.parametrize("model", ["wl", "linear"])
def test_other_bounds_and_bases(
    data: RelationalData, larger: tuple[hstar.Task, States], model: str, lower: str, base: str
) -> None:
    rate, epochs = {"wl": (1e-3, 30), "linear": (0.05, 60)}[model]
    learned = fit(data, model, lower=lower, base=base, epochs=epochs, learning_rate=rate)
    assert (learned.lower, learned.base) == (lower, base)
    found = accuracy(learned, data)
    assert found["mse"] < 0.9 * found[f"mse_{base}"]
    assert (on_data(learned, data) >= data.column(lower)).all()
    task, states = larger
    assert (same(learned, task, states) >= evaluate(task, lower, states)).all()


@pytest.mark.parametrize("model", ["hgn", "nlm"])
def test_networks_learn(data: RelationalData, held_out: RelationalData, model: str) -> None:
    few = RelationalData(data.words, data.instances[::3])
    learned = fit(few, model, epochs=12, batch_size=8, learning_rate=1e-2, base="none")
    losses = [loss for _, loss, _ in learned.summary["curve"]]
    assert min(losses) < losses[0] - 0.3


def test_a_larger_task_takes_fewer_evaluations_than_with_ff(siblings: RelationalData, tmp_path: Path) -> None:
    model = fit(siblings, "wl", epochs=60)
    task = generated(tmp_path, "blocksworld", blocks=11, seed=902)
    found = hstar.solve(task, model, max_evaluations=20_000)
    assert found.solved
    assert found.evaluated < hstar.solve(task, "ff", max_evaluations=20_000).evaluated


def test_sigma(data: RelationalData) -> None:
    learned = fit(data, estimate="gaussian", epochs=40)
    fixed = fit(data, estimate="gaussian", sigma="fixed")
    given = fit(data, estimate="truncated", sigma="0.3", margin=0.05)
    assert (learned.estimate.outputs, fixed.estimate.outputs, given.estimate.outputs) == (2, 1, 1)
    sigmas = [model.estimate.sigma for model in (learned, fixed, given)]  # type: ignore[attr-defined]
    assert sigmas == [None, pytest.approx(math.sqrt(0.5)), 0.3]
    assert given.estimate.margin == 0.05  # type: ignore[attr-defined]
    assert [len(model.tensors["bias.0"]) for model in (learned, fixed, given)] == [2, 1, 1]
    found = accuracy(learned, data)
    assert found["sigma"] == pytest.approx(math.sqrt(found["mse"]), rel=0.5), "as far off as it thinks"
    assert accuracy(fixed, data)["sigma"] == pytest.approx(math.sqrt(0.5))


def test_labels_at_their_bound(data: RelationalData) -> None:
    at_bound = data.column("lmcut") == data.column("label")
    assert 0.1 < at_bound.mean() < 1, "lmcut knows h* of many of these states"
    tight = with_column(data, "lmcut", {one.name: one.columns["label"] for one in data.instances})
    for sigma in ("learned", "fixed"):
        model = fit(tight, sigma=sigma, epochs=20)
        values = on_data(model, tight)
        assert (values >= data.column("label")).all() and np.isfinite(values).all()
    first = data.instances[0]
    beyond = with_column(data, "lmcut", {first.name: first.columns["label"] + 1})
    with pytest.raises(InputError, match=r"truncated: \d+ of \d+ labels are beyond the bounds"):
        fit(beyond)
    fit(beyond, estimate="gaussian")
    fit(beyond, lower="none")


def test_upper_bounds(data: RelationalData, larger: tuple[hstar.Task, States], tmp_path: Path) -> None:
    """They narrow the belief down; where a state has none, it is as without them."""
    above = {one.name: one.columns["label"] + np.arange(len(one)) % 2 for one in data.instances}
    known = with_column(data, "upper", above)
    plain, tight = fit(known, epochs=20), fit(known, upper="upper", epochs=20)
    assert (plain.upper, tight.upper) == (None, "upper") and weights(plain) != weights(tight)
    found = accuracy(tight, known)
    upper, lower = known.column("upper"), known.column("lmcut")
    loose = on_data(tight, known)
    values = on_data(tight, known, upper="upper")
    assert (values <= upper).all() and (values >= lower).all() and (loose >= values - 1e-6).all()
    error = np.square(values - data.column("label")).mean()
    assert found["mse"] == pytest.approx(error) and found["mse"] < accuracy(plain, known)["mse"]
    path = tmp_path / "model.hstar"
    tight.save(path)
    assert load_model(path).upper == "upper"
    same(tight, *larger)  # the search has no such bounds
    # Nothing is known: nothing is different.
    nowhere = {one.name: np.full(len(one), np.nan) for one in data.instances}
    unknown = with_column(data, "upper", nowhere)
    assert weights(fit(unknown, upper="upper")) == weights(fit(data))
    # Something is known of some.
    some = {name: np.where(np.arange(len(values)) % 3, values, np.nan) for name, values in above.items()}
    partly = with_column(data, "upper", some)
    belief = fit(partly, upper="upper", epochs=20)
    assert all(np.isfinite(tensor).all() for tensor in belief.tensors.values())
    assert math.isfinite(accuracy(belief, partly)["nll"])


def test_upper_bounds_that_cannot_be(data: RelationalData) -> None:
    first = data.instances[0]
    below = {one.name: one.columns["label"] + (0 if one is not first else -1) for one in data.instances}
    wrong = with_column(data, "upper", below)
    message = r"truncated: \d+ of \d+ labels are beyond the bounds of their states: the first is .* and "
    with pytest.raises(InputError, match=message):
        fit(wrong, upper="upper")
    fit(wrong, upper="upper", estimate="gaussian")
    fit(wrong)
    missing = "the data have no column upper; label the problems anew with --upper"
    with pytest.raises(InputError, match=missing):
        fit(data, upper="upper")
    learned = fit(
        with_column(data, "upper", {one.name: one.columns["label"] for one in data.instances}), upper="upper"
    )
    with pytest.raises(InputError, match=missing):
        accuracy(learned, data)


def test_states_are_ranked_without_upper_bounds(siblings: RelationalData) -> None:
    """As the search compares them."""
    bounds = {one.name: np.nan_to_num(one.columns["label"], nan=9.0) for one in siblings.instances}
    known = with_column(siblings, "upper", bounds)
    options: dict[str, Any] = {"ranking": 1, "base": "none", "learning_rate": 1e-2}
    assert weights(fit(known, upper="upper", **options)) == weights(fit(siblings, **options))


@pytest.mark.parametrize("sigma", ["learned", "fixed"])
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("model", ["wl", "linear"])
def test_nothing_is_left_to_learn(data: RelationalData, model: str, estimate: str, sigma: str) -> None:
    """All labels are those of the base: the spread shrinks, but to no less than its floor."""
    sure = with_column(data, "ff", {one.name: one.columns["label"] for one in data.instances})
    learned = fit(sure, model, estimate=estimate, sigma=sigma, epochs=40)
    assert all(np.isfinite(tensor).all() for tensor in learned.tensors.values())
    values = on_data(learned, sure)
    assert np.isfinite(values).all()
    if model == "wl":
        np.testing.assert_allclose(values, data.column("label"), atol=1.0)
        if sigma == "learned" and estimate != "point":
            assert 0.1 <= accuracy(learned, sure)["sigma"] < 0.2


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimate", ["point", "gaussian"])
def test_a_loss_that_is_not_finite(data: RelationalData, model: str, estimate: str) -> None:
    """The advice is none that was followed already: the profiles set clip_norm."""
    few = RelationalData(data.words, data.instances[::4])
    message = r"^the loss became (nan|inf) in epoch \d; lower learning_rate \(1e\+30\)"
    with pytest.raises(InputError, match=f"{message}$"):
        fit(few, model, estimate=estimate, learning_rate=1e30)
    with pytest.raises(InputError, match=f"{message} or set clip_norm$"):
        fit(few, model, estimate=estimate, learning_rate=1e30, clip_norm=None)


@pytest.mark.parametrize("model", MODELS)
def test_a_truncated_loss_far_away(data: RelationalData, model: str) -> None:
    """Below its bound a belief that is far off is worth the bound, with a finite loss; above it is not."""
    try:
        values = on_data(fit(data, model, learning_rate=1e30), data)
    except InputError as error:
        assert "the loss became" in str(error)
    else:
        assert np.isfinite(values).all() and (values >= data.column("lmcut")).all()


# --- the same again ---------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["wl", "hgn"])
def test_the_same_data_give_the_same_file(data: RelationalData, model: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        torch.manual_seed(len(name))
        without_times(fit(data, model, validation=0.2)).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = load_model(tmp_path / "one")
    options = RECIPES.get("truncated").fields("domain", {"model": model})["model"]
    assert set(again.model_config) == set(options), "defaults may change, files may not"
    assert weights(fit(data, model, validation=0.2, seed=1)) != weights(again)


class Stop:
    """Ctrl-C at the end of an epoch."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def __call__(self, record: Progress) -> None:
        if record.epoch == self.epoch and record.validation_loss is not None:
            raise KeyboardInterrupt


@pytest.mark.parametrize("options", [{"model": "wl"}, {"model": "linear", "ranking": 0.5, "sigma": "fixed"}])
def test_it_goes_on_from_its_checkpoint(
    siblings: RelationalData, tmp_path: Path, options: dict[str, Any]
) -> None:
    given = {"epochs": 6, "validation": 0.2, "batch_size": 16, "learning_rate": 1e-2, **options}
    whole = train("truncated", siblings, **given)
    path = tmp_path / "checkpoint"
    for epoch in (2, 4):
        with pytest.raises(TrainingInterrupted, match=f"training stopped after {epoch} epochs; to go on"):
            train("truncated", siblings, checkpoint=path, progress=Stop(epoch), **given)
    epochs: list[int] = []
    resumed = train(
        "truncated", siblings, checkpoint=path, progress=lambda record: epochs.append(record.epoch), **given
    )
    assert min(epochs) == 5 and weights(resumed) == weights(whole)
    assert without_times(resumed).summary == without_times(whole).summary
    again = train("truncated", siblings, checkpoint=path, **given)
    assert weights(again) == weights(whole)


def test_checkpoints_of_another_training(data: RelationalData, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    fit(data, "hgn", checkpoint=path, epochs=1, schedule="constant")
    fit(data, "hgn", checkpoint=path, epochs=1, schedule="constant", patience=3)
    changed = with_column(data, "ff", {"p0": data.instances[0].columns["ff"] + 1})
    for other, change, what in (
        (data, {"sigma": "fixed"}, "estimate"),
        (data, {"learning_rate": 0.5}, "learning_rate"),
        (data, {"base": "none"}, "data"),
        (changed, {}, "data"),
        (data, {"normalise": False}, "data"),  # who reads the data otherwise; the weights look the same
        (data, {"steps": 3}, "data"),
    ):
        with pytest.raises(InputError, match=rf"checkpoint of another training \({what}: .*; delete it"):
            fit(other, "hgn", checkpoint=path, epochs=1, schedule="constant", **change)
    with pytest.raises(InputError, match="checkpoint is not an option of wl for a domain"):
        train("wl", data, checkpoint=path)


# --- how long, and on what --------------------------------------------------------------------------


def test_updates_are_exact(data: RelationalData) -> None:
    states = len(data.column("label"))
    for updates, batch_size in ((20, 16), (1, 16), (7, 1000)):
        found = train("truncated", data, updates=updates, batch_size=batch_size, validation=0.0)
        batches = math.ceil(states / batch_size)
        assert found.summary["updates"] == updates and found.summary["stopped"] == "updates"
        assert found.summary["epochs"] == math.ceil(updates / batches)
    # Epochs are those of the instances that are left, not of all.
    split = train("truncated", data, updates=12, batch_size=8, validation=0.5).summary
    assert split["updates"] == 12
    assert split["epochs"] == math.ceil(12 / math.ceil(split["train_states"] / 8))
    assert split["train_states"] + split["validation_states"] == split["states"] == states


def test_epochs_stand_above_the_updates_of_a_profile(data: RelationalData) -> None:
    assert train("truncated", data, epochs=3).summary["epochs"] == 3
    with pytest.raises(InputError, match="updates and epochs are two ways to say how long to train"):
        train("truncated", data, epochs=3, updates=3)


def test_instances(data: RelationalData) -> None:
    found = [fit(data, "linear", instances=4, seed=seed) for seed in (0, 0, 1)]
    assert [model.summary["instances"] for model in found] == [4, 4, 4]
    assert found[0].summary["states"] < len(data.column("label"))
    assert weights(found[0]) == weights(found[1])
    assert len({model.summary["states"] for model in found}) == 2, "others by another seed"
    assert fit(data, "linear", instances=99).summary["instances"] == len(data.instances)


def test_held_out_data_judge(data: RelationalData, held_out: RelationalData) -> None:
    summary = train("truncated", data, held_out=held_out, epochs=2).summary
    states = len(data.column("label"))
    assert (summary["train_states"], summary["validation_states"]) == (states, len(held_out.column("label")))
    none = fit(data).summary
    assert (none["validation_states"], none["train_states"]) == (0, states)
    assert all(train == judged for _, train, judged in none["curve"]), "without them the training loss judges"
    for wrong, message in (
        (RelationalData(data.words, ()), "no states in the held-out data"),
        (
            RelationalData(replace(data.words, domain="other"), held_out.instances),
            "data of blocksworld-4ops, held-out data of other",
        ),
    ):
        with pytest.raises(InputError, match=message):
            train("truncated", data, held_out=wrong, epochs=1)


@pytest.mark.parametrize("model", ["wl", "linear"])
def test_held_out_instances_have_no_influence(data: RelationalData, model: str) -> None:
    """Not by the regression that wl starts from, either."""
    few = RelationalData(data.words, data.instances[:5])
    # The first step of Adam has the same length whatever the labels are.
    options: dict[str, Any] = {"validation": 0.4, "estimate": "gaussian", "epochs": 3, "keep": "last"}
    plain, unmoved = fit(few, model, **options), 0
    for one in few.instances:
        changed = with_column(few, "label", {one.name: one.columns["label"] + 5})
        unmoved += weights(fit(changed, model, **options)) == weights(plain)
    assert unmoved == 2


def test_one_instance_is_enough(data: RelationalData) -> None:
    one = RelationalData(data.words, data.instances[-1:])
    assert train("truncated", one, updates=3).summary["validation_states"] == 0
    unlabelled = with_column(one, "label", {one.instances[0].name: np.full(len(one.instances[0]), np.nan)})
    for empty in (RelationalData(data.words, ()), unlabelled):
        with pytest.raises(InputError, match="no states to learn from"):
            train("truncated", empty)


# --- profiles and options ---------------------------------------------------------------------------


def profile_of(model: str, profile: str) -> dict[str, Any]:
    """The options that a profile sets for a model."""
    return dict(RECIPES.get("truncated").method("domain").profiles({"model": model}, None)[profile])


@pytest.mark.parametrize("model", ["nlm", "hgn", "linear"])
def test_published_settings(model: str) -> None:
    """Section 6 of the fact sheet, and the two profiles of its section 11."""
    expected = {
        "optimizer": "adamw",
        "schedule": "constant",
        "learning_rate": {"nlm": 1e-2, "hgn": 1e-3, "linear": 1e-2}[model],
        "weight_decay": {"nlm": 1e-2, "hgn": 0.0, "linear": 0.0}[model],
        "batch_size": 256,
        "clip_norm": 0.1,
        "updates": {"nlm": 100_000, "hgn": 40_000, "linear": 40_000}[model],
        "criterion": "mse",
        **({"gain": 1.0} if model == "nlm" else {}),
    }
    for profile in ("as-run", "as-intended"):
        options = profile_of(model, profile)
        assert {name: options[name] for name in expected} == expected
        own = [option for option in options if option not in (*expected, "fixed_sigma")]
        assert own == ["patience"] and options["patience"] >= 100_000


def test_the_number_of_updates_in_the_caption() -> None:
    for model in ("nlm", "hgn", "linear"):
        run, caption = (profile_of(model, profile) for profile in ("as-run", "caption"))
        assert (caption.pop("updates"), caption.pop("instances")) == (10_000, 400)
        del run["updates"]
        assert caption == run


@pytest.mark.parametrize(("profile", "sigma"), [("as-run", math.sqrt(2)), ("as-intended", math.sqrt(0.5))])
def test_a_published_run(data: RelationalData, profile: str, sigma: float) -> None:
    model = train("truncated", data, profile=profile, model="nlm", sigma="fixed", updates=2)
    estimate: Any = model.estimate
    assert (estimate.name, estimate.margin, estimate.floor, estimate.range) == ("truncated", 0.1, 0.1, 10.0)
    assert estimate.sigma == pytest.approx(sigma)
    assert (model.base, model.lower, model.rule) == ("ff", "lmcut", Mean())
    assert model.model_config == {
        "features": 16,
        "depth": 5,
        "breadth": 3,
        "exclude_self": False,
        "residual": False,
        "gain": 1.0,
    }
    # The size of the network for this domain, with one output instead of two.
    assert sum(tensor.size for tensor in model.tensors.values()) == 13_714 - (3 * 16 + 1)
    training = model.recipe_config["training"]
    assert (training["optimizer"], training["clip_norm"], training["batch_size"]) == ("adamw", 0.1, 256)
    assert training["weight_decay"] == training["learning_rate"] == 1e-2


def test_the_default_is_quicker(data: RelationalData) -> None:
    for model in MODELS:
        options = profile_of(model, "default")
        assert options["updates"] <= 3_000 and options["schedule"] == "cosine"
    with pytest.raises(InputError, match=r"unknown profile of truncated 'as-run' \(known: default\)"):
        train("truncated", data, profile="as-run", model="wl")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "hng"}, r"unknown model 'hng' \(known: .*wl.*\); did you mean 'hgn'\?"),
        ({"estimate": "gauss"}, r"unknown estimate 'gauss' .*did you mean 'gaussian'\?"),
        ({"base": "fff"}, r"unknown base 'fff' \(known: none, blind, goalcount, hmax, ff, lmcut\)"),
        ({"lower": "ff"}, r"unknown lower 'ff' \(known: none, blind, hmax, lmcut\)"),
        ({"upper": "ff"}, r"unknown upper 'ff' \(known: none, upper\)"),
        ({"rule": "median"}, r"not a rule: 'median' \(mean, quantile:LEVEL, likely:ALPHA, clip, "),
        ({"rule": "quantile:x"}, "quantile needs a number, as in quantile:0.3, got 'quantile:x'"),
        ({"rule": "quantile:1"}, "level must be a number above 0, below 1, got 1"),
        ({"rule": "clip:clip"}, "not a rule: 'clip:clip'"),
        ({"rule": "bounded:0.5"}, "eps must be a number from 1 on, got 0.5"),
        ({"rule": "bounded:1.5", "lower": "none"}, "the rule 'bounded' needs an admissible bound"),
        ({"rule": "bounded:1.5:quantile:0.3", "estimate": "point"}, "a point estimate has no spread"),
        ({"rule": "clip:order"}, "not a rule: 'clip:order'"),
        ({"rule": "quantile:0.3", "estimate": "point"}, "a point estimate has no spread"),
        ({"rule": "clip:quantile:0.3", "estimate": "point"}, "a point estimate has no spread"),
        ({"sigma": "wide"}, "sigma must be learned, fixed or a number, got 'wide'"),
        ({"sigma": None}, "sigma must be learned, fixed or a number, got 'None'"),
        ({"sigma": "-1"}, "sigma must be a number from 1e-06 on, got -1"),
        ({"sigma": "nan"}, "sigma must be a number from 1e-06 on, got nan"),
        ({"sigma": "1e-9"}, "sigma must be a number from 1e-06 on, got 1e-09"),
        ({"sigma": "fixed", "fixed_sigma": 9e-7}, "sigma must be a number from 1e-06 on, got 9e-07"),
        ({"sigma": "1e-7", "estimate": "laplace"}, "sigma must be a number from 1e-06 on, got 1e-07"),
        ({"fixed_sigma": 0.0}, "fixed_sigma must be a number above 0, got 0"),
        ({"margin": 0.0}, "margin must be a number above 0"),
        ({"updates": 0}, "updates must be a whole number from 1 on, got 0"),
        ({"instances": 1.5}, "instances must be a whole number from 1 on, got 1.5"),
        ({"batch_size": 0}, "batch_size must be a whole number from 1 on, got 0"),
        ({"validation": 1}, r"validation must be a number from 0 on, below 1, got 1"),
        ({"validation": "all"}, r"validation must be a number from 0 on, below 1, got 'all'"),
        ({"ranking": 2}, r"ranking must be a number from 0 on, at most 1, got 2"),
        ({"criterion": "r2"}, "unknown criterion 'r2'"),
        ({"seed": -1}, "seed must be a whole number from 0 on, got -1"),
        ({"learning_rate": -1.0}, "learning_rate must be a number above 0, got -1"),
        ({"device": "abacus"}, "device 'abacus' cannot be used"),
        ({"iterations": 99}, r"iterations must be a whole number from 0 to 20, got 99"),
        ({"least_states": 10_000}, "no feature is in 10000 states"),
        ({"features": 4}, "unknown option of truncated 'features'"),
        ({"model": "wl", "features": 4}, "unknown option of truncated 'features'"),
        ({"model": "hgn", "steps": 0}, "steps must be a whole number from 1 to 1024, got 0"),
        ({"rolls": 4}, "unknown option of truncated 'rolls'"),
    ],
)
def test_wrong_options(data: RelationalData, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train("truncated", data, **options)


# --- ranking ----------------------------------------------------------------------------------------


def in_order(model: TrainedModel[Any], data: RelationalData) -> float:
    """How often the state on the plan is before its siblings and its parent."""
    reader = model.network
    known = KnownColumns(lower=model.lower, base=model.base)
    table = RelationalExamples(data, reader, known, siblings=True, inputs=False).table
    everyone = np.arange(len(table.label))
    raw = reader.raw(model.space.words, table.states(everyone), model.tensors, model.estimate.outputs)
    h = model.rule.value(model.estimate, torch.from_numpy(raw), table.known(everyone, torch.device("cpu")))
    rows, pairs = table.with_rivals(np.flatnonzero(table.labelled))
    better, worse = (h.numpy()[rows[pairs[:, side]]] for side in (0, 1))
    return float(np.mean(better < worse))


@pytest.mark.parametrize("estimate", ["point", "truncated"])
def test_a_pure_ranking_puts_plan_states_first(siblings: RelationalData, estimate: str) -> None:
    options: dict[str, Any] = {"ranking": 1, "estimate": estimate, "hidden": 16}
    options |= {"base": "none", "lower": "none"}
    before = fit(siblings, learning_rate=1e-12, **options)
    after = fit(siblings, learning_rate=1e-2, **{**options, "epochs": 30})
    assert after.recipe_config["training"]["criterion"] == "loss"
    assert in_order(after, siblings) > max(0.9, in_order(before, siblings) + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["hgn", "nlm"])
def test_networks_learn_to_rank(siblings: RelationalData, model: str) -> None:
    few = RelationalData(siblings.words, siblings.instances[::3])
    options: dict[str, Any] = {"ranking": 1, "estimate": "point", "base": "none", "lower": "none"}
    options |= {"batch_size": 16}
    before = fit(few, model, **options, learning_rate=1e-12)
    after = fit(few, model, **{**options, "epochs": 30}, learning_rate=1e-2)
    assert isinstance(after.rule, Order)
    assert in_order(after, few) > max(0.6, in_order(before, few) + 0.15)
    # With the likelihood, and siblings with their bounds.
    mixed = fit(few, model, ranking=0.5)
    assert np.isfinite(on_data(mixed, few)).all()


def test_a_mixture_has_both(siblings: RelationalData) -> None:
    losses = {}
    for share in (0.0, 0.5, 1.0):
        options: dict[str, Any] = {
            "ranking": share,
            "epochs": 1,
            "learning_rate": 1e-12,
            "batch_size": 10_000,
        }
        losses[share] = fit(siblings, estimate="gaussian", **options).summary["curve"][0][1]
    assert losses[0.5] == pytest.approx((losses[0.0] + losses[1.0]) / 2, rel=1e-4)
    assert losses[0.0] != pytest.approx(losses[1.0], rel=0.1)


def test_ranking_needs_siblings(data: RelationalData) -> None:
    with pytest.raises(InputError, match="the data have no siblings, which ranking needs"):
        fit(data, ranking=0.5)


# --- tasks and files of all kinds -------------------------------------------------------------------


def test_tasks_of_other_domains(data: RelationalData, tmp_path: Path) -> None:
    models = [fit(data, model) for model in MODELS]
    ferry = generated(tmp_path, "ferry", locations=2, cars=1, seed=0)
    domain = (tmp_path / "ferry-2-1-0" / "domain.pddl").read_text()
    assert domain.count("(:predicates") == 1
    task = generated(tmp_path, "blocksworld", blocks=3, seed=0)
    assert task.domain_file is not None and task.problem_file is not None
    text = task.domain_file.read_text().replace("(:predicates", "(:predicates (painted ?x)", 1)
    painted = written(tmp_path / "painted", text, task.problem_file.read_text())
    for model in models:
        for other, what in (
            (ferry, "it has the predicate"),
            (painted, "it has the predicate painted with 1"),
        ):
            with pytest.raises(ModelError, match=rf"trained for blocksworld-4ops: .* {what}"):
                hstar.solve(other, model)
    # The other way round: all that the task has is known, but not all that is known is there.
    colourful = labelled([painted])
    for model in (fit(colourful, name) for name in MODELS):
        with pytest.raises(ModelError, match="blocksworld-4ops: it has no predicate painted with 1 arg"):
            hstar.solve(task, model)
        assert hstar.solve(painted, model).solved


@pytest.mark.parametrize("arguments", [3, 4])
@pytest.mark.parametrize("model", MODELS)
def test_constants_types_goals_without_arguments_and_with_many(
    tmp_path: Path, model: str, arguments: int
) -> None:
    task = dinner(tmp_path / "small", "fig", "kiwi", arguments=arguments)
    data = labelled([task])
    words = data.words
    assert (max(arity for _, arity in words.predicates), words.constants) == (arguments, ("stove",))
    assert data.instances[0].relations.goal == {("fed",)}
    if model == "nlm" and arguments == 4:
        message = "predicate mixed of kitchen has 4 arguments, and nlm reads at most 3; use another model"
        with pytest.raises(UnsupportedError, match=message):
            fit(data, model)
        return
    larger = dinner(tmp_path / "larger", "fig", "kiwi", "lemon", arguments=arguments)
    learned = fit(data, model)
    same(learned, larger, with_goal(larger, reachable(larger, 20)))
    assert hstar.solve(larger, learned).solved


@pytest.mark.parametrize("model", MODELS)
def test_goals_that_hold_already_and_goals_that_cannot(tmp_path: Path, model: str) -> None:
    domain = (DATA / "unsolvable" / "domain.pddl").read_text()
    problem = (DATA / "unsolvable" / "problem.pddl").read_text()
    goal = "(:goal (and (warm oven) (warm stove)))"
    assert goal in problem
    one = written(tmp_path / "one", domain, problem.replace(goal, "(:goal (and (warm oven)))"))
    both = written(tmp_path / "both", domain, problem)
    done = problem.replace(goal, "(:goal (and (cold oven)))").replace("(match)", "")
    none = written(tmp_path / "none", domain, done)
    learned = fit(labelled([one]), model)
    assert hstar.solve(one, learned).plan_length == 1
    assert hstar.solve(both, learned).status == "unsolvable"
    already = hstar.solve(none, learned)
    assert already.solved and already.plan == ()
    # There is nothing to do, but something could be done.
    true = problem.replace(goal, "(:goal (and (cold oven)))")
    open_ = written(tmp_path / "open", domain, true)
    assert open_.core.num_operators and not none.core.num_operators
    for search in ("gbfs", "astar"):
        found = hstar.solve(open_, learned, search)
        assert found.solved and found.plan == () and found.initial_h == 0
    with pytest.raises(NoLabelError, match="the goal holds from the start"):
        labelled([open_])


def test_files_of_an_older_format(data: RelationalData, tmp_path: Path) -> None:
    path = tmp_path / "old"
    relational.save(path, data)
    container.write(path, "relational dataset", 1, *container.read(path, "relational dataset", 2))
    with pytest.raises(InputError, match="relational dataset of the old format 1, this hstar reads 2"):
        relational.load(path)
    fit(data).save(path)
    container.write(path, "domain model", 1, *container.read(path, "model", 2))
    with pytest.raises(ModelError, match="domain model of the old format 1, this hstar reads 2"):
        load_model(path)


def test_data_without_the_columns(data: RelationalData) -> None:
    poor = RelationalData(
        data.words,
        tuple(replace(one, columns={"label": one.columns["label"]}) for one in data.instances),
    )
    for options, missing in (({}, "lmcut"), ({"lower": "none"}, "ff")):
        with pytest.raises(InputError, match=f"the data have no column {missing}; label the problems anew"):
            fit(poor, **options)
    fit(poor, base="none", lower="none")


@pytest.mark.parametrize("model", MODELS)
def test_damaged_weights(
    data: RelationalData, larger: tuple[hstar.Task, States], model: str, tmp_path: Path
) -> None:
    learned, (task, _) = fit(data, model), larger
    name = next(name for name in learned.tensors if "bias" in name)
    tensors = dict(learned.tensors)
    with pytest.raises(ModelError, match="are not all finite"):
        replace(learned, tensors={**tensors, name: np.full_like(tensors[name], np.nan)})
    less = {other: tensor for other, tensor in tensors.items() if other != name}
    for wrong in (less, {**tensors, "further": np.zeros(2)}):
        with pytest.raises(ModelError) as error:
            replace(learned, tensors=wrong).build(task)
        assert "\n" not in str(error.value)
    path = tmp_path / "model.hstar"
    learned.save(path)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ModelError, match="damaged"):
        load_model(path)
    with pytest.raises(ModelError, match="not options of the model"):
        replace(learned, model_config={"rounds": 1})
