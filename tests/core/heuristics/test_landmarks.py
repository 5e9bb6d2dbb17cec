"""Landmarks and orders against all states of small tasks, and against the naive delete relaxation."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hstar
from conftest import DATA, Case, Cases, handmade, random_text
from hstar import _core
from oracles import sas
from oracles.landmarks import LandmarkPartition, LandmarkStatus
from oracles.test_oracles import operator, task_text, variable

Test = Callable[[sas.State], bool]


def reachable_without(case: Case, blocked: Test) -> set[sas.State]:
    """States on paths from the initial one on which no state is blocked."""
    start = case.oracle.initial
    found, stack = {start}, [start]
    if blocked(start):
        return set()
    while stack:
        for _, target in sas.successors(case.oracle, stack.pop()):
            if target not in found and not blocked(target):
                found.add(target)
                stack.append(target)
    return found


def relaxed_facts(case: Case, forbidden: sas.Fact | None) -> set[sas.Fact]:
    """Facts that are reachable without deletes if one of them can never be made true."""
    facts = set(enumerate(case.oracle.initial))
    unary = [u for u in sas.unary_operators(case.oracle, "acyclic") if u.fact != forbidden]
    while more := {u.fact for u in unary if u.conditions <= facts} - facts:
        facts |= more
    return facts


def check(case: Case) -> None:
    """All claims of the graphs, by brute force."""
    for kind in (LandmarkStatus, LandmarkPartition):
        check_graph(case, kind(case.task.core, case.oracle))


def check_graph(case: Case, status: LandmarkStatus) -> None:
    facts, orders = _core.landmarks(case.task.core, not status.ordered)
    initial = case.oracle.initial
    single = {tuple(group[0]) for group in facts if len(group) == 1}
    if not status.solvable:
        assert facts == [] == orders
        return
    for i, group in enumerate(facts):
        assert 1 <= len(group) <= 4
        if not status.holds(i, initial):
            free = reachable_without(case, lambda state, i=i: status.holds(i, state))
            assert not any(map(case.oracle.is_goal, free)), f"a plan without {group}"
    # Of single facts that are not true from the beginning they are all that the relaxation has.
    goal = set(case.oracle.goal)
    for number, definition in enumerate(case.oracle.variables):
        for value in range(len(definition.facts)):
            fact = (number, value)
            if initial[number] != value:
                assert (fact in single) == (not goal <= relaxed_facts(case, fact)), fact
    for before, after, kind in orders:
        if kind != "reasonable":
            check_order(case, status, before, after, kind == "greedy-necessary")
    check_acyclic(len(facts), orders)


def check_order(case: Case, status: LandmarkStatus, before: int, after: int, greedy: bool) -> None:
    """On every path that makes `after` true for the first time."""
    assert not status.holds(after, case.oracle.initial)
    at_once = status.derived(after)  # by axioms, at the same time as their conditions

    def blocked(state: sas.State) -> bool:
        return status.holds(after, state) or (not greedy and status.holds(before, state))

    for state in reachable_without(case, blocked):
        for _, target in sas.successors(case.oracle, state):
            if status.holds(after, target):
                ready = status.holds(before, state) or (at_once and status.holds(before, target))
                assert ready, f"{status.facts[after]} without {status.facts[before]} before it"


def check_acyclic(count: int, orders: list[tuple[int, int, str]]) -> None:
    left = set(range(count))
    while left:
        first = left - {after for before, after, _ in orders if before in left}
        assert first, "a cycle"
        left -= first


def test_landmarks_and_orders_of_small_tasks(case: Case) -> None:
    check(case)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10_000), conditional=st.booleans(), axioms=st.booleans())
def test_landmarks_and_orders_of_random_tasks(seed: int, conditional: bool, axioms: bool) -> None:
    check(handmade("random", random_text(seed, conditional, axioms)))


def names_of(
    task: hstar.Task,
) -> tuple[list[frozenset[str]], list[tuple[frozenset[str], frozenset[str], str]]]:
    facts, orders = _core.landmarks(task.core)
    names = task.core.fact_names
    groups = [frozenset(names[v][value].removeprefix("Atom ") for v, value in group) for group in facts]
    return groups, [(groups[before], groups[after], kind) for before, after, kind in orders]


def test_towers_are_built_from_below(cases: Cases) -> None:
    """Three blocks by hand: b on c has to come before a on b, though no plan is bound to it."""
    text = """(define (problem tower) (:domain blocks) (:objects a b c - block)
    (:init (clear a) (clear b) (clear c)
    (ontable a) (ontable b) (ontable c) (handempty)) (:goal (and (on a b) (on b c))))"""
    folder = cases.folder / "tower"
    folder.mkdir()
    (folder / "problem.pddl").write_text(text)
    groups, orders = names_of(hstar.load(DATA / "blocks" / "domain.pddl", folder / "problem.pddl"))
    assert {frozenset({f"holding({x})"}) for x in "ab"} <= set(groups)
    assert (frozenset({"holding(b)"}), frozenset({"on(b, c)"}), "greedy-necessary") in orders
    assert (frozenset({"on(b, c)"}), frozenset({"on(a, b)"}), "reasonable") in orders
    assert (frozenset({"on(a, b)"}), frozenset({"on(b, c)"}), "reasonable") not in orders


def test_one_of_two_grippers_is_a_landmark(cases: Cases) -> None:
    """A ball is carried by the left gripper or by the right one."""
    groups, orders = names_of(cases["ipc-gripper"].task)
    held = frozenset({"carry(ball1, left)", "carry(ball1, right)"})
    assert held in groups
    assert (held, frozenset({"at(ball1, roomb)"}), "greedy-necessary") in orders


def test_a_value_is_the_status_of_its_path(cases: Cases) -> None:
    """The initial value of a search, and along a plan 0 at goals alone; whole searches: test_counts.py."""
    for name in ("blocks", "costs", "reach", "briefcase", "ferry-3-2", "random-ca5"):
        case = cases[name]
        plan = hstar.solve(case.task, "ff", "lazy").actions
        if plan is None:
            continue
        status, state = LandmarkStatus(case.task.core, case.oracle), case.oracle.initial
        status.start(state)
        assert hstar.solve(case.task, "landmarks", "lazy").initial_h == status.value(state)
        for op in plan:
            target = sas.apply(case.oracle, case.oracle.operators[op], state)
            status.follow(state, target)
            state = target
            assert (status.value(state) == 0) == case.oracle.is_goal(state)


def test_a_goal_that_nothing_restores_is_a_dead_end(cases: Cases) -> None:
    """The goal fact is true at the beginning, and one step destroys it for ever."""
    text = task_text(
        [variable(), variable()],
        [0, 0],
        "2\n0 0\n1 1",
        [operator("break", [], ["0 0 0 1"], 1), operator("make", [], ["0 1 0 1"], 1)],
    )
    case = handmade("breakable", text)
    values = hstar.search.heuristics.evaluate(case.task, "landmarks", [[0, 0], [1, 0], [0, 1], [1, 1]])
    assert values.tolist() == [1, math.inf, 0, math.inf]
    result = hstar.solve(case.task, "landmarks", "gbfs")
    assert (result.plan_cost, result.dead_ends) == (1, 1)


def test_another_start_has_other_landmarks(cases: Cases) -> None:
    """One heuristic serves searches from several starts of one space."""
    case = cases["blocksworld-4"]
    native = _core.symbolic_heuristic(case.task.core, "landmarks")
    rng = random.Random(4)
    for state in rng.sample(case.states, 10):
        moved = case.task.core.with_initial_state(list(state))
        status = LandmarkStatus(moved, case.oracle)
        status.start(state)
        found = _core.search(moved, "gbfs", [native])
        assert found.initial_h == status.value(state)
        assert found.status == "solved"


@pytest.mark.parametrize("search", ["lazy", "gbfs"])
def test_preferred_operators_find_plans(case: Case, search: str) -> None:
    result = hstar.solve(case.task, ["ff", "landmarks"], search, preferred=True)
    assert result.status == ("solved" if case.solvable else "unsolvable")
