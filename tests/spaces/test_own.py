"""A user's own space in every search, and what is said of one that is wrong."""

from __future__ import annotations

import itertools
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar.errors import HstarError, InputError
from hstar.search.heuristics import BatchHeuristic
from hstar.search.solve import searches, solve
from hstar.spaces.check import CheckConfig, check_space
from hstar.spaces.own import OwnProblem
from hstar.spaces.tiles import Tiles

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_space.py"
LIGHTS = runpy.run_path(str(EXAMPLE))


class Jugs:
    """Two jugs of 5 and 3 litres; exactly 4 in the first one. Pouring costs what is poured, filling 1."""

    start = (0, 0)

    def is_goal(self, state: tuple[int, int]) -> bool:
        return state[0] == 4

    def successors(self, state: tuple[int, int]) -> list[tuple[str, tuple[int, int], int]]:
        a, b = state
        to_b, to_a = min(a, 3 - b), min(b, 5 - a)
        return [
            ("fill a", (5, b), 1),
            ("fill b", (a, 3), 1),
            ("empty a", (0, b), 0),
            ("empty b", (a, 0), 0),
            ("a to b", (a - to_b, b + to_b), to_b),
            ("b to a", (a + to_a, b - to_a), to_a),
        ]


class Line:
    """0, 1, 2, ... to 30 by steps of 1 and 3, in halves of a unit of cost."""

    start = 0
    cost_scale = 2

    def is_goal(self, state: int) -> bool:
        return state == 30

    def successors(self, state: int) -> list[tuple[str, int, float]]:
        return [(f"+{step}", state + step, cost) for step, cost in ((1, 0.5), (3, 2.0)) if state + step <= 30]

    def lower_bound(self, state: int) -> float:
        return (30 - state) * 0.5


class Board:
    """The 2 x 3 puzzle as rows of an array, beside the native one."""

    start = np.array([5, 4, 3, 2, 1, 0], dtype=np.int8)
    native = Tiles.solved(2, 3)

    def is_goal_batch(self, states: Any) -> Any:
        return (states == np.arange(6)).all(axis=1)

    def successors_batch(self, states: Any) -> Any:
        after, parents = [], []
        for row, state in enumerate(states.tolist()):
            for action in self.native.core.actions(state):
                after.append(self.native.successor(tuple(state), action))
                parents.append(row)
        return np.array(after, dtype=np.int8).reshape(-1, 6), np.array(parents, dtype=np.int64), 1


def optimum(space: Any) -> float:
    """By breadth-first search over costs, in plain Python."""
    problem = OwnProblem(space)
    best, queue = {problem.packed(problem.start): 0.0}, [(0.0, 0, problem.start)]
    for count in itertools.count(1):
        cost, _, state = queue.pop(queue.index(min(queue, key=lambda entry: entry[:2])))
        if problem.is_goal(state):
            return cost
        for place, (_, after, step) in enumerate(problem.successors(state)):
            key = problem.packed(after)
            if cost + step < best.get(key, 1e9):
                best[key] = cost + step
                queue.append((cost + step, count * 100 + place, after))
    raise AssertionError


SPACES: dict[str, Callable[[], Any]] = {
    "jugs": Jugs,
    "line": Line,
    "board": Board,
    "lights": LIGHTS["Lights"],
    "lights-batch": LIGHTS["LightsBatch"],
}
OPTIMA = {"jugs": optimum(Jugs()), "line": 15.0, "board": None, "lights": 4, "lights-batch": 4}


@pytest.mark.parametrize("search", [info.name for info in searches()])
@pytest.mark.parametrize("name", SPACES)
def test_every_search_runs_on_an_own_space(name: str, search: str) -> None:
    space = SPACES[name]()
    heuristic = OwnProblem(space).claims[0].name
    result = solve(space, heuristic, search, bound=1.0 if search == "focal" else None, max_expansions=200_000)
    expected = OPTIMA[name] if OPTIMA[name] is not None else solve(Tiles(2, 3, (5, 4, 3, 2, 1, 0))).plan_cost
    assert result.solved and result.plan is not None
    info = next(info for info in searches() if info.name == search)
    if info.optimal:
        assert result.plan_cost == expected
        assert result.lower_bound is None or result.lower_bound <= expected
    else:
        assert result.plan_cost >= expected
    assert result.states is not None and OwnProblem(space).is_goal(result.states[-1])


def test_a_batch_of_nodes_finds_the_same_costs() -> None:
    for batch in (1, 7, 1000):
        result = solve(LIGHTS["LightsBatch"](), "zero", "astar", batch=batch)
        assert (result.plan_cost, result.lower_bound) == (4, 4)
        board = solve(Board(), "zero", "astar", batch=batch)
        assert board.plan_cost == solve(Tiles(2, 3, (5, 4, 3, 2, 1, 0))).plan_cost


def test_a_function_is_a_heuristic() -> None:
    seen: list[Any] = []

    def lamps(states: list[int]) -> list[int]:
        seen.extend(states)
        return [state.bit_count() for state in states]

    result = solve(LIGHTS["Lights"](), lamps, "gbfs")
    assert result.solved and all(isinstance(state, int) for state in seen)
    rows = solve(
        LIGHTS["LightsBatch"](),
        lambda states: np.unpackbits(states.view(np.uint8).reshape(len(states), -1), axis=1).sum(axis=1),
        "gbfs",
    )
    assert rows.solved
    bound = BatchHeuristic(lambda states: [(30 - s) * 0.5 for s in states], "mine", admissible=True)
    assert solve(Line(), bound, "astar").lower_bound == 15


def test_starts() -> None:
    problem = hstar.load(f"{EXAMPLE}:Lights")
    assert problem.at(0).is_goal(0) and solve(problem.at(0)).plan == ()
    walked = problem.walk(3, 1)
    assert solve(walked).plan_cost <= 7 and walked.start != problem.start
    with pytest.raises(HstarError, match=r"no function random\(seed\); use walk"):
        problem.random(1)


@pytest.mark.parametrize("name", SPACES)
def test_check_finds_nothing_wrong(name: str) -> None:
    findings = check_space(OwnProblem(SPACES[name]()), CheckConfig(walks=3, steps=10, states=500))
    assert all(finding.fine for finding in findings), findings


def broken(base: type, **changes: Any) -> Any:
    return type(base.__name__, (base,), changes)()


MISTAKES = {
    "raises": (
        broken(Jugs, successors=lambda self, s: 1 // 0),
        r"successors\(\(0, 0\)\) raised ZeroDivisionError",
    ),
    "shape": (broken(Jugs, successors=lambda self, s: [(0, 0)]), r"triples \(name, state, cost\)"),
    "none": (broken(Jugs, successors=lambda self, s: None), r"triples \(name, state, cost\)"),
    "negative": (broken(Jugs, successors=lambda self, s: [("a", s, -1)]), "costs -1, but costs are finite"),
    "nan": (broken(Jugs, successors=lambda self, s: [("a", s, float("nan"))]), "costs nan"),
    "no number": (broken(Jugs, successors=lambda self, s: [("a", s, "x")]), "'x', which is no number"),
    "fraction": (broken(Jugs, successors=lambda self, s: [("a", s, 0.25)]), "set cost_scale"),
    "unhashable": (broken(Jugs, successors=lambda self, s: [("a", [s], 1)]), "not hashable; use a tuple"),
    "goal": (broken(Jugs, is_goal=lambda self, s: 1 // 0), r"is_goal\(\(0, 0\)\) raised ZeroDivisionError"),
    "width": (
        broken(Board, successors_batch=lambda self, s: (np.zeros((1, 5)), np.zeros(1, dtype=int), 1)),
        "5 numbers a state, the start has 6",
    ),
    "parents": (
        broken(Board, successors_batch=lambda self, s: (s, np.full(len(s), 99), 1)),
        "a parent is not in",
    ),
    "two arrays": (broken(Board, successors_batch=lambda self, s: (s, s)), "must return three arrays"),
    "batch costs": (
        broken(Board, successors_batch=lambda self, s: (s, np.arange(len(s)), np.full(len(s), -1.0))),
        "costs -1",
    ),
    "flags": (broken(Board, is_goal_batch=lambda self, s: True), "must return 1 flags"),
    "bound": (broken(Line, lower_bound=lambda self, s: float("nan")), "is NaN"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_line(name: str) -> None:
    space, message = MISTAKES[name]
    with pytest.raises(InputError, match=message) as caught:
        solve(space, OwnProblem(space).claims[0].name, "astar")
    assert "\n" not in str(caught.value)
    assert not check_space(OwnProblem(space), CheckConfig(walks=2, steps=5))[-1].fine


def test_check_shows_counterexamples() -> None:
    too_high = broken(Line, lower_bound=lambda self, s: (30 - s) * 0.7)
    assert "true cost" in check_space(OwnProblem(too_high))[-1].detail
    one_way = broken(LIGHTS["Lights"], predecessors=lambda self, s: [])
    assert any("do not lead back" in finding.detail for finding in check_space(OwnProblem(one_way)))
    changing = itertools.count()
    random = broken(Jugs, successors=lambda self, s: [("a", (next(changing), 0), 1)])
    assert any("asked again" in finding.detail for finding in check_space(OwnProblem(random)))
    other = broken(LIGHTS["LightsBatch"], is_goal_batch=lambda self, s: s != 0)
    assert any("differs from is_goal" in finding.detail for finding in check_space(OwnProblem(other)))


@pytest.mark.parametrize(
    ("encode", "detail"),
    [
        (lambda self, states: [[float(s)] for s in states], "have 1 inputs each"),
        (lambda self, states: [[float(s) / len(states)] for s in states], "other inputs alone"),
        (lambda self, states: [[float("inf")] for s in states], "not finite"),
        (lambda self, states: [1.0], r"must return the shape"),
    ],
)
def test_check_tries_the_encoding(encode: Callable[..., Any], detail: str) -> None:
    findings = check_space(OwnProblem(broken(Line, encode=encode)), CheckConfig(walks=3, steps=5))
    assert any(detail in one.detail and one.fine == ("each" in detail) for one in findings)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.py:A", "missing.py: no such file"),
        ("text", "no space 'B'"),
        ("x = ", "SyntaxError"),
        ("import nothing_like_this", "nothing_like_this"),
        ("class A: start = 0", "is no space"),
    ],
)
def test_files_of_own_spaces(tmp_path: Path, source: str, message: str) -> None:
    path = tmp_path / "own.py"
    name = "B" if source == "text" else "A"
    path.write_text("" if source == "text" else source)
    with pytest.raises(InputError, match=message) as caught:
        hstar.load(source if source.startswith("missing") else f"{path}:{name}")
    assert "\n" not in str(caught.value)
