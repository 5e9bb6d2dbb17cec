"""Plans with a proven bound: never above it, whatever guides the search; lower bounds never above h*."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import Case, Cases
from hstar.errors import InputError
from hstar.search.heuristics import build
from hstar.search.solve import Found

BOUNDS = (1, 1.1, 1.5, 2, 10)
ADMISSIBLE = [info.name for info in hstar.heuristics() if info.admissible]


def garbage(seed: int) -> Callable[[np.ndarray], list[float]]:
    """Values that have nothing to do with the task, dead ends that are none included."""
    rng = np.random.default_rng(seed)
    return lambda states: [
        math.inf if chance < 0.2 else round(1000 * chance) for chance in rng.random(len(states))
    ]


def check_interval(found: hstar.Result | Found, optimum: float) -> None:
    assert found.lower_bound is not None
    assert found.plan_cost is not None
    assert found.lower_bound <= optimum <= found.plan_cost
    if found.ratio is not None:
        assert found.plan_cost <= found.ratio * found.lower_bound + 1e-9


def test_no_guide_breaks_the_bound(case: Case) -> None:
    if not case.solvable:
        return
    for seed, bound in enumerate(BOUNDS * 4):
        for anchor in set(ADMISSIBLE) & set(case.supported):
            result = hstar.solve(
                case.task, garbage(seed), "focal", bound=bound, anchor=anchor, anchor_every=seed % 4
            )
            assert result.status == "solved", (bound, anchor)
            assert result.plan_cost <= bound * case.optimum, (bound, anchor)
            assert result.plan_cost <= bound * result.lower_bound * (1 + 1e-9), "and it is proven"
            check_interval(result, case.optimum)


def test_what_has_no_plan_is_found_out(case: Case) -> None:
    if case.solvable:
        return
    result = hstar.solve(case.task, garbage(1), "focal", bound=2)
    assert (result.status, result.plan, result.lower_bound) == ("unsolvable", None, None)


def test_every_symbolic_heuristic_is_a_guide(case: Case) -> None:
    for name in case.supported:
        result = hstar.solve(case.task, name, "focal", bound=1.5)
        assert result.solved == case.solvable
        if result.solved:
            assert result.plan_cost <= 1.5 * case.optimum, name
            check_interval(result, case.optimum)


def test_cheaper_paths_are_followed(cases: Cases) -> None:
    """A closed state is opened again when a cheaper path to it turns up."""
    rng = np.random.default_rng(0)
    reopened = 0
    for name in ("zero-costs", "random-44", "random-c27", "costs", "npuzzle-2x3", "ferry-3-2") * 5:
        case = cases[name]
        table = {state: float(rng.integers(0, 1000)) for state in case.states}

        def guide(states: np.ndarray, table: dict[Any, float] = table) -> list[float]:
            return [table[tuple(row)] for row in states.tolist()]

        result = hstar.solve(case.task, guide, "focal", anytime=True, anchor="blind")
        assert result.plan_cost == case.optimum
        reopened += result.reopened
    assert reopened > 0, "the test would not see a missing reopening"


# --- anytime ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"bound": 1.5}, {"anchor": "blind"}, {"anchor_every": 0}])
def test_plans_get_better_until_one_is_optimal(case: Case, options: dict[str, Any]) -> None:
    if not case.solvable:
        return
    seen: list[Found] = []
    result = hstar.solve(case.task, garbage(3), "focal", anytime=True, on_plan=seen.append, **options)
    assert (result.status, result.plan_cost, result.lower_bound) == ("solved", case.optimum, case.optimum)
    assert result.ratio == 1
    costs = [found.plan_cost for found in seen]
    assert costs == sorted(set(costs), reverse=True)
    assert seen[-1].plan == result.plan
    for found in seen:
        check_interval(found, case.optimum)
        assert found.plan_text().count("\n") == len(found.plan) + 1


def test_several_plans_are_seen(cases: Cases) -> None:
    seen: list[Found] = []
    hstar.solve(cases["npuzzle-3x3"].task, "goalcount", "focal", anytime=True, on_plan=seen.append)
    assert len(seen) > 2
    assert seen[0].plan_cost > seen[-1].plan_cost
    assert [found.time for found in seen] == sorted(found.time for found in seen)


@pytest.mark.parametrize(
    ("limit", "status", "code"),
    [({"max_expansions": 3000}, "expansion_limit", 12), ({"max_evaluations": 4000}, "evaluation_limit", 12)],
)
def test_a_limit_leaves_the_best_plan_with_its_interval(
    cases: Cases, limit: dict[str, int], status: str, code: int
) -> None:
    task = cases["npuzzle-3x3"].task
    result = hstar.solve(task, "goalcount", "focal", anytime=True, anchor="blind", **limit)
    assert (result.status, result.exit_code) == (status, code)
    check_interval(result, hstar.solve(task, "lmcut", "astar").plan_cost)
    assert result.ratio > 1
    assert result.plan_text()
    assert not result.solved, "it is not what was asked for"


def test_time_out_with_a_plan_has_the_exit_code_of_fast_downward(cases: Cases) -> None:
    task = cases["npuzzle-3x3"].task

    goalcount = build(task, "goalcount")

    def slow(states: np.ndarray) -> list[float]:
        if seen:
            time.sleep(0.3)
        return goalcount.evaluate(states).tolist()

    seen: list[Found] = []
    found = hstar.solve(
        task, slow, "focal", anytime=True, anchor="blind", time_limit=0.3, on_plan=seen.append
    )
    assert (found.status, found.exit_code) == ("time_limit", 3 if seen else 23)


def test_a_function_that_sees_plans_may_end_the_search(cases: Cases) -> None:
    task = cases["npuzzle-3x3"].task

    def interrupt(found: Found) -> None:
        raise KeyboardInterrupt

    def fail(found: Found) -> None:
        raise ZeroDivisionError("at a plan")

    result = hstar.solve(task, "goalcount", "focal", anytime=True, on_plan=interrupt)
    assert (result.status, result.exit_code) == ("interrupted", 130)
    assert result.plan is not None
    with pytest.raises(ZeroDivisionError, match="at a plan"):
        hstar.solve(task, "goalcount", "focal", anytime=True, on_plan=fail)


# --- lower bounds of other searches -------------------------------------------------------------


@pytest.mark.parametrize("search", ["astar", "wastar", "idastar", "focal"])
def test_lower_bounds_hold_at_every_moment(case: Case, search: str) -> None:
    for name in set(ADMISSIBLE) & set(case.supported):
        for limit in (1, 3, 10, 100, 1000):
            result = hstar.solve(case.task, name, search, max_expansions=limit, weight=1.5)
            if result.status in ("solved", "expansion_limit"):
                assert result.lower_bound is not None
                assert result.lower_bound <= case.optimum, (name, limit)
            if result.solved and search != "wastar":
                assert result.lower_bound == case.optimum
            if result.solved and search == "wastar":
                assert result.ratio is None or result.ratio <= 1.5 + 1e-9


def test_nothing_is_proven_without_an_admissible_heuristic(cases: Cases) -> None:
    for search in ("gbfs", "lazy", "astar", "wastar", "idastar"):
        result = hstar.solve(cases["blocks"].task, "ff", search)
        assert (result.lower_bound, result.ratio) == (None, None)


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": 0.99}, "bound must be a number from 1 on"),
        ({"bound": math.nan}, "bound must be a number from 1 on"),
        ({"anchor": "ff"}, "the anchor must be admissible, and ff is not; use one of .*lmcut"),
        ({"anchor": "lmcutt"}, "unknown heuristic 'lmcutt'"),
        ({"anchor_every": -1}, "anchor_every must be a whole number"),
    ],
)
def test_mistakes(cases: Cases, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hstar.solve(cases["blocks"].task, "ff", "focal", **options)


def test_one_guide(cases: Cases) -> None:
    with pytest.raises(InputError, match="focal takes one heuristic"):
        hstar.solve(cases["blocks"].task, ["ff", "add"], "focal")
