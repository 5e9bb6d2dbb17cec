"""Examples of a domain: batches, pairs of states to rank, splits and the identity of the data."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hstar
from hstar.errors import InputError
from hstar.estimates.estimate import Batch
from hstar.models import MODELS
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.training.examples import KnownColumns, RelationalExamples
from labelled import generated, islands, labelled

CPU = torch.device("cpu")
KNOWN = KnownColumns(lower="lmcut", base="ff")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[hstar.Task]:
    folder = tmp_path_factory.mktemp("blocks")
    return [generated(folder, "blocksworld", blocks=4, seed=seed) for seed in range(4)]


@pytest.fixture(scope="module")
def data(tasks: list[hstar.Task]) -> RelationalData:
    return labelled(tasks, siblings=True)


def examples(data: RelationalData, model: str = "linear", **options: Any) -> RelationalExamples:
    return RelationalExamples(data, MODELS.get(model)(), KNOWN, **options)


# --- pairs ------------------------------------------------------------------------------------------


def test_pairs_are_the_state_on_the_plan_with_its_siblings_and_its_parent(
    tasks: list[hstar.Task], data: RelationalData
) -> None:
    """Against the successors of each state of the plan, as atoms."""
    found = examples(data, siblings=True)
    _, batch = found.batch(np.arange(len(found)), CPU)
    rows, pairs = found.table.with_rivals(found.rows)
    assert batch.pairs is not None and np.array_equal(batch.pairs.numpy(), pairs)
    owner, first = found.table.instance, np.cumsum([0, *(len(one) for one in data.instances)])

    def told(place: int) -> tuple[int, frozenset[Any]]:
        number = int(owner[rows[place]])
        return number, data.instances[number].state(int(rows[place] - first[number]))

    seen = Counter((*told(better), *told(worse)) for better, worse in pairs.tolist())
    expected = []
    for number, (task, instance) in enumerate(zip(tasks, data.instances, strict=True)):
        plan = [instance.state(int(row)) for row in np.flatnonzero(instance.labelled)]
        state = task.core.initial_state
        for parent, better in itertools.pairwise(plan):
            successors = [task.core.successor(state, i) for i in task.core.applicable_operators(state)]
            readable = {atoms_of(task, instance, one): one for one in successors}
            assert better in readable
            expected += [(number, better, number, worse) for worse in readable if worse != better]
            expected.append((number, better, number, parent))
            state = readable[better]
    assert seen == Counter(expected)


def atoms_of(task: hstar.Task, instance: RelationalInstance, state: list[int]) -> frozenset[Any]:
    """A state as the atoms that hold, with those that hold always."""
    told = {atom for facts in task.atoms for atom in facts if atom is not None}
    always = frozenset.intersection(*(instance.state(row) for row in range(len(instance)))) - told
    held = {task.atoms[variable][value] for variable, value in enumerate(state)}
    return always | frozenset(atom for atom in held if atom is not None)


def test_rows_of_a_batch_with_siblings(data: RelationalData) -> None:
    """Those asked for come first, in their order; what is known is known of all."""
    found = examples(data, siblings=True)
    indices = np.array([5, 1, 0, 9])
    inputs, batch = found.batch(indices, CPU)
    assert batch.label.tolist() == found.label[indices].tolist()
    assert batch.pairs is not None and batch.known.base is not None and batch.known.lower is not None
    assert len(inputs) == len(batch.known.base) == len(batch.known.lower) == len(indices) + len(batch.pairs)
    assert np.array_equal(batch.known.base[:4].numpy(), found.column("ff")[indices])
    assert batch.pairs[:, 0].max() < 4 <= batch.pairs[:, 1].min()
    assert 2 not in batch.pairs[:, 0], "the first state of a plan has no parent"
    assert batch.known.first(4).lower is not None and batch.known.first(4).upper is None
    _, plain = examples(data).batch(indices, CPU)
    assert plain.pairs is None and plain.known.base is not None and len(plain.known.base) == 4


def test_first_states_alone_give_no_pairs(data: RelationalData) -> None:
    found = examples(data, siblings=True)
    inputs, batch = found.batch(np.array([0]), CPU)
    assert batch.pairs is not None and batch.pairs.shape == (0, 2) and len(inputs) == 1


@pytest.mark.parametrize(("known", "left"), [(KNOWN, 0), (KnownColumns(), 1)])
def test_dead_ends_are_left_out_where_a_heuristic_tells_them(
    tmp_path: Path, known: KnownColumns, left: int
) -> None:
    task = islands(tmp_path, "a")
    data = labelled([task], siblings=True)
    (instance,) = data.instances
    dead = [row for row in range(len(instance)) if ("at", "island") in instance.state(row)]
    assert len(dead) == 1 and np.isinf(instance.columns["ff"][dead]).all()
    found = RelationalExamples(
        data,
        MODELS.get("wl")().fitted(data, data.column("label").astype(np.float64)),
        known,
        siblings=True,
    )
    rows, pairs = found.table.with_rivals(found.rows)
    assert sum(int(rows[worse]) in dead for _, worse in pairs) == left
    assert len(pairs) == left + 3, "twice the parent, once the way back"


def test_no_upper_bound_is_no_dead_end(tmp_path: Path) -> None:
    """What has no plan in time is compared all the same, and the bound of a batch says that there is none."""
    data = labelled([islands(tmp_path, "a")], siblings=True, upper=True)
    (instance,) = data.instances
    missing = np.full(len(instance), np.nan, dtype=np.float32)
    none = RelationalData(data.words, (replace(instance, columns={**instance.columns, "upper": missing}),))
    for known, pairs in ((KnownColumns(upper="upper"), 4), (KnownColumns("lmcut", "upper", "ff"), 3)):
        for given in (data, none):
            reader = MODELS.get("wl")().fitted(given, given.column("label").astype(np.float64))
            found = RelationalExamples(given, reader, known, siblings=True)
            _, batch = found.batch(np.arange(len(found)), CPU)
            assert batch.pairs is not None and len(batch.pairs) == pairs
            assert batch.known.upper is not None
            assert bool(batch.known.upper[: len(found)].isnan().all()) == (given is none)


def test_a_model_of_dead_ends_warns_nobody(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """The linear model has no numbers for them, and needs none."""
    data = labelled([islands(tmp_path, "a")], siblings=True)
    found = RelationalExamples(data, MODELS.get("linear")(), KnownColumns(), siblings=True)
    inputs, batch = found.batch(np.arange(len(found)), CPU)
    assert torch.isfinite(inputs).all() and batch.pairs is not None and len(batch.pairs) == 3
    assert not recwarn.list


def test_ranking_needs_siblings(tasks: list[hstar.Task], data: RelationalData) -> None:
    with pytest.raises(InputError, match="the data have no siblings, which ranking needs; label with"):
        examples(data.with_labels(), siblings=True)
    assert len(examples(data.with_labels())) == len(examples(data, siblings=True))


# --- states -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["hgn", "wl"])
def test_states_are_those_of_the_data(data: RelationalData, model: str) -> None:
    reader = MODELS.get(model)()
    if model == "wl":
        reader = reader.fitted(data, data.column("label").astype(np.float64))
    found = RelationalExamples(data, reader, KNOWN)
    order = np.random.default_rng(0).permutation(len(found))
    states = found.states(order)
    assert len(states) == len(order) and (np.diff(states.state) >= 0).all()
    plans = [(one, row) for one in data.instances for row in np.flatnonzero(one.labelled)]
    for place, index in enumerate(order):
        instance, row = plans[index]
        held = {instance.relations.atoms[atom] for atom in states.atom[states.state == place]}
        assert held == instance.state(int(row))


def test_a_matrix_is_made_once_and_is_the_same(data: RelationalData) -> None:
    found, unread = examples(data), examples(data, inputs=False)
    indices = np.array([7, 2, 2])
    inputs, batch = found.batch(indices, CPU)
    again, _ = unread.batch(indices, CPU)
    assert torch.equal(inputs, again) and torch.equal(inputs[1], inputs[2])
    known: Batch = unread.known_batch(indices, CPU)
    assert torch.equal(known.label, batch.label) and known.known.base is not None


def test_missing_columns(data: RelationalData) -> None:
    poor = tuple(
        replace(one, columns={name: one.columns[name] for name in ("label", "parent", "ff")})
        for one in data.instances
    )
    for columns, missing in ((KNOWN, "lmcut"), (KnownColumns(base="ff"), "goalcount")):
        with pytest.raises(InputError, match=f"the data have no column {missing}; label the problems anew"):
            RelationalExamples(RelationalData(data.words, poor), MODELS.get("linear")(), columns)
    with pytest.raises(InputError, match="the data have no column upper; label the problems anew with --upp"):
        RelationalExamples(data, MODELS.get("linear")(), KnownColumns(upper="upper"))


# --- splits and identity ----------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "held_out"), [(0.0, 0), (0.01, 1), (0.5, 2), (0.99, 3)])
def test_instances_are_split_as_a_whole(data: RelationalData, share: float, held_out: int) -> None:
    found = examples(data)
    rest, others = found.split(share, 3)
    assert (len(rest.instances), len(others.instances)) == (4 - held_out, held_out)
    assert not set(rest.instances) & set(others.instances) and not set(rest.rows) & set(others.rows)
    assert len(rest) + len(others) == len(found)
    again = found.split(share, 3)[1]
    assert np.array_equal(again.rows, others.rows)
    assert share in (0.0, 0.99) or any(
        set(found.split(share, seed)[1].instances) != set(others.instances) for seed in range(9)
    )


def test_one_instance_is_not_split(data: RelationalData) -> None:
    one = examples(RelationalData(data.words, data.instances[:1]))
    rest, others = one.split(0.5, 0)
    assert len(rest) == len(one) and len(others) == 0


def changed(
    data: RelationalData, change: Callable[[RelationalInstance], RelationalInstance]
) -> RelationalData:
    return RelationalData(data.words, (change(data.instances[0]), *data.instances[1:]))


def with_column(name: str) -> Callable[[RelationalInstance], RelationalInstance]:
    def change(one: RelationalInstance) -> RelationalInstance:
        column = one.columns[name].copy()
        column[1] += 1
        return replace(one, columns={**one.columns, name: column})

    return change


def test_the_digest_tells_other_data_and_other_readers(data: RelationalData) -> None:
    found = examples(data, siblings=True).digest()
    assert examples(data, siblings=True).digest() == found
    others = [
        changed(data, with_column("label")),
        changed(data, with_column("parent")),
        changed(data, with_column("goalcount")),
        changed(data, lambda one: replace(one, relations=replace(one.relations, goal=frozenset()))),
        changed(data, lambda one: replace(one, relations=replace(one.relations, operators=()))),
        changed(data, lambda one: replace(one, name="other")),
    ]
    digests = [examples(other, siblings=True).digest() for other in others]
    digests += [examples(data).digest(), examples(data, "hgn", siblings=True).digest()]
    hgn = MODELS.get("hgn")(normalise=True)
    digests += [
        RelationalExamples(data, hgn, KNOWN, siblings=True).digest(),
        RelationalExamples(data, hgn, KnownColumns(lower="lmcut"), siblings=True).digest(),
    ]
    assert len({found, *digests}) == len(digests) + 1
