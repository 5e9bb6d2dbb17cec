"""Conformal calibration: ranks are exact, the promise is kept as often as it says, and searches keep it."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar.errors import InputError
from hstar.estimates.conformal import FORMS, check_bound, least_instances, plan_score, quantile, rank

CONFIDENCES = st.integers(1, 999).map(lambda thousandth: thousandth / 1000)


# --- ranks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instances", "confidence", "expected"),
    [(9, 0.9, 9), (10, 0.9, 10), (99, 0.9, 90), (99, 0.07, 7), (99, 0.29, 29), (8, 0.9, 9), (0, 0.5, 1)],
)
def test_rank(instances: int, confidence: float, expected: int) -> None:
    """0.07 * 100 and 0.29 * 100 are not 7 and 29 in floating point."""
    assert rank(instances, confidence) == expected


@given(instances=st.integers(0, 5000), thousandth=st.integers(1, 999))
def test_a_rank_is_the_least_that_is_enough(instances: int, thousandth: int) -> None:
    place, exact = rank(instances, thousandth / 1000), Fraction(thousandth, 1000)
    assert Fraction(place, instances + 1) >= exact > Fraction(place - 1, instances + 1)


@given(CONFIDENCES)
def test_the_least_number_of_instances_is_the_least(confidence: float) -> None:
    least = least_instances(confidence)
    assert rank(least, confidence) <= least
    assert rank(least - 1, confidence) > least - 1


def test_too_few() -> None:
    with pytest.raises(
        InputError, match=r"^8 instances are too few for a confidence of 0\.9; it takes at least 9$"
    ):
        quantile(np.arange(8.0), 0.9)
    assert quantile(np.arange(9.0), 0.9) == 8
    with pytest.raises(InputError, match=r"at least 999$"):
        quantile([], 0.999)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan])
def test_no_confidence(confidence: float) -> None:
    for function in (least_instances, lambda c: rank(5, c), lambda c: quantile([1.0], c)):
        with pytest.raises(InputError, match=f"^a confidence must be between 0 and 1, got {confidence}$"):
            function(confidence)


def test_quantile_of_ties_and_infinities() -> None:
    assert quantile([2, 1, 1, 1, 1, 1, 1, 1, 1, 3], 0.8) == 2
    assert quantile([1] * 8 + [math.inf], 0.8) == 1
    assert quantile([1] * 8 + [math.inf], 0.9) == math.inf
    with pytest.raises(InputError, match="a score is NaN"):
        quantile([1.0, math.nan], 0.5)


@given(scores=st.lists(st.integers(-3, 3), min_size=1, max_size=40), confidence=CONFIDENCES)
def test_the_quantile_is_a_score_that_enough_are_below(scores: list[int], confidence: float) -> None:
    if rank(len(scores), confidence) > len(scores):
        return
    q = quantile(np.array(scores, dtype=np.float64), confidence)
    assert q in scores
    assert sum(score <= q for score in scores) >= rank(len(scores), confidence)
    assert sum(score < q for score in scores) < rank(len(scores), confidence)


@pytest.mark.parametrize("bound", [0.5, 0.0, -1, math.inf, math.nan])
def test_no_bound(bound: float) -> None:
    with pytest.raises(InputError, match=f"^a bound on costs must be 1 or greater and finite, got {bound}$"):
        check_bound(bound)


# --- coverage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("instances", "confidence"), [(9, 0.9), (39, 0.9), (20, 0.5), (30, 0.8), (99, 0.95)])
@pytest.mark.parametrize("values", ["continuous", "whole", "heavy"])
def test_coverage(values: str, instances: int, confidence: float) -> None:
    """Of 4000 calibrations, each with one more instance, as many keep the promise as it says."""
    rng = np.random.default_rng([instances, len(values)])
    draws = {
        "continuous": lambda size: rng.standard_normal(size),
        "whole": lambda size: rng.integers(0, 4, size).astype(np.float64),
        "heavy": lambda size: rng.standard_cauchy(size),
    }[values]((4000, instances + 1))
    kept = np.mean([row[-1] <= quantile(row[:-1], confidence) for row in draws])
    exact = rank(instances, confidence) / (instances + 1)
    deviation = math.sqrt(exact * (1 - exact) / len(draws))
    assert kept > confidence - 4 * deviation
    if values != "whole":  # ties can only add to it
        assert abs(kept - exact) < 4 * deviation


# --- scores -----------------------------------------------------------------------------------------


def test_additive_score() -> None:
    assert plan_score([3, 5, 1.5], [3, 2, 1]) == 3
    assert plan_score([-4, 0], [2, 1]) == -1
    assert plan_score([1, math.inf], [2, 1]) == math.inf
    assert plan_score([], []) == -math.inf


def test_ratio_score() -> None:
    assert plan_score([3, 5, 1.5], [3, 2, 1], "ratio") == 2.5
    assert plan_score([-4, -1], [2, 1], "ratio") == 0
    assert plan_score([1, math.inf], [2, 1], "ratio") == math.inf
    assert plan_score([], [], "ratio") == 0
    # Actions without cost: a state before the goal with h* = 0.
    assert plan_score([1, 0.5], [1, 0], "ratio") == math.inf
    assert plan_score([1, 0], [1, 0], "ratio") == 1
    assert plan_score([1, 0.5], [1, 0]) == 0.5


@pytest.mark.parametrize(
    ("h", "h_star", "form", "message"),
    [
        ([math.nan], [1], "additive", "the heuristic is NaN"),
        ([1], [math.nan], "additive", "not finite, or below 0"),
        ([1], [math.inf], "additive", "not finite, or below 0"),
        ([1], [-1], "additive", "not finite, or below 0"),
        ([1, 2], [1], "additive", r"one value a state, not \(2,\) for \(1,\)"),
        ([1], [1], "ratios", r"^unknown form of a calibration 'ratios' .* did you mean 'ratio'\?$"),
    ],
)
def test_what_has_no_score(h: list[float], h_star: list[float], form: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_score(h, h_star, form)


# --- what the score is for --------------------------------------------------------------------------

Graph = dict[int, list[tuple[int, int]]]
NODES = 12


def random_graph(rng: np.random.Generator) -> Graph:
    """Costs from 0 to 5; the goal is the last node."""
    edges = {node: [] for node in range(NODES)}
    for node in range(NODES - 1):
        for target in rng.choice(NODES, size=3, replace=False):
            edges[node].append((int(target), int(rng.integers(0, 6))))
    return edges


def distances(graph: Graph) -> dict[int, int]:
    """h* of all nodes that reach the goal."""
    back: Graph = {node: [] for node in graph}
    for node, edges in graph.items():
        for target, cost in edges:
            back[target].append((node, cost))
    found: dict[int, int] = {}
    queue = [(0, NODES - 1)]
    while queue:
        distance, node = heapq.heappop(queue)
        if node not in found:
            found[node] = distance
            for other, cost in back[node]:
                heapq.heappush(queue, (distance + cost, other))
    return found


def optimal_plan(graph: Graph) -> list[int] | None:
    """One, without loops, by Dijkstra's algorithm."""
    parent: dict[int, int | None] = {}
    queue: list[tuple[int, int, int | None]] = [(0, 0, None)]
    while queue:
        g, node, before = heapq.heappop(queue)
        if node in parent:
            continue
        parent[node] = before
        if node == NODES - 1:
            plan = [node]
            while (before := parent[plan[-1]]) is not None:
                plan.append(before)
            return plan[::-1]
        for target, cost in graph[node]:
            heapq.heappush(queue, (g + cost, target, node))
    return None


def astar(graph: Graph, h: dict[int, float]) -> int:
    """A* with re-opening; ties by chance of the numbers. The cost of its plan."""
    best, queue = {0: 0}, [(h[0], 0, 0)]
    while True:
        _, g, node = heapq.heappop(queue)
        if g > best[node]:
            continue
        if node == NODES - 1:
            return g
        for target, cost in graph[node]:
            if g + cost < best.get(target, 10**9):
                best[target] = g + cost
                heapq.heappush(queue, (g + cost + h[target], g + cost, target))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), bound=st.sampled_from([1.0, 1.2, 2.0]), form=st.sampled_from(FORMS))
def test_a_heuristic_that_is_moved_by_the_score_keeps_the_bound(seed: int, bound: float, form: str) -> None:
    """Although it is wild off the plan, and as great on it as the score allows."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    plan = optimal_plan(graph)
    if plan is None:
        return
    true = distances(graph)
    h = {node: float(rng.uniform(-5, 40)) for node in graph}
    score = plan_score([h[node] for node in plan[:-1]], [true[node] for node in plan[:-1]], form)
    if not math.isfinite(score) or (form == "ratio" and score == 0):
        return
    moved = {
        node: max(0.0, bound * (x - score) if form == "additive" else bound * x / score)
        for node, x in h.items()
    }
    moved[NODES - 1] = 0.0
    assert astar(graph, moved) <= bound * true[0] + 1e-9


def test_without_the_score_the_bound_is_broken() -> None:
    """Or the test above would say nothing."""
    broken = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng)
        if optimal_plan(graph) is None:
            continue
        h = {node: float(rng.uniform(0, 40)) for node in graph} | {NODES - 1: 0.0}
        broken += astar(graph, h) > distances(graph)[0]
    assert broken > 10
