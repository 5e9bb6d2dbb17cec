"""The delete relaxation: hmax and add equal naive fixpoints, ff's relaxed plans are plans, lmcut is below h+.

Defaults of derived variables follow the oracle's "acyclic" rule, which is Fast Downward's.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import SMALL, Case, Cases, handmade, random_text, supported
from hstar import _core
from hstar.search.heuristics import evaluate
from oracles import sas


def sample(case: Case, count: int = 40) -> list[sas.State]:
    """States of the case, and some that are not reachable."""
    rng = random.Random(1)
    reachable = case.states if len(case.states) <= count else rng.sample(case.states, count)
    anywhere = [
        sas.close(case.oracle, [rng.randrange(len(v.facts)) for v in case.oracle.variables])
        for _ in range(10)
    ]
    return reachable + anywhere


def values(case: Case, name: str, states: list[sas.State]) -> list[float]:
    return evaluate(case.task, name, states).tolist()


def test_hmax_and_add_equal_the_naive_fixpoint(case: Case) -> None:
    states = sample(case)
    assert values(case, "hmax", states) == [sas.hmax(case.oracle, s, "acyclic") for s in states]
    assert values(case, "add", states) == [sas.hadd(case.oracle, s, "acyclic") for s in states]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10_000), conditional=st.booleans(), axioms=st.booleans())
def test_hmax_add_and_ff_on_random_tasks(seed: int, conditional: bool, axioms: bool) -> None:
    case = handmade("random", random_text(seed, conditional, axioms))
    rng = random.Random(seed)
    for _ in range(4):
        state = sas.close(case.oracle, [rng.randrange(len(v.facts)) for v in case.oracle.variables])
        hmax, hadd = sas.hmax(case.oracle, state, "acyclic"), sas.hadd(case.oracle, state, "acyclic")
        assert values(case, "hmax", [state]) == [hmax]
        assert values(case, "add", [state]) == [hadd]
        check_relaxed_plan(case, state)


def test_relaxed_plans_are_plans_and_ff_is_their_cost(case: Case) -> None:
    for state in sample(case):
        check_relaxed_plan(case, state)


def check_relaxed_plan(case: Case, state: sas.State) -> None:
    plan, deletes = _core.relaxed_plan(case.task.core, state)
    [h] = values(case, "ff", [state])
    hmax = sas.hmax(case.oracle, state, "acyclic")
    if plan is None:
        assert (h, hmax, deletes) == (math.inf, math.inf, 0)
        return
    operators = case.oracle.operators
    assert len(plan) == len(set(plan)), "each operator once"
    assert h == sum(operators[op].cost for op in plan)
    # Its operators alone reach the goal, and no more of them than one for each fact.
    alone = replace(case.oracle, operators=tuple(operators[op] for op in plan))
    assert sas.hmax(alone, state, "acyclic") < math.inf
    assert h <= sas.hadd(case.oracle, state, "acyclic")
    # An operator counts once though two of its conditional effects may need it at two times.
    if not case.task.core.has_conditional_effects:
        assert hmax <= h
    # Every operator is a best supporter by add of one of its effects: all that ties leave open.
    costs = sas.fact_costs(case.oracle, state, sum, "acyclic")
    for op in plan:
        single = replace(case.oracle, operators=(operators[op],), axioms=())
        unary = sas.unary_operators(single)[: len(operators[op].effects)]
        assert any(u.cost + sum(costs[f] for f in u.conditions) == costs[u.fact] for u in unary), op
    assert deletes == sum(naive_deletes(case.oracle, operators[op]) for op in plan)


def naive_deletes(task: sas.Task, operator: sas.Operator) -> int:
    """Atoms that the operator replaces, or negates without asking for the value before."""
    before = dict(operator.preconditions)
    count = 0
    for effect in operator.effects:
        variable, value = effect.fact
        facts = task.variables[variable].facts
        if variable not in before:
            count += facts[value].startswith("NegatedAtom")
        elif before[variable] != value:
            count += facts[before[variable]].startswith("Atom")
    return count


def test_ignored_deletes_are_those_of_the_pddl(cases: Cases) -> None:
    """By hand: pick-up deletes three atoms, put-down one, stack two, unstack three."""
    case = cases["blocks"]
    by_action = {"pick-up": 3, "put-down": 1, "stack": 2, "unstack": 3}
    seen: Counter[str] = Counter()
    for state in case.states:
        plan, deletes = _core.relaxed_plan(case.task.core, state)
        actions = [case.oracle.operators[op].name.split()[0] for op in plan]
        seen.update(actions)
        assert deletes == sum(by_action[action] for action in actions)
    assert set(seen) == set(by_action)


@pytest.mark.parametrize("case", [case for case in SMALL if "lmcut" in supported(case)], indirect=True)
def test_lmcut_lies_between_hmax_and_the_optimal_relaxed_plan(case: Case) -> None:
    states = sample(case)
    for state, lmcut, ff in zip(
        states, values(case, "lmcut", states), values(case, "ff", states), strict=True
    ):
        assert sas.hmax(case.oracle, state) <= lmcut <= ff
        assert lmcut <= case.exact.get(state, math.inf)
        if len(case.oracle.operators) <= 14:
            assert lmcut <= optimal_relaxed_plan(case.oracle, state)


def optimal_relaxed_plan(task: sas.Task, state: sas.State) -> float:
    """h+ by uniform-cost search over sets of facts."""
    start = frozenset(enumerate(state))
    best: dict[frozenset[sas.Fact], float] = {start: 0}
    queue = {start}
    result = math.inf
    while queue:
        facts = min(queue, key=best.__getitem__)
        queue.remove(facts)
        if facts >= set(task.goal):
            return best[facts]
        for op in task.operators:
            if facts >= set(op.preconditions):
                more = facts | {effect.fact for effect in op.effects}
                cost = best[facts] + op.cost
                if cost < best.get(more, math.inf):
                    best[more] = cost
                    queue.add(more)
    return result


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("chain", {"blind": 1, "goalcount": 1, "hmax": 5, "add": 5, "ff": 5, "lmcut": 5}),
        ("reopening", {"blind": 1, "goalcount": 1, "hmax": 7, "add": 7, "ff": 7, "lmcut": 7}),
        ("zero-costs", {"blind": 0, "goalcount": 2, "hmax": 4, "add": 6, "ff": 5, "lmcut": 5}),
        ("one-match", {"blind": 0, "goalcount": 2, "hmax": 2, "add": 4, "ff": 4, "lmcut": 4}),
        ("conditional", {"blind": 1, "goalcount": 2, "hmax": 5, "add": 6, "ff": 5}),
        ("axioms", {"blind": 1, "goalcount": 1, "hmax": 1, "add": 2, "ff": 2}),
        ("negated", {"blind": 5, "goalcount": 1, "hmax": 5, "add": 5, "ff": 5}),
    ],
)
def test_values_worked_out_by_hand(cases: Cases, name: str, known: dict[str, int]) -> None:
    case = cases[name]
    assert {heuristic: values(case, heuristic, [case.oracle.initial])[0] for heuristic in known} == known


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", ["depot/p01.pddl", "assembly/prob01.pddl", "psr-large/p01-s29-n2-l5-f30.pddl"]
)
def test_larger_tasks_equal_the_naive_fixpoint(cases: Cases, problem: str) -> None:
    case = cases[problem]
    states = sas.walk_states(case.oracle, 12, length=20)
    assert values(case, "hmax", states) == [sas.hmax(case.oracle, s, "acyclic") for s in states]
    assert values(case, "add", states) == [sas.hadd(case.oracle, s, "acyclic") for s in states]
    for state in states[:4]:
        check_relaxed_plan(case, state)
