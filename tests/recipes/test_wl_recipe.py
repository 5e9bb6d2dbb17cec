"""A heuristic for a domain: learned from small tasks, better than symbolic ones on larger ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar import container
from hstar.errors import InputError, ModelError
from hstar.generators import GENERATORS
from hstar.generators.splits import GRIDS
from hstar.models.ridge import RIDGES
from hstar.models.trained_model import TrainedModel, load_model
from hstar.models.wl import WLConfig, WLFeatures
from hstar.recipes import train
from hstar.recipes.wl import _worse_and_better
from hstar.sampling import relational
from hstar.sampling.optimal import Optimal, optimal_states
from hstar.sampling.relational import RelationalData, instance_of
from hstar.spaces.relations import vocabulary

DATA = Path(__file__).parents[1] / "data"


def generated(folder: Path, blocks: int, seed: int) -> hstar.Task:
    home = folder / f"{blocks}-{seed}"
    home.mkdir()
    texts = GENERATORS.get("blocksworld")(blocks=blocks, seed=seed)
    for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
        (home / name).write_text(text)
    return hstar.load(home / "domain.pddl", home / "problem.pddl", unit_cost=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> RelationalData:
    folder = tmp_path_factory.mktemp("train")
    tasks = [generated(folder, blocks, seed) for blocks in (3, 4, 5, 6) for seed in (0, 1, 2)]
    words = vocabulary(tasks[0])
    instances = [Optimal().label(task, words, f"p{i}") for i, task in enumerate(tasks)]
    return RelationalData(words, tuple(instances))


@pytest.fixture(scope="module")
def model(data: RelationalData) -> TrainedModel[Any]:
    return train("wl", data)


def test_larger_tasks_take_fewer_evaluations_than_with_ff(model: TrainedModel[Any], tmp_path: Path) -> None:
    learned = ff = 0
    for seed in (900, 901, 902):
        task = generated(tmp_path, 12, seed)
        found = hstar.solve(task, model)
        assert found.solved
        learned += found.evaluated
        ff += hstar.solve(task, "ff", max_evaluations=100_000).evaluated
    assert learned < ff / 2


def test_the_same_data_give_the_same_model(data: RelationalData, model: TrainedModel[Any]) -> None:
    again = train("wl", data)
    assert set(again.tensors) == set(model.tensors) == {"colours", "weights.0", "bias.0"}
    assert all((again.tensors[name] == model.tensors[name]).all() for name in model.tensors)
    assert model.summary["states"] == len(data.column("label"))
    assert 0 < model.summary["mse"] < model.summary["held_out_mse"] < 20


def test_saved_and_loaded(model: TrainedModel[Any], tmp_path: Path) -> None:
    path = tmp_path / "model.hstar"
    model.save(path)
    again = load_model(path)
    assert isinstance(again, TrainedModel)
    task = generated(tmp_path, 6, 77)
    state = np.array([task.core.initial_state], dtype=np.int32)
    assert again.build(task).evaluate(state) == model.build(task).evaluate(state)
    assert (again.space, again.model_config) == (model.space, model.model_config)
    assert (again.estimate, again.rule, again.summary) == (model.estimate, model.rule, dict(model.summary))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_files_that_are_no_model(model: TrainedModel[Any], tmp_path: Path) -> None:
    path = tmp_path / "model.hstar"
    model.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(ModelError, match="damaged"):
        load_model(path)
    path.write_text("nothing of the kind")
    with pytest.raises(ModelError):
        load_model(path)
    with pytest.raises(ModelError, match="No such file"):
        load_model(tmp_path / "absent")
    model.save(path)
    header, tensors = container.read(path, "model", 2)
    changes = [
        {"model_config": {"iterations": 99}},
        {"model_config": {"rounds": 1}},
        {"model": "lw"},
        {"space": {"kind": "domain"}},
        {"estimate": {"name": "gaussian", "sigma": -1}},
        {"rule": {"name": "median"}},
        {"base": 7},
    ]
    for change in changes:
        container.write(path, "model", 2, {**header, **change}, tensors)
        with pytest.raises(ModelError, match="damaged model"):
            load_model(path)
    task = generated(tmp_path, 4, 5)
    for change in (
        {"weights.0": tensors["weights.0"][:, :-1]},
        {"bias.0": np.zeros(3)},
        {"further": np.zeros(1)},
    ):
        container.write(path, "model", 2, header, {**tensors, **change})
        with pytest.raises(ModelError):
            load_model(path).build(task)
    with pytest.raises(ModelError, match="not all finite"):
        replace(model, tensors={**model.tensors, "bias.0": np.array([np.nan])})


def test_a_task_of_another_domain(model: TrainedModel[Any]) -> None:
    task = hstar.load(DATA / "costs" / "domain.pddl", DATA / "costs" / "problem.pddl")
    with pytest.raises(ModelError, match="trained for blocksworld-4ops"):
        hstar.solve(task, model)


def test_options(data: RelationalData) -> None:
    assert train("wl", data, ridge=0.5).summary["ridge"] == 0.5
    few = train("wl", data, iterations=1).summary["features"]
    assert few < train("wl", data, iterations=2, multiset=True).summary["features"]
    for wrong in ({"ridge": 0}, {"validation": 1.0}, {"iterations": -1}):
        with pytest.raises(InputError):
            train("wl", data, **wrong)
    with pytest.raises(InputError, match="unknown option of wl 'ridges'"):
        train("wl", data, ridges=1)


def test_one_instance_is_enough(data: RelationalData) -> None:
    one = train("wl", RelationalData(data.words, data.instances[-1:]), least_states=1)
    assert one.summary["held_out_mse"] is None
    with pytest.raises(InputError, match="no states to learn from"):
        train("wl", RelationalData(data.words, ()))


# --- siblings ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_siblings(tmp_path_factory: pytest.TempPathFactory) -> RelationalData:
    folder = tmp_path_factory.mktemp("siblings")
    tasks = [generated(folder, blocks, seed) for blocks in (3, 4, 5) for seed in (10, 11)]
    words = vocabulary(tasks[0])
    labels = Optimal(siblings=True)
    return RelationalData(words, tuple(labels.label(task, words, f"p{i}") for i, task in enumerate(tasks)))


def test_bounds_of_siblings_are_bounds(tmp_path: Path) -> None:
    """Every sibling is solved: its h* is not below what it is learned from, and sometimes just that."""
    exact = 0
    for seed in (10, 11):
        task = generated(tmp_path, 5, seed)
        found = Optimal(siblings=True).label(task, vocabulary(task))
        states = [set(found.state(i)) for i in range(len(found))]
        least = found.least()
        plan = optimal_states(task, Optimal())
        successors = {
            tuple(task.core.successor(state, i))
            for state in plan
            for i in task.core.applicable_operators(state)
        }
        h_star = {}
        for state in successors:
            start = replace(task, core=task.core.with_initial_state(list(state)))
            atoms = instance_of(
                "one",
                task,
                vocabulary(task),
                np.array([state], dtype=np.int32),
                {"label": np.zeros(1, dtype=np.float32)},
            )
            h_star[atoms.state(0)] = hstar.solve(start, "blind", "astar").plan_cost
        for i in np.flatnonzero(~found.labelled):
            true = h_star[frozenset(states[i])]
            assert true is not None
            assert least[i] <= true
            exact += least[i] == true
    assert exact > 0


def test_bounds_of_siblings_are_kept_where_they_can_be(with_siblings: RelationalData) -> None:
    """Learned from them, fewer siblings seem nearer to the goal than the state of the plan beside them."""

    def short(model: TrainedModel[Any]) -> float:
        features = WLFeatures(model.space.words, WLConfig(**model.model_config), model.tensors["colours"])
        total = 0.0
        for one in with_siblings.instances:
            value = features.count(one).dense() @ model.tensors["weights.0"][0] + model.tensors["bias.0"][0]
            total += float(np.sum(np.maximum(one.least() - value, 0)[~one.labelled] ** 2))
        return total

    options = {"iterations": 1, "ridge": 0.1}
    learned = train("wl", with_siblings, **options)
    without = train("wl", with_siblings, siblings=False, **options)
    assert learned.summary["siblings"] == np.isnan(with_siblings.column("label")).sum()
    assert without.summary["siblings"] == 0
    assert without.summary["states"] == learned.summary["states"]
    assert without.summary["mse"] < learned.summary["mse"]
    assert short(learned) < short(without) / 2


def test_without_siblings_it_is_the_regression_of_labels(with_siblings: RelationalData) -> None:
    plain = train("wl", with_siblings.with_labels())
    ignored = train("wl", with_siblings, siblings=False)
    assert all((plain.tensors[name] == ignored.tensors[name]).all() for name in plain.tensors)


def test_dead_ends_teach_nothing(with_siblings: RelationalData) -> None:
    """Their bound is infinite."""
    first = with_siblings.instances[0]
    endless = np.where(first.labelled, first.columns["lmcut"], np.inf).astype(np.float32)
    changed = replace(first, columns={**first.columns, "lmcut": endless})
    model = train("wl", RelationalData(with_siblings.words, (changed,)), least_states=1)
    assert model.summary["siblings"] == 0
    assert np.isfinite(model.tensors["weights.0"]).all()


# --- data that come with hstar, and what is chosen ---------------------------------------------------


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_shipped_data(name: str) -> None:
    """Every one can be read, has labels, siblings and operators, and gives a heuristic."""
    found = relational.load(name)
    assert len(found.instances) == 40
    assert found.labelled.any()
    assert not found.labelled.all()
    assert all(instance.relations.operators for instance in found.instances)
    lower, label = found.column("lmcut"), found.column("label")
    assert (lower[found.labelled] <= label[found.labelled]).all()
    summary = train("wl", found).summary
    assert summary["held_out_mse"] < 3
    assert summary["iterations"] in (1, 2, 3)


def test_shipped_data_are_small() -> None:
    assert sum(path.stat().st_size for path in relational.shipped().values()) < 3_000_000
    with pytest.raises(InputError, match="nor data that come with hstar"):
        relational.load("grippers")


def test_rounds_and_ridge_are_those_that_fit_the_largest_best(data: RelationalData) -> None:
    chosen = train("wl", data).summary
    errors = {
        (rounds, ridge): train("wl", data, iterations=rounds, ridge=ridge).summary["held_out_mse"]
        for rounds in (1, 2, 3)
        for ridge in RIDGES
    }
    assert chosen["held_out_mse"] == pytest.approx(min(errors.values()))
    assert errors[chosen["iterations"], chosen["ridge"]] == chosen["held_out_mse"]


def test_the_largest_are_held_out(data: RelationalData) -> None:
    smaller, largest = data.only(~data.largest(0.25)), data.only(data.largest(0.25))
    assert len(largest.instances) == 3
    assert len(smaller.instances) == 9
    objects = [len(one.relations.objects) for one in data.instances]
    assert sorted(len(one.relations.objects) for one in largest.instances) == sorted(objects)[-3:]
    given = train("wl", smaller, held_out=largest, iterations=1, ridge=1.0).summary
    assert given["held_out_mse"] == train("wl", data, iterations=1, ridge=1.0).summary["held_out_mse"]


def test_a_plan_ranks_before_its_past_and_before_siblings(tmp_path: Path) -> None:
    task = generated(tmp_path, 4, 1)
    instance = Optimal(siblings=True).label(task, vocabulary(task))
    label, parent = instance.columns["label"], instance.columns["parent"]
    worse, better = _worse_and_better(instance, siblings=True)
    assert len(worse) == (~np.isnan(parent)).sum()
    for bad, good in zip(worse.tolist(), better.tolist(), strict=True):
        if np.isnan(label[bad]):
            assert parent[bad] == parent[good]
        else:
            assert label[bad] == label[good] + 1 and parent[good] == bad
    on_plan, _ = _worse_and_better(instance, siblings=False)
    assert on_plan.tolist() == list(range(int(label[0])))


def test_ranking_guides_greedy_search_on_larger_tasks(tmp_path: Path) -> None:
    folder = tmp_path / "train"
    folder.mkdir()
    tasks = [generated(folder, blocks, seed) for blocks in (3, 4, 5, 6) for seed in (0, 1, 2)]
    words = vocabulary(tasks[0])
    instances = [Optimal(siblings=True).label(task, words, f"p{i}") for i, task in enumerate(tasks)]
    model = train("wl", RelationalData(words, tuple(instances)), objective="ranking")
    assert model.summary["ranked_right"] > 0.9
    assert model.rule.name == "order"
    path = tmp_path / "m.hstar"
    model.save(path)
    task = generated(tmp_path, 12, 900)
    found = hstar.solve(task, load_model(path), search="gbfs")
    assert found.solved
    assert found.evaluated < hstar.solve(task, "ff", search="gbfs", max_evaluations=100_000).evaluated


def test_ranking_needs_the_parents_of_states(data: RelationalData) -> None:
    bare = [
        replace(one, columns={k: v for k, v in one.columns.items() if k != "parent"})
        for one in data.instances
    ]
    with pytest.raises(InputError, match="needs the column 'parent'"):
        train("wl", RelationalData(data.words, tuple(bare)), objective="ranking")


@pytest.mark.parametrize("objective", ["gpr", "svr"])
def test_published_regressions_guide_greedy_search_too(
    data: RelationalData, objective: str, tmp_path: Path
) -> None:
    model = train("wl", data, objective=objective)
    assert model.rule.name == "mean" and model.summary["ridge"] > 0
    assert 0 < model.summary["mse"] < model.summary["held_out_mse"] < 20
    task = generated(tmp_path, 12, 900)
    found = hstar.solve(task, model)
    assert found.solved
    assert found.evaluated < hstar.solve(task, "ff", max_evaluations=100_000).evaluated
