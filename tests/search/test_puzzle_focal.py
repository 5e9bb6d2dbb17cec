"""Plans of puzzles with a proven bound: kept whatever guides; lower bounds are never above the optimum."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from hstar import _core
from hstar.errors import InputError
from hstar.search.databases import pattern_databases
from hstar.search.puzzle_network import PuzzleNetwork, puzzle_features
from hstar.search.solve import Found, Result, SearchConfig, solve
from hstar.spaces.puzzle import Puzzle, State, replay
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.tiles import Tiles

SMALL = ("tiles:3x3", "tiles:2x3", "pancake:6", "blocks:5")
BOUNDS = (1.0, 1.1, 1.5, 2.0, 7.0)


@cache
def distances(name: str) -> dict[State, int]:
    """The optimum of every state of a tiny puzzle, by breadth-first search from the goal."""
    puzzle = parse_puzzle(name)
    found, layer = {puzzle.goal: 0}, [puzzle.goal]
    actions = range(32 * 6 if name.startswith("blocks") else 7)
    for depth in itertools.count(1):
        following = []
        for state, action in itertools.product(layer, actions):
            after = puzzle.successor(state, action)
            if after is not None and after not in found:
                found[after] = depth
                following.append(after)
        if not following:
            return found
        layer = following
    raise AssertionError


@cache
def starts(name: str, number: int, seed: int) -> list[tuple[Puzzle, int]]:
    """Random instances with their optima; of the 8-puzzle, which has many states, those of IDA*."""
    size, rng = parse_puzzle(name), np.random.default_rng(seed)
    if name == "tiles:3x3":
        puzzles = [size.random(int(one)) for one in rng.integers(0, 10**6, number)]
        return [(puzzle, solve(puzzle, "manhattan", "idastar").plan_cost or 0) for puzzle in puzzles]
    optima = distances(name)
    states = list(optima)
    return [(size.at(states[i]), optima[states[i]]) for i in rng.integers(0, len(states), number)]


def random_network(puzzle: Puzzle, seed: int, width: int = 8) -> PuzzleNetwork:
    """Values that have nothing to do with the puzzle."""
    rng = np.random.default_rng(seed)
    features = puzzle_features(puzzle, "one-hot")
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    return PuzzleNetwork(
        features, draw(features.inputs, width), draw(width), draw(width, 1), draw(1), scale=10.0
    )


@cache
def trained_network(name: str, seed: int, width: int = 16) -> PuzzleNetwork:
    """Random units with an output that is fitted to optima of some states."""
    puzzle = parse_puzzle(name)
    rng = np.random.default_rng(seed)
    features = puzzle_features(puzzle, "one-hot")
    some = starts(name, 100, seed + 100)
    hidden, bias = rng.normal(size=(features.inputs, width)), rng.normal(size=width)
    inputs = np.asarray(features.array([one.start for one, _ in some]))
    units = np.column_stack([np.maximum(inputs @ hidden + bias, 0), np.ones(len(some))])
    fitted = np.linalg.lstsq(units, np.array([optimum for _, optimum in some]), rcond=None)[0]
    return PuzzleNetwork(features, hidden, bias, fitted[:-1, None], fitted[-1:])


def check(result: Result, puzzle: Puzzle, bound: float, optimum: int) -> None:
    assert result.status == "solved"
    assert result.actions is not None
    assert len(replay(puzzle, result.actions)) == result.plan_cost + 1
    assert result.lower_bound <= optimum <= result.plan_cost
    assert result.plan_cost <= bound * optimum + 1e-9
    assert result.plan_cost <= bound * result.lower_bound + 1e-9, "and it is proven"


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.slow
def test_no_guide_breaks_the_bound(name: str) -> None:
    size = parse_puzzle(name)
    names = [info.name for info in size.core.heuristics]
    guides: list[Any] = [random_network(size, seed) for seed in range(3)]
    guides += [trained_network(name, seed) for seed in range(3)]
    guides += names
    tried, number = 0, 30 if name == "tiles:3x3" else 150
    for seed, guide in enumerate(guides):
        for (puzzle, optimum), bound, anchor in zip(
            starts(name, number, seed), itertools.cycle(BOUNDS), itertools.cycle(names[:2])
        ):
            result = solve(puzzle, guide, "focal", anchor=anchor, bound=bound, anchor_every=tried % 4)
            check(result, puzzle, bound, optimum)
            tried += 1
    assert tried >= 8 * number


@pytest.mark.parametrize("weight", [1.0, 3.0])
@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("anchor_every", [0, 3])
def test_no_order_breaks_the_bound(weight: float, optimistic: bool, anchor_every: int) -> None:
    options = {
        "guide_weight": weight,
        "optimistic": optimistic,
        "anchor_every": anchor_every,
        "proof": "queue",
    }
    for name in SMALL:
        guide = trained_network(name, 1)
        first = parse_puzzle(name).core.heuristics[0].name
        for puzzle, optimum in starts(name, 5, 7):
            check(solve(puzzle, guide, "focal", bound=1.2, **options), puzzle, 1.2, optimum)
            check(solve(puzzle, first, "focal", bound=1.2, **options), puzzle, 1.2, optimum)


def test_weighted_astar_is_one_of_its_orders() -> None:
    """Without turns of an anchor the least key by the weight proves the plan."""
    for puzzle, optimum in starts("tiles:3x3", 30, 3):
        result = solve(
            puzzle,
            "manhattan",
            "focal",
            bound=1.5,
            guide_weight=1.5,
            optimistic=True,
            anchor_every=0,
            proof="queue",
        )
        check(result, puzzle, 1.5, optimum)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.slow
def test_rounds_prove_whatever_guides(name: str) -> None:
    guides = [random_network(parse_puzzle(name), 5), trained_network(name, 5), "blind"]
    for guide, bound in itertools.product(guides, BOUNDS):
        for puzzle, optimum in starts(name, 6, 13):
            seen: list[Found] = []
            result = solve(puzzle, guide, "focal", bound=bound, proof="rounds", on_plan=seen.append)
            check(result, puzzle, bound, optimum)
            assert seen[-1].plan_cost == result.plan_cost


def test_rounds_go_on_where_the_guide_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hstar.search.iterative_deepening._GUIDE_EXPANSIONS", 3)
    for puzzle, optimum in starts("tiles:3x3", 12, 17):
        result = solve(puzzle, "manhattan", "focal", bound=1.5)
        check(result, puzzle, 1.5, optimum)
        assert result.plan_cost == optimum or result.expanded <= 3


def test_a_limit_of_no_expansions_holds_for_the_guide_too() -> None:
    puzzle = parse_puzzle("tiles:4x4").random(1)
    result = solve(puzzle, "manhattan", "focal", bound=1.5, proof="rounds", max_expansions=0)
    assert result.status == "expansion_limit" and result.expanded == 0


def test_databases_prove() -> None:
    size = parse_puzzle("tiles:3x3")
    databases = pattern_databases(size, [((1, 2, 3, 4), (5, 6, 7, 8))], cache=False)
    for puzzle, optimum in starts("tiles:3x3", 20, 5):
        for guide in ("misplaced", databases, trained_network("tiles:3x3", 2)):
            check(solve(puzzle, guide, "focal", anchor=databases, bound=1.1), puzzle, 1.1, optimum)


# --- anytime ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"bound": 1.5}, {"anchor_every": 0}, {"guide_weight": 2.0}])
def test_plans_get_better_until_one_is_optimal(options: dict[str, Any]) -> None:
    several = 0
    for name in SMALL[1:] if options.get("anchor_every") == 0 else SMALL:  # few turns, many ways again
        guide, weak = trained_network(name, 1), "misplaced" if name == "tiles:3x3" else "blind"
        for puzzle, optimum in starts(name, 4 if name == "tiles:3x3" else 12, 11):
            seen: list[Found] = []
            result = solve(puzzle, guide, "focal", anchor=weak, anytime=True, on_plan=seen.append, **options)
            assert (result.status, result.plan_cost, result.lower_bound) == ("solved", optimum, optimum)
            assert result.ratio == 1
            costs = [found.plan_cost for found in seen]
            assert costs == sorted(set(costs), reverse=True)
            assert seen[-1].plan_cost == result.plan_cost
            for found in seen:
                assert found.lower_bound <= optimum <= found.plan_cost == len(found.plan)
            several += len(seen) > 1
    assert several > 0, "the test would not see plans that do not get better"


# --- limits and mistakes ----------------------------------------------------------------------------


def hard() -> Tiles:
    return Tiles(4, 4, (14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3))


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"max_expansions": 500}, "expansion_limit"),
        ({"max_evaluations": 500}, "evaluation_limit"),
        ({"time_limit": 0.05}, "time_limit"),
        ({"memory_limit": 1}, "memory_limit"),
    ],
)
def test_a_limit_is_a_status(limit: dict[str, Any], status: str) -> None:
    result = solve(hard(), "blind", "focal", anchor="manhattan", **limit)
    assert (result.status, result.plan, result.solved) == (status, None, False)
    assert result.lower_bound is None or result.lower_bound <= 57


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"max_expansions": 500}, "expansion_limit"),
        ({"max_expansions": 300_000}, "expansion_limit"),
        ({"max_evaluations": 500}, "evaluation_limit"),
        ({"max_evaluations": 600_000}, "evaluation_limit"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"memory_limit": 1}, "memory_limit"),
    ],
)
def test_a_limit_of_rounds_is_a_status(limit: dict[str, Any], status: str) -> None:
    result = solve(hard(), "manhattan", "focal", bound=1.0, **limit)
    assert (result.status, result.solved) == (status, False)
    assert result.lower_bound is None or result.lower_bound <= 57
    assert result.plan_cost is None or result.plan_cost >= 57


def test_a_limit_leaves_the_best_plan_with_its_interval() -> None:
    seen: list[Found] = []
    result = solve(hard(), "manhattan", "focal", anytime=True, max_expansions=60_000, on_plan=seen.append)
    assert result.status == "expansion_limit"
    assert result.plan_cost == seen[-1].plan_cost > 57 >= result.lower_bound
    assert result.ratio == result.plan_cost / result.lower_bound


def test_a_function_that_sees_plans_may_end_the_search() -> None:
    def interrupt(found: Found) -> None:
        raise KeyboardInterrupt

    result = solve(hard(), "manhattan", "focal", anytime=True, on_plan=interrupt)
    assert result.status == "interrupted"
    assert result.plan_cost >= 57


def test_the_goal_is_solved_by_nothing() -> None:
    puzzle = parse_puzzle("tiles:3x3")
    result = solve(puzzle, "manhattan", "focal", bound=1.5)
    assert (result.status, result.plan, result.plan_cost, result.ratio) == ("solved", (), 0, 1.0)


def test_two_runs_expand_alike() -> None:
    first, second = (solve(hard(), "manhattan", "focal", bound=2) for _ in range(2))
    assert (first.expanded, first.actions) == (second.expanded, second.actions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": 0.9}, "bound must be a number from 1 on, got 0.9"),
        ({"bound": math.nan}, "bound must be a number from 1 on"),
        ({"anchor_every": -1}, "anchor_every must be a whole number from 0 on, got -1"),
        ({"max_expansions": 1.5}, "max_expansions must be a whole number"),
        ({"time_limit": -1}, "time_limit must be a number from 0 on"),
        ({"bond": 2}, "bond"),
        ({"proof": "quee"}, "unknown proof 'quee'"),
        ({"proof": "rounds", "anytime": True}, "an anytime search needs proof by the queue"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(hard(), "manhattan", "focal", **options)


def test_wrong_heuristics() -> None:
    puzzle = parse_puzzle("tiles:3x3")
    with pytest.raises(InputError, match="unknown heuristic of tiles 'gap'"):
        solve(puzzle, "gap", "focal")
    with pytest.raises(InputError, match="the anchor must be admissible, and network is not"):
        solve(puzzle, "manhattan", "focal", anchor=random_network(puzzle, 0))
    with pytest.raises(InputError, match="does not fit"):
        solve(hard(), random_network(puzzle, 0), "focal")
    with pytest.raises(InputError, match="either config or single options"):
        solve(puzzle, "manhattan", "focal", config=SearchConfig(), bound=2)


# --- rounds of IDA* that end early --------------------------------------------------------------------


def test_rounds_of_idastar_end_at_a_bound() -> None:
    for puzzle, optimum in starts("tiles:3x3", 30, 9):
        core: Any = puzzle.core
        for greatest in range(optimum + 1):
            options = _core.DeepeningOptions()
            options.greatest_bound = greatest
            found = core.idastar(puzzle.start, "manhattan", options, _core.Limits())
            if greatest < optimum:
                assert found.status == "incomplete"
                assert greatest < found.lower_bound <= optimum
            else:
                assert (found.status, len(found.plan), found.lower_bound) == ("solved", optimum, optimum)
        assert solve(puzzle, "manhattan", "idastar").plan_cost == optimum
