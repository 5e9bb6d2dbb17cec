"""A* on grids and lattices: optimal paths, the bound for any value map, counts and limits."""

from __future__ import annotations

import math
import signal
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from hstar.errors import InputError
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
from hstar.spaces.grid_maps import random_problem
from oracles.grid_cases import Case, cases, random_case

BLANK = np.zeros((40, 50), dtype=bool)


def independent_cost(case: Case, path: Any) -> float:
    """The cost of a path by the steps of the oracle."""
    states = [tuple(state) for state in path.tolist()]
    assert states[0] == case.problem.start
    assert states[-1][: len(case.problem.goal)] == case.problem.goal
    total = 0.0
    for one, two in pairwise(states):
        prices = {there: price * (math.sqrt(2) if slant else 1) for there, price, slant in case.steps(one)}
        total += prices[two]
    return total


@settings(max_examples=100, deadline=None)
@given(cases)
def test_paths_are_optimal(case: Case) -> None:
    for heuristic in (None, "blind", "octile", "dijkstra"):
        result = solve(case.problem, heuristic, "astar")
        assert result.reopened == 0, "these heuristics are consistent"
        if case.optimum is None:
            assert (result.status, result.path, result.plan_cost) == ("unsolvable", None, None)
            continue
        assert result.plan_cost == pytest.approx(case.optimum, abs=1e-5, rel=1e-9)
        assert independent_cost(case, result.path) == pytest.approx(case.optimum, abs=1e-5, rel=1e-9)
        assert result.initial_h <= case.optimum + 1e-6


def test_dijkstra_is_exact_on_a_grid_and_admissible_on_a_lattice() -> None:
    for seed in range(120):
        case = random_case(np.random.default_rng(seed), most=7)
        problem, optimum = case.problem, case.optimum
        lattice = len(problem.shape) > 2
        found = solve(problem, "dijkstra", "astar")
        plain = solve(problem, "blind", "astar")
        assert found.status == plain.status and found.reopened == 0, "it is consistent"
        assert found.expanded <= plain.expanded
        if optimum is None:
            continue
        assert found.plan_cost == found.lower_bound == plain.plan_cost
        assert found.initial_h <= optimum + 1e-6
        if not lattice:
            assert found.initial_h == pytest.approx(problem.grid.distances(problem.goal)[problem.start])
            assert found.initial_h == pytest.approx(optimum, abs=1e-5, rel=1e-9)
        for weight in (1.5, 4.0):
            cost = solve(problem, "dijkstra", "wastar", weight=weight).plan_cost
            assert cost is not None and cost <= weight * optimum * (1 + 1e-9) + 1e-5
        # Exact values within eps times h_adm are admissible, but not consistent.
        capped = solve(problem, "dijkstra", "astar", eps=1.2)
        assert capped.plan_cost == capped.lower_bound == plain.plan_cost
        for search in ("focal", "idastar", "gbfs"):
            general = solve(problem, "dijkstra", search)
            assert general.solved
            if search != "gbfs":
                assert general.plan_cost == pytest.approx(optimum, abs=1e-3, rel=1e-3)


def test_dijkstra_keeps_limits() -> None:
    problem = random_problem(3, rows=2000, columns=2000, blocked_share=0.1)
    assert solve(problem, "dijkstra", "astar", time_limit=0.02).status == "time_limit"
    assert solve(problem, "dijkstra", "astar", memory_limit=1).status == "memory_limit"


def garbage(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Values of a network that has learned nothing."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(0, 50, shape)
    if kind == 1:
        return rng.choice([-1e30, 0.0, 1e30, math.inf, -math.inf], shape)
    if kind == 2:
        return rng.exponential(5, shape) * rng.integers(0, 2, shape)
    return np.full(shape, rng.uniform(0, 100))


def check_bound(seed: int) -> int:
    """Solves a random case with garbage; how often a state was opened again."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, most=7)
    eps = float(rng.choice([1.0, 1.05, 1.3, 2.0, 5.0, 100.0]))
    shape = case.problem.shape if rng.integers(2) else case.problem.grid.shape
    result = solve(case.problem, garbage(rng, shape), "astar", eps=eps)
    if case.optimum is None:
        assert result.status == "unsolvable"
        return 0
    assert result.plan_cost is not None
    assert result.plan_cost <= eps * case.optimum * (1 + 1e-9) + 1e-5, seed
    if eps == 1:
        assert result.plan_cost == pytest.approx(case.optimum, abs=1e-5, rel=1e-9)
    return result.reopened


def test_the_bound_holds_for_garbage() -> None:
    assert sum(check_bound(seed) for seed in range(250)) > 30, "re-opening is needed, and there"


def test_without_reopening_nothing_is_proven_once_a_better_way_was_passed_over() -> None:
    unproven = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        case = random_case(rng, most=7)
        values = garbage(rng, case.problem.shape)
        again = solve(case.problem, values, "astar", eps=5)
        once = solve(case.problem, values, "astar", eps=5, no_reopen=True)
        assert once.status == again.status and once.reopened == 0
        assert once.expanded <= values.size
        if case.optimum is None:
            continue
        assert once.plan_cost is not None and once.plan_cost >= case.optimum * (1 - 1e-9) - 1e-5
        assert independent_cost(case, once.path) == pytest.approx(once.plan_cost, abs=1e-5, rel=1e-9)
        unproven += once.lower_bound is None
        if again.reopened == 0:
            assert (once.expanded, once.plan_cost) == (again.expanded, again.plan_cost)
            assert once.lower_bound == again.lower_bound is not None
    assert unproven > 10, "cases in which the option matters"


@pytest.mark.slow
def test_the_bound_holds_for_much_garbage() -> None:
    for seed in range(250, 4000):
        check_bound(seed)


def test_the_bound_holds_on_larger_maps() -> None:
    for seed in range(60):
        problem = random_problem(seed, neighbours=4 if seed % 2 else 8)
        rng = np.random.default_rng(seed)
        optimum = solve(problem, None, "astar").plan_cost
        assert optimum is not None
        for eps in (1.0, 1.2, 3.0):
            cost = solve(problem, garbage(rng, problem.shape), "astar", eps=eps).plan_cost
            assert cost is not None and optimum <= cost * (1 + 1e-12) <= eps * optimum * (1 + 1e-9)


def test_good_values_lead_straight_to_the_goal() -> None:
    problem = random_problem(5, rows=60, columns=60)
    exact = problem.grid.distances(problem.goal)
    guided = solve(problem, exact, "astar", eps=100, explored=True)
    plain = solve(problem, None, "astar", explored=True)
    assert guided.plan_cost == plain.plan_cost == exact[problem.start]
    assert guided.expanded < plain.expanded
    assert plain.explored is not None and guided.explored is not None and guided.path is not None
    assert len(plain.explored) == plain.expanded
    assert tuple(plain.explored[0]) == problem.start and tuple(plain.explored[-1]) == problem.goal
    assert not problem.grid.blocked[tuple(plain.explored.T)].any()
    raw = solve(problem, exact, "astar")
    assert raw.plan_cost == exact[problem.start]


def test_weights() -> None:
    drawn = random_problem(8, rows=80, columns=80, blocked_share=0.2).grid
    start, goal = (tuple(map(int, np.argwhere(~drawn.blocked)[place])) for place in (0, -1))
    problem = GridProblem(drawn, start, goal)
    optimum = solve(problem, None, "astar").plan_cost
    assert optimum is not None
    expanded = []
    for weight in (1.0, 1.5, 3.0):
        result = solve(problem, None, "wastar", weight=weight)
        assert result.plan_cost is not None and optimum <= result.plan_cost <= weight * optimum
        expanded.append(result.expanded)
    assert expanded[2] < expanded[0]
    assert solve(problem, None, "wastar", weight=0).expanded == pytest.approx(
        solve(problem, "blind", "astar").expanded, rel=0.2
    )


def test_ties_go_towards_the_goal() -> None:
    """On an open map nearly only the states of the path are expanded."""
    for neighbours in (4, 8):
        grid = Grid(BLANK, None, neighbours)
        result = solve(GridProblem(grid, (0, 0), (39, 49)), None, "astar")
        assert result.path is not None
        assert result.expanded <= 1.5 * len(result.path)
        assert result.plan_cost == pytest.approx(88 if neighbours == 4 else 10 + 39 * math.sqrt(2))


def test_two_searches_are_alike() -> None:
    problem = random_problem(3, rows=50, columns=50, neighbours=8)
    values = np.random.default_rng(0).uniform(0, 50, problem.shape)
    first, second = (solve(problem, values, "astar", eps=2, explored=True) for _ in range(2))
    assert first.explored is not None and second.explored is not None
    assert first.explored.tolist() == second.explored.tolist()


def test_costs_that_vary_widely() -> None:
    """Entries far behind the front of the open list keep their order."""
    rng = np.random.default_rng(1)
    costs = rng.choice([0.01, 1.0, 900.0], (30, 30))
    problem = GridProblem(Grid(np.zeros((30, 30), dtype=bool), costs, 8), (0, 0), (29, 29))
    assert solve(problem, None, "astar").plan_cost == pytest.approx(
        solve(problem, "blind", "astar").plan_cost
    )
    assert solve(problem, None, "astar").plan_cost == pytest.approx(
        problem.grid.distances(problem.goal)[problem.start]
    )


def test_start_is_goal() -> None:
    result = solve(GridProblem(Grid(BLANK), (3, 3), (3, 3)), None, "astar")
    assert (result.status, result.plan_cost, result.expanded) == ("solved", 0, 1)
    turned = solve(LatticeProblem(Grid(BLANK), (3, 3, 0), (3, 3, 4), turn_cost=0.5), None, "astar")
    assert turned.plan_cost == 2


def test_limits() -> None:
    problem = GridProblem(Grid(np.zeros((400, 400), dtype=bool)), (0, 0), (399, 399))
    limited = solve(problem, "blind", "astar", max_expansions=1234)
    assert (limited.status, limited.expanded, limited.path) == ("expansion_limit", 1234, None)
    assert solve(problem, None, "astar", time_limit=0).status == "time_limit"
    assert solve(problem, None, "astar", memory_limit=1000).status == "memory_limit"


def test_interrupts_end_the_search_with_its_counts() -> None:
    problem = GridProblem(Grid(np.zeros((3000, 3000), dtype=bool)), (0, 0), (2999, 2999))
    seen: list[int] = []

    def progress(record: Any) -> None:
        seen.append(record.expanded)
        signal.raise_signal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    result = solve(problem, "blind", "astar", progress=progress)
    assert result.status == "interrupted" and result.expanded >= seen[-1]


@pytest.mark.parametrize(
    ("heuristic", "options", "message"),
    [
        ("manhatten", {}, r"unknown heuristic of grid 'manhatten' .* did you mean 'manhattan'"),
        (np.zeros((3, 3)), {}, r"the value map has the shape \(3, 3\), the problem has \(40, 50\)"),
        (np.full((40, 50), math.nan), {}, "the value map is NaN for state 0"),
        (object(), {}, "not a heuristic of grid"),
        (None, {"eps": 2.0}, "eps bounds a value map or dijkstra, and there is none; use weight"),
        (np.zeros((40, 50)), {"eps": 0.99}, r"eps must be a number from 1 on, got 0\.99"),
        (np.zeros((40, 50)), {"eps": math.nan}, "eps must be a number from 1 on, got nan"),
        (np.zeros((40, 50)), {"eps": "two"}, "eps must be a number from 1 on, got 'two'"),
        (None, {"weight": -1.0}, r"weight must be a number from 0 on, at most 1000000, got -1\.0"),
        (None, {"time_limit": "long"}, "time_limit must be a number from 0 on, got 'long'"),
        (None, {"max_expansions": 1.5}, r"max_expansions must be a whole number from 0 on, got 1\.5"),
        (None, {"speed": 1}, "unknown option 'speed'"),
    ],
)
def test_mistakes(heuristic: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        solve(GridProblem(Grid(BLANK), (0, 0), (39, 49)), heuristic, "astar", **options)
    assert "\n" not in str(caught.value)


def test_manhattan_is_not_for_diagonal_steps() -> None:
    problem = GridProblem(Grid(BLANK, None, 8), (0, 0), (1, 1))
    with pytest.raises(InputError, match="not admissible with diagonal steps; use octile"):
        solve(problem, "manhattan", "astar")
