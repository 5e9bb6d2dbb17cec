"""How much a search expands: a naive best-first search in Python must agree to the last state.

The naive one knows nothing of packed states, buckets or batches: a list of open nodes, the best one by key
and then by age. Operators are tried in the order of `applicable_operators`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hstar
from conftest import Case, Cases, handmade, random_text
from hstar import _core
from hstar.search.heuristics import evaluate
from oracles import sas
from oracles.landmarks import LandmarkPartition, LandmarkStatus

Key = Callable[[float, float], tuple[float, ...]]
PATHS = {"landmarks": LandmarkStatus, "lmcp": LandmarkPartition}  # heuristics that depend on paths


@dataclass
class Count:
    expanded: int = 0
    evaluated: int = 0
    generated: int = 0
    reopened: int = 0
    dead_ends: int = 0
    plan: list[int] | None = None
    closed: set[sas.State] = field(default_factory=set)


class Naive:
    """Eager best-first search over one or several heuristics that take turns."""

    def __init__(self, case: Case, names: Sequence[str], key: Key, *, reopen: bool, by_g: bool) -> None:
        self.case, self.key, self.reopen, self.by_g = case, key, reopen, by_g
        self.h = [dict(zip(case.states, evaluate(case.task, n, case.states), strict=True)) for n in names]
        self.safe = [info.safe for n in names for info in hstar.heuristics() if info.name == n]
        self.open: list[list[tuple[tuple[float, ...], int, sas.State]]] = [[] for _ in names]
        self.asked = [0] * len(names)
        self.age = 0
        # What depends on paths is computed when a state is met.
        kinds = [PATHS[name] for name in names if name in PATHS]
        self.paths = kinds[0](case.task.core, case.oracle) if kinds else None
        self.by_paths = [name in PATHS for name in names]

    def push(self, state: sas.State) -> None:
        for table, queue in zip(self.h, self.open, strict=True):
            self.age += 1
            heapq.heappush(queue, (self.key(self.g[state], table[state]), self.age, state))

    def pop(self) -> sas.State:
        turns = [i for i, queue in enumerate(self.open) if queue]
        turn = min(turns, key=lambda i: self.asked[i])
        self.asked[turn] += 1
        return heapq.heappop(self.open[turn])[2]

    def meet(self, state: sas.State, count: Count) -> None:
        """A new state: evaluate it, queue it unless it is a dead end."""
        count.evaluated += 1
        for table, by_paths in zip(self.h, self.by_paths, strict=True):
            if by_paths and self.paths:
                table[state] = self.paths.value(state)
                if isinstance(self.paths, LandmarkPartition):
                    assert table[state] <= self.case.exact[state], f"{state} is overestimated"
        if any(table[state] == math.inf for table in self.h):
            count.dead_ends += 1
            self.status[state] = "dead"
        else:
            self.status[state] = "open"
            self.push(state)

    def run(self) -> Count:
        assert all(self.safe)
        count, start = Count(), self.case.oracle.initial
        self.g: dict[sas.State, float] = {start: 0}
        self.status: dict[sas.State, str] = {}
        parent: dict[sas.State, tuple[sas.State, int]] = {}
        if self.paths:
            self.paths.start(start)
        self.meet(start, count)
        core, operators = self.case.task.core, self.case.oracle.operators
        while any(self.open):
            state = self.pop()
            if self.status[state] != "open":
                continue
            self.status[state] = "closed"
            count.closed.add(state)
            count.expanded += 1
            if self.case.oracle.is_goal(state):
                count.plan = []
                while state in parent:
                    state, op = parent[state]
                    count.plan.insert(0, op)
                return count
            new: list[sas.State] = []
            for op in core.applicable_operators(state):
                count.generated += 1
                target = sas.apply(self.case.oracle, operators[op], state)
                if self.paths:
                    self.paths.follow(state, target)
                g = self.g[state] + operators[op].cost
                if target not in self.g:
                    new.append(target)
                elif g >= self.g[target] or self.status.get(target) == "dead":
                    continue
                self.g[target], parent[target] = g, (state, op)
                if self.status.get(target) == "closed":
                    if not self.reopen:
                        continue
                    count.reopened += 1
                    self.status[target] = "open"
                if target in self.status and self.by_g:
                    self.push(target)
            for target in new:
                self.meet(target, count)
        return count


def astar(g: float, h: float) -> tuple[float, ...]:
    return (g + h, h)


def greedy(g: float, h: float) -> tuple[float, ...]:
    return (h,)


def weighted(g: float, h: float) -> tuple[float, ...]:
    return (g + 3 * h, h)


def agree(case: Case, names: list[str], search: str, key: Key, by_g: bool, **options: float) -> None:
    wanted = Naive(case, names, key, reopen=by_g, by_g=by_g).run()
    native = [_core.symbolic_heuristic(case.task.core, name) for name in names]
    found = _core.search(case.task.core, search, native, options=_core.SearchOptions(**options))
    assert found.status == ("unsolvable" if wanted.plan is None else "solved")
    assert found.plan == (wanted.plan or [])
    for count in ("expanded", "evaluated", "generated", "reopened", "dead_ends"):
        assert getattr(found, count) == getattr(wanted, count), count


def test_astar_expands_as_the_naive_one(case: Case) -> None:
    for name in case.supported:
        agree(case, [name], "astar", astar, True)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10_000), conditional=st.booleans(), axioms=st.booleans(), unit=st.booleans())
def test_landmark_costs_are_partitioned_as_by_the_naive_one(
    seed: int, conditional: bool, axioms: bool, unit: bool
) -> None:
    """Its values depend on paths: states that A* meets on several, and with costs of 0, show it."""
    text = random_text(seed, conditional, axioms)
    case = handmade("random", text.replace("begin_metric\n1", "begin_metric\n0") if unit else text)
    agree(case, ["lmcp"], "astar", astar, True)
    found = hstar.solve(case.task, "lmcp", "astar")
    assert found.plan_cost == (case.optimum if case.solvable else None)


def test_wastar_expands_as_the_naive_one(case: Case) -> None:
    for name in case.supported:
        agree(case, [name], "wastar", weighted, True, weight=3)


def test_gbfs_expands_as_the_naive_one(case: Case) -> None:
    for name in case.supported:
        agree(case, [name], "gbfs", greedy, False)


def test_alternation_expands_as_the_naive_one(case: Case) -> None:
    agree(case, ["goalcount", "ff"], "gbfs", greedy, False)
    agree(case, ["hmax", "blind", "add"], "gbfs", greedy, False)
    agree(case, ["ff", "landmarks"], "gbfs", greedy, False)


def distances(case: Case) -> dict[sas.State, float]:
    """g* of every reachable state: Dijkstra forward."""
    graph = sas.explore(case.oracle)
    g = [math.inf] * len(graph.states)
    g[0] = 0
    queue = [(0.0, 0)]
    while queue:
        value, source = heapq.heappop(queue)
        if value > g[source]:
            continue
        for op, target in graph.edges[source]:
            if value + case.oracle.operators[op].cost < g[target]:
                g[target] = value + case.oracle.operators[op].cost
                heapq.heappush(queue, (g[target], target))
    return dict(zip(graph.states, g, strict=True))


@pytest.mark.parametrize("name", ["blind", "hmax"])
def test_astar_expands_what_it_must_and_little_more(case: Case, name: str) -> None:
    """With a consistent heuristic: all states with f* < C* and none with f* > C*, each once."""
    g = distances(case)
    h = dict(zip(case.states, evaluate(case.task, name, case.states), strict=True))
    result = hstar.solve(case.task, name, "astar")
    f = [g[state] + h[state] for state in case.states]
    must = sum(value < case.optimum for value in f)
    may = sum(value <= case.optimum and value < math.inf for value in f)
    assert must <= result.expanded <= may
    assert result.reopened == 0
    if not case.solvable:
        assert result.expanded == must
        assert result.evaluated == result.expanded + result.dead_ends


@pytest.mark.parametrize(
    ("name", "expanded", "evaluated", "generated"),
    [
        ("chain", 4, 4, 4),  # 0, 1, the trap, the goal
        ("conditional", 3, 3, 3),  # in a row; set and swap lead to one state
        ("axioms", 3, 4, 3),  # x or y, and the goal after the first of them
        ("negated", 2, 2, 1),
        ("one-match", 4, 4, 4),  # here, there, and a fire in each place: all there is
        ("unsolvable", 1, 1, 0),
        ("reopening", 4, 4, 4),  # s, a, c and the goal; c is found again while it is open
    ],
)
def test_known_counts_of_astar_with_blind(
    cases: Cases, name: str, expanded: int, evaluated: int, generated: int
) -> None:
    """Worked out by hand."""
    result = hstar.solve(cases[name].task, "blind", "astar")
    assert (result.expanded, result.evaluated, result.generated) == (expanded, evaluated, generated)


def test_the_value_of_a_start_that_is_a_goal_is_reported(small_blocks: hstar.Task) -> None:
    core = small_blocks.core
    state = core.initial_state
    for op in _core.search(_core.Problem(core), "gbfs", [_core.symbolic_heuristic(core, "ff")]).plan:
        state = core.successor(state, op)
    problem = _core.Problem(core.with_initial_state(state))
    for search in ("astar", "gbfs", "lazy", "focal", "idastar"):
        seven = _core.callback_heuristic(problem, lambda states: np.full(len(states), 7.0), "seven", 1)
        result = _core.search(problem, search, [seven])
        assert (result.status, result.plan, result.initial_h) == ("solved", [], 7)
