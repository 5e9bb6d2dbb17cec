"""Every kind of space in SPACES and every puzzle in PUZZLES: what a problem promises, its named heuristics,
and every search with each of them.

A further kind of space needs a problem in `others`; a further puzzle is taken at its example.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import DATA
from hstar.errors import PlanError
from hstar.search.heuristics import build
from hstar.spaces.grid_maps import random_problem
from hstar.spaces.load import SPACES, kind_of
from hstar.spaces.puzzles import PUZZLES, parse_puzzle

OWN = Path(__file__).parents[2] / "examples" / "own_space.py"
SEARCHES = {info.name: info for info in hstar.searches()}
STEPS = 2


def others() -> dict[str, Any]:
    """A problem of each kind but puzzles, near its goal or small."""
    return {
        "task": hstar.load(DATA / "blocks" / "problem.pddl"),
        "map": random_problem(2, rows=8, columns=8),
        "own": hstar.load(f"{OWN}:Lights").at(0b100011),  # one press
        "own, vectorised": hstar.load(f"{OWN}:LightsBatch").at(np.uint32(0b100011)),
    }


def puzzles() -> dict[str, Any]:
    """Each puzzle at the end of a short walk from its goal."""
    return {name: parse_puzzle(f"{name}:{PUZZLES.get(name).example}").walk(STEPS, 1) for name in PUZZLES}


PROBLEMS = {**others(), **puzzles()}


@pytest.fixture(params=PROBLEMS)
def problem(request: pytest.FixtureRequest) -> Any:
    return PROBLEMS[request.param]


@pytest.fixture(scope="module")
def optima() -> dict[str, float]:
    """Costs of optimal plans, by A* without a heuristic."""
    found = {name: hstar.solve(problem, "zero", "astar") for name, problem in PROBLEMS.items()}
    assert all(result.solved for result in found.values())
    return {name: result.plan_cost for name, result in found.items()}


def test_every_kind_of_space_is_tried() -> None:
    assert {problem.kind for problem in PROBLEMS.values()} == set(SPACES)
    for name in SPACES:
        kind = SPACES.get(name)
        assert kind.name == name and kind.description and kind_of(kind.example) is kind


def test_a_problem_keeps_its_promises(problem: Any) -> None:
    assert problem.name and problem.native is problem.native and isinstance(problem.unit_cost, bool)
    assert len({claim.name for claim in problem.claims}) == len(problem.claims) > 0
    walked = [hstar.solve(problem.walk(STEPS, seed), "zero", "astar").plan_cost for seed in (1, 1, 2)]
    assert walked[0] == walked[1]
    result = hstar.solve(problem, "zero", "astar")
    replayed = problem.replay(result.actions)
    assert (replayed.plan, replayed.cost) == (result.plan, result.plan_cost)
    for wrong in (result.actions[:-1], (*result.actions[:-1], 10**6), (*result.actions[:-1], -1)):
        with pytest.raises(PlanError):
            problem.replay(wrong)
    if replayed.states is not None:
        again = hstar.solve(problem.at(replayed.states[1]), "zero", "astar")
        assert again.plan_cost < result.plan_cost
        assert hstar.solve(problem.at(replayed.states[-1]), "zero", "astar").plan_cost == 0


def test_admissible_heuristics_are(problem: Any) -> None:
    for seed in range(5):
        walked = problem.walk(random.Random(seed).randrange(STEPS), seed)
        optimum = hstar.solve(walked, None, "astar", max_expansions=20_000).plan_cost
        for claim in walked.claims:
            native = build(walked, claim.name)
            assert native.admissible == claim.admissible, claim.name
            first = hstar.solve(walked, claim.name, "gbfs", max_expansions=0).initial_h
            assert not claim.admissible or optimum is None or first <= optimum, claim.name


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_search_on_every_space(search: str, name: str, optima: dict[str, float]) -> None:
    problem = PROBLEMS[name]
    for claim in problem.claims:
        result = hstar.solve(problem, claim.name, search, max_expansions=200_000)
        # Far from all goals a guide may lead a greedy search astray in a large space; it says so.
        astray = result.status == "expansion_limit" and not SEARCHES[search].optimal
        assert result.solved or astray, (claim.name, result.status)
        if SEARCHES[search].optimal and claim.admissible:
            assert result.plan_cost == optima[name], claim.name
        assert not result.solved or result.plan_cost >= optima[name], claim.name
