"""Successors, applicability, axioms, packing and mutexes of the native state space against the oracle."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Case, Cases, handmade, random_text
from hstar import _core
from hstar.errors import InputError
from oracles import sas
from oracles.test_oracles import operator, task_text, variable


def test_successors_of_every_reachable_state(case: Case) -> None:
    """Applicability, effects in order, effect conditions in the old state, axioms in the new one."""
    core = case.task.core
    for state in case.states:
        wanted = dict(sas.successors(case.oracle, state))
        applicable = core.applicable_operators(state)
        assert len(applicable) == len(set(applicable))
        assert set(applicable) == set(wanted)
        for index, target in wanted.items():
            assert tuple(core.successor(state, index)) == target, (state, case.oracle.operators[index].name)


def test_the_reachable_space_has_the_same_states(case: Case) -> None:
    """A breadth-first search by the core alone, from its own initial state."""
    core = case.task.core
    start = tuple(core.initial_state)
    seen, queue = {start}, [start]
    for state in queue:
        for index in core.applicable_operators(state):
            target = tuple(core.successor(state, index))
            if target not in seen:
                seen.add(target)
                queue.append(target)
    assert seen == set(case.exact)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10_000), conditional=st.booleans(), axioms=st.booleans())
def test_random_tasks_and_states(data: st.DataObject, seed: int, conditional: bool, axioms: bool) -> None:
    """Any state, not only reachable ones, of tasks that no other test has seen."""
    case = handmade("random", random_text(seed, conditional, axioms))
    state = data.draw(states(case.oracle))
    closed = sas.close(case.oracle, state)
    core = case.task.core.with_initial_state(state)
    assert core.initial_state == list(closed)
    wanted = dict(sas.successors(case.oracle, closed))
    assert set(core.applicable_operators(state)) == set(wanted)
    for index, target in wanted.items():
        assert tuple(core.successor(state, index)) == target


def states(task: sas.Task) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, len(v.facts) - 1) for v in task.variables))


@settings(max_examples=150, deadline=None)
@given(data=st.data(), sizes=st.lists(st.sampled_from([1, 2, 3, 4, 5, 8, 9, 17, 33, 300, 5000]), min_size=1))
def test_packing_round_trips_and_keeps_states_apart(data: st.DataObject, sizes: list[int]) -> None:
    """`set` writes one variable and must leave its neighbours in the word alone; so must no other."""
    values = [data.draw(st.integers(0, size - 1)) for size in sizes]
    target = data.draw(st.integers(0, len(sizes) - 1))
    after = data.draw(st.integers(0, sizes[target] - 1))
    conditional = data.draw(st.booleans())
    effect = f"1 {target} {values[target]} {target} -1 {after}" if conditional else f"0 {target} -1 {after}"
    text = task_text(
        [variable(size=size) for size in sizes],
        [0] * len(sizes),
        f"1\n{target} {after}",
        [operator("set", [], [effect], 1)],
    )
    plain = _core.Task.parse(text.encode())
    core = plain.with_initial_state(values)
    assert core.initial_state == values
    assert plain.initial_state == [0] * len(sizes), "the first task keeps its own initial state"
    wanted = list(values)
    wanted[target] = after
    assert core.successor(values, 0) == wanted
    found = _core.search(core, "gbfs", [_core.symbolic_heuristic(core, "blind")])
    assert (found.status, found.plan) == ("solved", [] if values[target] == after else [0])
    bits = sum((size - 1).bit_length() for size in sizes)
    assert core.state_words >= -(-bits // 32)
    assert core.state_words <= max(1, 2 * bits // 32 + 1)


def test_facts_that_exclude_each_other(case: Case) -> None:
    core = case.task.core
    facts = [(v, value) for v, d in enumerate(case.oracle.variables) for value in range(len(d.facts))]
    groups = [set(group) for group in case.oracle.mutexes]
    for a, b in combinations(facts[:80], 2):
        wanted = a[0] == b[0] or any(a in group and b in group for group in groups)
        assert core.are_mutex(a, b) == core.are_mutex(b, a) == wanted, (a, b)
    assert not any(core.are_mutex(fact, fact) for fact in facts)


def test_no_reachable_state_holds_mutex_facts(cases: Cases) -> None:
    case = cases["blocks"]
    assert case.task.core.mutex_groups, "the test would see nothing"
    pairs = [
        (a, b)
        for group in case.task.core.mutex_groups
        for a, b in combinations(group, 2)
        if case.task.core.are_mutex(a, b)
    ]
    assert len(pairs) > 20
    for state in case.states:
        assert not any(state[a[0]] == a[1] and state[b[0]] == b[1] for a, b in pairs)


def test_wrong_states_facts_and_operators_are_refused(cases: Cases) -> None:
    core = cases["blocks"].task.core
    state = core.initial_state
    for wrong in (state[:-1], [*state, 0], []):
        for call in (core.with_initial_state, core.applicable_operators, lambda s: core.successor(s, 0)):
            with pytest.raises(InputError, match=f"has {len(state)} values, not {len(wrong)}"):
                call(wrong)
    for value in (-1, 99, 2**31 - 1):
        with pytest.raises(InputError, match=f"value {value} of"):
            core.with_initial_state([value, *state[1:]])
    blocked = next(i for i in range(core.num_operators) if i not in core.applicable_operators(state))
    for index in (blocked, -1, core.num_operators, 2**31 - 1):
        with pytest.raises(InputError, match="not applicable"):
            core.successor(state, index)
    for fact in ((-1, 0), (core.num_variables, 0), (0, -1), (0, 99)):
        with pytest.raises(InputError, match="no fact"):
            core.are_mutex(fact, (0, 0))


def test_a_task_with_nothing_in_it() -> None:
    """No operators and no goals: solved where it starts."""
    core = _core.Task.parse(task_text([variable()], [1], "0", []).encode())
    assert core.applicable_operators([0]) == []
    for info in _core.heuristics():
        found = _core.search(core, "astar", [_core.symbolic_heuristic(core, info.name)])
        assert (found.status, found.plan) == ("solved", [])
