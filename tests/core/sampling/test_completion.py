"""Completions respect variables and mutexes; bits stand for atoms; labels are those of a naive loop."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from conftest import Case, Cases
from hstar import _core
from hstar.errors import InputError
from oracles import preimages as oracle


@pytest.fixture(params=oracle.PLAIN)
def plain(request: pytest.FixtureRequest, cases: Cases) -> Case:
    return cases[request.param]


def true_atoms(core: _core.Task, row: npt.NDArray[np.uint64]) -> set[tuple[int, int]]:
    facts = core.atom_facts
    return {fact for i, fact in enumerate(facts) if int(row[i // 64]) >> (i % 64) & 1}


def decode(case: Case, row: npt.NDArray[np.uint64]) -> tuple[int, ...]:
    """The values; a variable without a true atom has its one value that is no atom."""
    held = dict(true_atoms(case.task.core, row))
    values = []
    for v, variable in enumerate(case.oracle.variables):
        others = [i for i, name in enumerate(variable.facts) if not name.startswith("Atom ")]
        values.append(held[v] if v in held else others[0])
    return tuple(values)


def test_atoms_and_bits(case: Case) -> None:
    """On all kinds of tasks: bit i says that the i-th positive fact holds."""
    core = case.task.core
    assert core.atom_facts == [
        (v, value)
        for v, variable in enumerate(case.oracle.variables)
        for value in range(len(variable.facts))
        if oracle.is_atom(case.oracle, (v, value))
    ]
    bits = _core.encode(core, np.array(case.states[:50], dtype=np.int32))
    assert bits.dtype == np.uint64 and bits.shape[1] == -(-len(core.atom_facts) // 64)
    for state, row in zip(case.states[:50], bits, strict=True):
        assert true_atoms(core, row) == set(enumerate(state)) & set(core.atom_facts)


def test_wrong_states_are_refused(cases: Cases) -> None:
    core = cases["chain"].task.core
    for wrong, match in (([[4]], "value 4"), ([[-1]], "value -1"), ([[0, 0]], "1 values, not 2")):
        with pytest.raises(InputError, match=match):
            _core.encode(core, np.array(wrong, dtype=np.int32))
    assert _core.encode(core, np.zeros((0, 1), dtype=np.int32)).shape == (0, 1)


def test_completion_by_variables(plain: Case) -> None:
    """Exactly one value each, no mutexes, and what was set stays."""
    values, _ = _core.preimages(plain.task.core, "rsl", rollouts=10, length=20, seed=1)
    values = np.concatenate([values, np.full((50, values.shape[1]), -1, dtype=np.int32)])
    assert oracle.mutex_free(plain.oracle, plain.oracle.goal)
    rows = _core.complete(plain.task.core, values, "variables", 3)
    for partial, row in zip(values.tolist(), rows, strict=True):
        state = decode(plain, row)
        assert oracle.contains(partial, state)
        assert oracle.mutex_free(plain.oracle, enumerate(state))
        per_variable = Counter(v for v, _ in true_atoms(plain.task.core, row))
        for v, variable in enumerate(plain.oracle.variables):
            all_atoms = all(name.startswith("Atom ") for name in variable.facts)
            assert per_variable[v] == 1 if all_atoms else per_variable[v] <= 1


def test_completion_by_variables_reaches_every_value(cases: Cases) -> None:
    case = cases["ferry-3-2"]
    free = np.full((2000, case.task.core.num_variables), -1, dtype=np.int32)
    states = {decode(case, row) for row in _core.complete(case.task.core, free, "variables", 0)}
    for v, variable in enumerate(case.oracle.variables):
        assert {state[v] for state in states} == set(range(len(variable.facts)))


def test_completion_by_atoms(plain: Case) -> None:
    """The atoms of the partial state hold, its negated values too, and no two true atoms are mutex."""
    core = plain.task.core
    values, _ = _core.preimages(core, "rsl", rollouts=10, length=20, seed=1)
    rows = _core.complete(core, values, "atoms", 3)
    sizes = []
    for partial, row in zip(values.tolist(), rows, strict=True):
        held = true_atoms(core, row)
        for fact in oracle.facts(partial).items():
            if oracle.is_atom(plain.oracle, fact):
                assert fact in held
            else:
                assert not any(variable == fact[0] for variable, _ in held)
        assert not any(core.are_mutex(a, b) for a, b in combinations(held, 2))
        sizes.append(len(held))
    empty = np.full((200, values.shape[1]), -1, dtype=np.int32)
    free = [len(true_atoms(core, row)) for row in _core.complete(core, empty, "atoms", 4)]
    assert min(free) < max(free), "the number of true atoms is not controlled"


def test_completion_is_fixed_by_its_seed(plain: Case) -> None:
    empty = np.full((20, plain.task.core.num_variables), -1, dtype=np.int32)
    for rule in ("variables", "atoms"):
        one, same, other = (_core.complete(plain.task.core, empty, rule, seed) for seed in (1, 1, 2))
        assert np.array_equal(one, same)
        assert not np.array_equal(one, other)
    with pytest.raises(InputError, match=r"unknown completion 'atom' \(known: variables, atoms\)"):
        _core.complete(plain.task.core, empty, "atom", 1)


@pytest.mark.parametrize("rule", ["variables", "atoms"])
def test_labels_are_least_depths(plain: Case, rule: str) -> None:
    core = plain.task.core
    values, depth = _core.preimages(core, "rsl", rollouts=6, length=15, seed=2)
    order = np.random.default_rng(0).permutation(len(depth))
    values, depth = np.ascontiguousarray(values[order]), np.ascontiguousarray(depth[order])
    empty = np.full((60, values.shape[1]), -1, dtype=np.int32)
    rows = _core.complete(core, np.concatenate([values, empty]), rule, 5)
    labels = _core.label(core, values, depth, rows)
    assert labels.dtype == np.int32
    for row, label in zip(rows, labels, strict=True):
        held = true_atoms(core, row)
        known = [
            steps
            for partial, steps in zip(values.tolist(), depth.tolist(), strict=True)
            if all(
                fact in held
                if oracle.is_atom(plain.oracle, fact)
                else not any(variable == fact[0] for variable, _ in held)
                for fact in oracle.facts(partial).items()
            )
        ]
        assert label == min(known, default=-1)
    assert np.all(labels[: len(depth)] >= 0) and np.all(labels[: len(depth)] <= depth)
