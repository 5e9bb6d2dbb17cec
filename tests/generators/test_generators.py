"""The generators: sizes, seeds, legality, uniformity, and that every task can be solved."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import pytest

from hstar.errors import InputError
from hstar.generators import GENERATORS, blocksworld, ferry, npuzzle, sizes_of
from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.pddl import parse_task

SIZES = {
    "blocksworld": (5,),
    "npuzzle": (3, 3),
    "ferry": (4, 3),
    "gripper": (6,),
    "visitall": (4, 5, 50),
    "logistics": (2, 3, 3, 1),
    "satellite": (2, 2, 3, 5, 4),
    "transport": (6, 2, 3),
    "miconic": (6, 4),
    "spanner": (5, 3, 4),
    "childsnack": (6, 2, 2, 7),
    "rovers": (2, 4, 2, 2, 5),
    "sokoban": (6, 7, 2, 6),
}
# Of the problem with seed 7: results elsewhere were made of such texts, which therefore stay as they are.
DIGESTS = {
    "blocksworld": "c92a39ba72ea9226",
    "npuzzle": "62449b6d6bdd50b9",
    "ferry": "22aac4a4deb1319a",
    "gripper": "ecccc92203762342",
    "visitall": "9649cd6d499d205d",
    "logistics": "a2f9bbcaef008704",
    "satellite": "d43803cb53231ccb",
    "transport": "d83ecfbb440f3d42",
    "miconic": "a9657b8f42e3a651",
    "spanner": "e9dd77c5e17d633f",
    "childsnack": "972310ff5b294064",
    "rovers": "58843f7bbdbbe6e5",
    "sokoban": "97cdec02a6cba74c",
}


def test_every_generator_is_tested() -> None:
    assert set(SIZES) == set(GENERATORS)


@pytest.mark.parametrize("name", SIZES)
def test_texts_are_well_formed_deterministic_and_not_solved(name: str) -> None:
    generate = GENERATORS.get(name)
    texts = set()
    for seed in range(30):
        domain, problem = generate(*SIZES[name], seed=seed)
        assert (domain, problem) == generate(*SIZES[name], seed=seed)
        task = parse_task(domain, problem)
        assert task.warnings == ()
        assert not validate_pddl(task, []).valid
        texts.add(problem.partition("\n")[2])
    assert len(texts) >= 25


def test_blocksworld_states_are_legal() -> None:
    domain, problem = blocksworld.generate(7, seed=3)
    task = parse_task(domain, problem)
    init = task.problem.init
    below = {atom[1]: atom[2] for atom in init if atom[0] == "on"}
    table = {atom[1] for atom in init if atom[0] == "on-table"}
    clear = {atom[1] for atom in init if atom[0] == "clear"}
    assert ("arm-empty",) in init
    assert set(task.objects) == below.keys() | table
    assert not below.keys() & table
    assert clear == set(task.objects) - set(below.values())
    assert len(clear) == len(table)
    assert {atom[0] for atom in task.goal_atoms} == {"on"}


def test_blocksworld_states_are_uniform() -> None:
    """Three blocks have 13 states; chi-squared with 12 degrees of freedom, far beyond 99.9 %."""
    rng = random.Random(0)
    draws = 13_000
    counts = Counter(tuple(sorted(map(tuple, blocksworld.random_towers(3, rng)))) for _ in range(draws))
    assert len(counts) == 13
    assert sum((n - draws / 13) ** 2 / (draws / 13) for n in counts.values()) < 40


def test_blocksworld_can_be_solved_by_hand() -> None:
    domain, problem = blocksworld.generate(6, seed=1)
    task = parse_task(domain, problem)
    below = {atom[1]: atom[2] for atom in task.problem.init if atom[0] == "on"}
    plan: list[str] = []
    while below:
        top = next(block for block in sorted(below) if block not in below.values())
        plan += [f"unstack {top} {below.pop(top)}", f"putdown {top}"]
    goal = {atom[1]: atom[2] for atom in task.goal_atoms}
    while goal:
        upper = next(block for block in sorted(goal) if goal[block] not in goal)
        plan += [f"pickup {upper}", f"stack {upper} {goal.pop(upper)}"]
    verdict = validate_pddl(task, plan)
    assert verdict.valid, verdict.reason


def test_npuzzle_reaches_all_and_only_solvable_states() -> None:
    """The 2 x 3 puzzle has 360 solvable states, found here by search from the goal."""
    reached = {tuple(range(6))}
    frontier = list(reached)
    while frontier:
        state = frontier.pop()
        empty = state.index(0)
        row, column = divmod(empty, 3)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < 2 and 0 <= c < 3:
                tiles = list(state)
                other = 3 * r + c
                tiles[empty], tiles[other] = tiles[other], tiles[empty]
                if tuple(tiles) not in reached:
                    reached.add(tuple(tiles))
                    frontier.append(tuple(tiles))
    rng = random.Random(1)
    counts = Counter(tuple(npuzzle.random_tiles(2, 3, rng)) for _ in range(36_000))
    assert len(reached) == 360
    assert counts.keys() == reached
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 470


def test_npuzzle_slides() -> None:
    domain, problem = npuzzle.generate(2, 2, seed=0)
    task = parse_task(domain, problem)
    assert len([atom for atom in task.static_facts if atom[0] == "neighbor"]) == 8
    empty = next(atom[1] for atom in task.problem.init if atom[0] == "empty")
    tile, cell = next(
        (tile, cell)
        for name, tile, *rest in task.problem.init
        if name == "at"
        for cell in rest
        if ("neighbor", cell, empty) in task.static_facts
    )
    there_and_back = [f"slide {tile} {cell} {empty}", f"slide {tile} {empty} {cell}"]
    assert validate_pddl(task, there_and_back).step is None


def test_ferry_follows_the_paper() -> None:
    domain, problem = ferry.generate(4, 3, seed=5)
    task = parse_task(domain, problem)
    counts = Counter(atom[0] for atom in task.problem.init)
    assert counts == {
        "empty-ferry": 1,
        "at-ferry": 1,
        "location": 4,
        "car": 3,
        "not-eq": 12,
        "at": 3,
    }
    assert [atom[1] for atom in task.goal_atoms] == ["c0", "c1", "c2"]
    place = next(atom[1] for atom in task.problem.init if atom[0] == "at-ferry")
    at = {atom[1]: atom[2] for atom in task.problem.init if atom[0] == "at"}
    plan: list[str] = []
    for _, car, goal in task.goal_atoms:
        if at[car] != goal:
            plan += [f"sail {place} {at[car]}"] if place != at[car] else []
            plan += [f"board {car} {at[car]}", f"sail {at[car]} {goal}", f"debark {car} {goal}"]
            place = goal
    verdict = validate_pddl(task, plan)
    assert verdict.valid, verdict.reason


@pytest.mark.parametrize("name", SIZES)
def test_texts_stay_as_they_are(name: str) -> None:
    texts = "".join(GENERATORS.get(name)(*SIZES[name], seed=7))
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == DIGESTS[name]


def test_names_of_sizes() -> None:
    assert sizes_of("ferry") == ["locations", "cars"]
    with pytest.raises(InputError, match="unknown generator 'fery'"):
        sizes_of("fery")


@pytest.mark.parametrize(
    ("given", "sizes", "message"),
    [
        ((3,), {}, "ferry needs each of its sizes once: locations, cars"),
        ((3, 2, 1), {}, "ferry needs each of its sizes once"),
        ((3, 2), {"cars": 2}, "ferry needs each of its sizes once"),
        ((3,), {"car": 2}, "unknown size of ferry 'car' .*did you mean 'cars'"),
    ],
)
def test_sizes_that_there_are_not(given: tuple[int, ...], sizes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ferry.generate(*given, seed=0, **sizes)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("blocksworld", (1,)), ("npuzzle", (1, 5)), ("ferry", (1, 3)), ("ferry", (3, 0))],
)
def test_sizes_without_problems_are_refused(name: str, sizes: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=f"{name} needs at least"):
        GENERATORS.get(name)(*sizes, seed=0)
