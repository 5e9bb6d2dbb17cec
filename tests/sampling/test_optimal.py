"""Labels along optimal plans, and the files they are kept in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar import container
from hstar.errors import InputError
from hstar.generators import GENERATORS
from hstar.sampling import optimal, relational
from hstar.sampling.exact import exact_distances
from hstar.sampling.optimal import COLUMNS, UPPER, NoLabelError, Optimal
from hstar.sampling.relational import RelationalData, instance_of, merge
from hstar.spaces.lifted import GroundAtom
from hstar.spaces.relations import Vocabulary, relations, vocabulary
from hstar.spaces.task import Task
from labelled import islands

DATA = Path(__file__).parents[1] / "data"


def generated(folder: Path, generator: str, **sizes: int) -> Task:
    folder.mkdir(parents=True, exist_ok=True)
    texts = GENERATORS.get(generator)(**sizes)
    for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
        (folder / name).write_text(text)
    return hstar.load(folder / "domain.pddl", folder / "problem.pddl", unit_cost=True)


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return generated(tmp_path_factory.mktemp("ferry"), "ferry", locations=3, cars=2, seed=1)


@pytest.fixture(scope="module")
def data(ferry: Task, tmp_path_factory: pytest.TempPathFactory) -> RelationalData:
    words = vocabulary(ferry)
    other = generated(tmp_path_factory.mktemp("other"), "ferry", locations=2, cars=3, seed=2)
    label = Optimal(time_limit=60).label
    return RelationalData(words, (label(ferry, words, "one"), label(other, words, "two")))


def distances(task: Task, words: Vocabulary) -> dict[frozenset[GroundAtom], float]:
    """h* of every state that can be reached, by its atoms."""
    states, h = exact_distances(task)
    found = instance_of("all", task, words, states, {"label": h.astype(np.float32)})
    return {found.state(row): float(h[row]) for row in range(len(found))}


def test_processor_time_is_limited_where_asked(
    ferry: Task, data: RelationalData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the optimal plan and for the greedy ones."""
    seen: list[set[str]] = []

    def solve(*given: Any, **options: Any) -> Any:
        seen.append(set(options) & {"time_limit", "cpu_time_limit"})
        return hstar.solve(*given, **options)

    monkeypatch.setattr("hstar.sampling.optimal.solve", solve)
    for cpu, name in ((False, "time_limit"), (True, "cpu_time_limit")):
        seen.clear()
        Optimal(time_limit=60, upper=True, cpu=cpu).label(ferry, data.words, "one")
        assert len(seen) > 1
        assert all(options == {name} for options in seen)


def test_labels_are_exact(ferry: Task, data: RelationalData) -> None:
    instance = data.instances[0]
    h = distances(ferry, data.words)
    assert len(h) > 5 * len(instance)
    assert set(instance.columns) == set(COLUMNS)
    label = instance.columns["label"]
    assert label.tolist() == list(range(len(instance) - 1, -1, -1))
    assert label.tolist() == [h[instance.state(row)] for row in range(len(instance))]
    for name in ("blind", "hmax", "lmcut"):
        assert (instance.columns[name] <= label).all()
    assert instance.columns["ff"][0] > 0
    assert (instance.columns["goalcount"] > 0).tolist() == [True] * (len(instance) - 1) + [False]
    assert instance.columns["deletes"][0] >= instance.columns["operators"][0] > 0
    assert instance.columns["operators"][-1] == instance.columns["deletes"][-1] == 0


def test_states_are_those_of_the_plan(ferry: Task, data: RelationalData) -> None:
    instance = data.instances[0]
    first, last = instance.state(0), instance.state(len(instance) - 1)
    assert first == ferry.lifted.problem.init  # static atoms are there, too
    assert set(ferry.lifted.goal_atoms) <= last
    assert not set(ferry.lifted.goal_atoms) <= first
    assert instance.relations == relations(ferry, data.words, operators=True).relations


def test_operators_are_those_of_the_pddl(ferry: Task, data: RelationalData) -> None:
    found = data.instances[0].relations
    named = [tuple([found.atoms[i] for i in part] for part in operator) for operator in found.operators]
    # Static conditions (a location, two of them different) are left out, and so is all that is deleted.
    assert ([("at-ferry", "l0")], [("at-ferry", "l1")]) in named
    assert ([("at", "c0", "l1"), ("at-ferry", "l1"), ("empty-ferry",)], [("on", "c0")]) in named
    assert ([("at-ferry", "l2"), ("on", "c1")], [("at", "c1", "l2"), ("empty-ferry",)]) in named
    assert len(named) == 3 * 2 + 2 * 3 * 2


def test_siblings(ferry: Task, data: RelationalData) -> None:
    plain = data.instances[0]
    instance = Optimal(siblings=True).label(ferry, data.words, "one")
    rows, length = len(instance), len(plain)
    assert instance.labelled.tolist() == [True] * length + [False] * (rows - length)
    parent = instance.columns["parent"]
    assert np.isnan(parent[0])
    assert parent[1:length].tolist() == list(range(length - 1))
    for row in range(length, rows):
        above = int(parent[row])
        assert instance.state(row) != instance.state(above + 1)
        assert 0 < len(instance.state(row) ^ instance.state(above)) <= 4  # one operator apart
    pairs = {(instance.state(row), parent[row]) for row in range(length, rows)}
    assert len(pairs) == rows - length > length
    with_labels = instance.with_labels()
    assert with_labels.ends.tolist() == plain.ends.tolist()
    assert with_labels.atoms.tolist() == plain.atoms.tolist()
    assert all(
        np.array_equal(with_labels.columns[name], plain.columns[name], equal_nan=True) for name in COLUMNS
    )


def test_upper_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = generated(tmp_path, "blocksworld", blocks=5, seed=6)
    words = vocabulary(task)
    instance = Optimal(siblings=True, upper=True).label(task, words)
    upper, h = instance.columns[UPPER], distances(task, words)
    assert set(instance.columns) == {*COLUMNS, UPPER}
    exact = np.array([h[instance.state(row)] for row in range(len(instance))])
    assert (upper >= exact).all(), "siblings, too"
    assert (upper[exact == 0] == 0).all() and (upper > exact).any()
    monkeypatch.setattr(optimal, "GREEDY_EVALUATIONS", 9)
    few = Optimal(siblings=True, upper=True).label(task, words).columns[UPPER]
    found = ~np.isnan(few)
    assert found[exact == 0].all() and found.sum() > 1 and not found[exact > 9].any()
    assert (few[found] >= exact[found]).all()
    states = np.array([task.core.initial_state] * 2, dtype=np.int32)
    assert np.isnan(optimal.greedy_costs(task, states, Optimal(time_limit=0.0))).all()


def test_no_upper_bound_of_a_dead_end(tmp_path: Path) -> None:
    task = islands(tmp_path, "a")
    instance = Optimal(siblings=True, upper=True).label(task, vocabulary(task))
    dead = np.array([("at", "island") in instance.state(row) for row in range(len(instance))])
    assert dead.any() and np.array_equal(np.isnan(instance.columns[UPPER]), dead)


def test_ctrl_c(ferry: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a problem that has no plan."""
    interrupted = replace(hstar.solve(ferry, "ff"), status="interrupted", plan=None, plan_cost=None)
    monkeypatch.setattr(optimal, "solve", lambda *_, **__: interrupted)
    with pytest.raises(KeyboardInterrupt):
        Optimal().label(ferry, vocabulary(ferry))
    with pytest.raises(KeyboardInterrupt):
        optimal.greedy_costs(ferry, np.array([ferry.core.initial_state], dtype=np.int32), Optimal())


def test_what_gets_no_label(tmp_path: Path) -> None:
    words = {}
    for name in ("unsolvable", "blocks"):
        task = hstar.load(DATA / name / "domain.pddl", DATA / name / "problem.pddl", unit_cost=True)
        words[name] = vocabulary(task)
        if name == "unsolvable":
            with pytest.raises(NoLabelError, match="no optimal plan: unsolvable"):
                Optimal().label(task, words[name])
        else:
            with pytest.raises(NoLabelError, match="no optimal plan: time limit"):
                Optimal(time_limit=0.0).label(task, words[name])
            tower = [*task.lifted.goal_atoms, "ontable(a)", "clear(d)", "handempty()"]
            with pytest.raises(NoLabelError, match="the goal holds from the start"):
                Optimal().label(task.with_initial_state(tower), words[name])
            with pytest.raises(InputError, match="of another domain"):
                Optimal().label(task, words["unsolvable"])


def test_costs_are_not_steps() -> None:
    task = hstar.load(DATA / "costs" / "domain.pddl", DATA / "costs" / "problem.pddl")
    with pytest.raises(InputError, match="unit_cost=True"):
        Optimal().label(task, vocabulary(task))


# --- files ------------------------------------------------------------------------------------------


def test_saved_and_loaded(data: RelationalData, tmp_path: Path) -> None:
    relational.save(tmp_path / "data", data)
    again = relational.load(tmp_path / "data")
    assert again.words == data.words
    for one, two in zip(again.instances, data.instances, strict=True):
        assert (one.name, one.relations) == (two.name, two.relations)
        assert [one.state(i) for i in range(len(one))] == [two.state(i) for i in range(len(two))]
        assert all(np.array_equal(one.columns[name], two.columns[name], equal_nan=True) for name in COLUMNS)
    relational.save(tmp_path / "again", again)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "data").read_bytes()


def test_merged(data: RelationalData, ferry: Task) -> None:
    one, two = (RelationalData(data.words, (instance,)) for instance in data.instances)
    whole = merge([one, two])
    assert (whole.column("label") == data.column("label")).all()
    with pytest.raises(InputError, match="one name"):
        merge([one, one])
    with pytest.raises(InputError, match="no data"):
        merge([])
    blocks = hstar.load(DATA / "blocks" / "domain.pddl", DATA / "blocks" / "problem.pddl", unit_cost=True)
    other = Optimal().label(blocks, vocabulary(blocks))
    with pytest.raises(InputError, match="different domains"):
        merge([one, RelationalData(vocabulary(blocks), (other,))])


def test_damaged_files(data: RelationalData, tmp_path: Path) -> None:
    path = tmp_path / "data"
    relational.save(path, data)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    with pytest.raises(InputError, match="not a relational dataset of hstar, or damaged"):
        relational.load(path)


@pytest.mark.parametrize("what", ["states", "columns", "atoms"])
def test_files_that_contradict_themselves(data: RelationalData, tmp_path: Path, what: str) -> None:
    path = tmp_path / "data"
    relational.save(path, data)
    header, tensors = container.read(path, "relational dataset", relational.FORMAT_VERSION)
    if what == "states":
        header["instances"][0]["states"] = 10_000
    elif what == "columns":
        header["columns"].append("absent")
    else:
        tensors["atoms"] = tensors["atoms"] + np.int32(1000)
    container.write(path, "relational dataset", relational.FORMAT_VERSION, header, tensors)
    with pytest.raises(InputError, match="damaged relational dataset"):
        relational.load(path)
