"""Pattern databases of blocks against plain searches of small patterns and known numbers; the cache."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import pytest

from hstar import _core
from hstar.errors import InputError
from hstar.search.databases import BLOCKS_15, pattern_databases
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks, tower
from hstar.spaces.puzzle import State
from hstar.spaces.tiles import Tiles
from oracles import puzzles as oracle

OTHER_GOAL = (0, 0, 1, 2, 3)
GOALS: dict[str, State] = {"tower": tower(5), "other": OTHER_GOAL, "six": tower(6), "table": (0, 0, 0, 0)}
PATTERNS: dict[str, list[list[int]]] = {
    "tower": [[1, 2], [3, 4, 5], [2], [1, 2, 3, 5]],
    "other": [[5, 1], [4, 2, 3]],
    "six": [[1, 2, 3, 4], [2, 6]],
    "table": [[1, 2, 3, 4], [3]],
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HSTAR_CACHE_DIR", str(tmp_path))
    return tmp_path / "databases"


def seen(state: State, pattern: Sequence[int]) -> State | tuple[tuple[int, ...], ...]:
    """The stacks from the bottom, 0 for a block that is not in the pattern, in some fixed order."""
    stacks = []
    for block, under in enumerate(state, 1):
        if under == 0:
            stack = [block]
            while stack[-1] in state:
                stack.append(state.index(stack[-1]) + 1)
            stacks.append(tuple(one if one in pattern else 0 for one in stack))
    return tuple(sorted(stacks))


def naive(puzzle: Blocks, pattern: Sequence[int]) -> dict[object, int]:
    """Costs of all states of a pattern: breadth first over one state for each of them."""
    costs: dict[object, int] = {seen(puzzle.goal, pattern): 0}
    queue = deque([puzzle.goal])
    while queue:
        state = queue.popleft()
        cost = costs[seen(state, pattern)]
        for _, after in oracle.neighbours(puzzle, state):
            if seen(after, pattern) not in costs:
                costs[seen(after, pattern)] = cost + 1
                queue.append(after)
    return costs


def number_of_states(blocks: int, named: int) -> int:
    """Of a pattern: lists of named blocks, unnamed ones between them, and partitions of the rest."""
    unnamed = blocks - named
    partitions = [1] + [0] * unnamed
    for height in range(1, unnamed + 1):
        for total in range(height, unnamed + 1):
            partitions[total] += partitions[total - height]
    return sum(
        math.perm(named, named - stacks)
        * math.comb(named - 1, stacks - 1)
        * math.comb(inside + named + stacks - 1, inside)
        * partitions[unnamed - inside]
        for stacks in range(1, named + 1)
        for inside in range(unnamed + 1)
    )


@pytest.mark.parametrize("name", GOALS)
def test_costs_are_those_of_a_plain_search(name: str) -> None:
    puzzle = Blocks(GOALS[name], GOALS[name])
    patterns = PATTERNS[name]
    databases = pattern_databases(puzzle, [patterns])
    tables = [naive(puzzle, pattern) for pattern in patterns]
    for database, pattern, table in zip(databases.sets[0], patterns, tables, strict=True):
        assert database.pattern == sorted(pattern)
        assert database.entries == len(database.costs) == len(table)
        assert database.entries == number_of_states(len(puzzle.start), len(pattern))
        assert sorted(database.costs) == sorted(table.values())
        assert database.largest == max(table.values())
        assert database.mean == pytest.approx(sum(table.values()) / len(table))
    singles = [_core.databases(puzzle.core, [[one]]) for one in databases.sets[0]]
    exact = oracle.distances(puzzle)
    for state, distance in list(exact.items())[:: 1 + len(exact) // 600]:
        costs = [table[seen(state, pattern)] for pattern, table in zip(patterns, tables, strict=True)]
        assert [puzzle.core.value(single, state) for single in singles] == costs
        h = puzzle.core.value(databases, state)
        assert h == max(costs) <= distance
        for action, after in oracle.neighbours(puzzle, state):
            child = puzzle.core.child_value(databases, state, action)
            assert child == puzzle.core.value(databases, after), "incremental is afresh"
            assert abs(h - child) <= 1, "consistent"


def test_values_follow_long_walks() -> None:
    """Stacks are emptied and begun again many times."""
    puzzle = Blocks.solved(9).random(3)
    databases = pattern_databases(puzzle, [[[1, 2, 3], [4, 9]]])
    state = puzzle.start
    for seed in range(200):
        state = tuple(puzzle.core.walk(state, 1 + seed % 7, seed))
        for action in puzzle.core.actions(state):
            after = tuple(puzzle.core.apply(state, action)[0])
            assert puzzle.core.child_value(databases, state, action) == puzzle.core.value(databases, after)


@pytest.mark.parametrize("name", ["tower", "other"])
def test_plans_are_optimal(name: str) -> None:
    goal = GOALS[name]
    databases = pattern_databases(Blocks(goal, goal), [PATTERNS[name]])
    exact = oracle.distances(Blocks(goal, goal))
    for state in list(exact)[::-7]:
        for pruning in ("none", "undo"):
            assert solve(Blocks(state, goal), databases, "idastar", pruning=pruning).plan_cost == exact[state]


def test_the_number_of_states_of_15_blocks() -> None:
    assert number_of_states(15, 4) == 2_278_239
    assert len(BLOCKS_15) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "largest", "mean"), [(BLOCKS_15[0], 28, 20.50), (BLOCKS_15[1], 25, 17.04)]
)
def test_known_numbers_of_15_blocks(pattern: Sequence[int], largest: int, mean: float) -> None:
    (one,) = pattern_databases(Blocks.solved(15).random(0), [[pattern]], cache=False).sets[0]
    assert (one.entries, len(one.costs), one.largest) == (2_278_239, 2_278_239, largest)
    assert one.mean == pytest.approx(mean, abs=0.0055)


# --- the cache ----------------------------------------------------------------------------------


def test_the_cache_tells_goals_apart(own_cache: Path) -> None:
    tall = pattern_databases(Blocks(tower(5)), [[[2, 1]]])
    other = pattern_databases(Blocks(OTHER_GOAL, OTHER_GOAL), [[[1, 2]]])
    assert sorted(path.name for path in own_cache.iterdir()) == [
        "blocks-5-0.0.1.2.3_1-2.db",
        "blocks-5_1-2.db",
    ]
    assert tall.sets[0][0].costs != other.sets[0][0].costs
    again = pattern_databases(Blocks(tower(5)), [[[1, 2]]])
    assert again.sets[0][0].costs == tall.sets[0][0].costs


def test_files_with_long_names_are_written_side_by_side(own_cache: Path) -> None:
    """The goal is in the name, so that the first forty characters of all are the same."""
    goal = (0, 0, *range(1, 14))
    puzzle, patterns = Blocks(goal, goal), [[block] for block in range(1, 13)]
    built = pattern_databases(puzzle, [patterns])
    assert len({path.name[:40] for path in own_cache.iterdir()}) == 1
    mapped = pattern_databases(puzzle, [patterns])
    for pattern, one, other in zip(patterns, built.sets[0], mapped.sets[0], strict=True):
        (alone,) = pattern_databases(puzzle, [[pattern]], cache=False).sets[0]
        assert one.costs == other.costs == alone.costs
    assert len(list(own_cache.iterdir())) == 12


def test_a_file_of_another_goal_or_pattern_is_refused(
    own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    goals = (tower(5), OTHER_GOAL)
    for goal in goals:
        pattern_databases(Blocks(goal, goal), [[[1, 2], [3, 4]]])
    alone = {
        (goal, one): pattern_databases(Blocks(goal, goal), [[one]], cache=False).sets[0][0].costs
        for goal in goals
        for one in ((1, 2), (3, 4))
    }
    assert len(set(alone.values())) == 4
    tall, other = own_cache / "blocks-5_1-2.db", own_cache / "blocks-5-0.0.1.2.3_1-2.db"
    pair = own_cache / "blocks-5_3-4.db"
    pair.write_bytes(tall.read_bytes())
    tall.write_bytes(other.read_bytes())
    found = {
        (goal, tuple(one.pattern)): one.costs
        for goal in goals
        for one in pattern_databases(Blocks(goal, goal), [[[1, 2], [3, 4]]]).sets[0]
    }
    assert found == alone
    assert f"{pair} has the costs of blocks-5 1-2" in caplog.text
    assert f"{tall} has the costs of blocks-5-0.0.1.2.3 1-2" in caplog.text
    caplog.clear()
    pattern_databases(Blocks(tower(5)), [[[1, 2], [3, 4]]])
    assert caplog.records == []


@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damaged_entries_are_made_again(
    own_cache: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    puzzle = Blocks(tower(5))
    built = pattern_databases(puzzle, [[[1, 2]]]).sets[0][0].costs
    (path,) = own_cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + (bytes([whole[-1] ^ 1]) if damage == "flip" else b""))
    assert pattern_databases(puzzle, [[[1, 2]]]).sets[0][0].costs == built
    assert "is made again" in caplog.text
    assert path.read_bytes() == whole


def test_a_file_of_another_size_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "costs"
    file.write_bytes(b"\0" * 9)
    expected = number_of_states(5, 2)
    with pytest.raises(InputError, match=f"expected {expected} costs from byte 0 on, in a file of 9 bytes"):
        Blocks(tower(5)).core.map_database([1, 2], str(file), 0)


BUILD = """
from hstar.search.databases import pattern_databases
from hstar.spaces.blocks import Blocks
print("begins", flush=True)
pattern_databases(Blocks.solved(17).random(0), [[[1, 2, 3, 4]]])
"""


def test_an_interrupted_building_leaves_no_file(own_cache: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", BUILD], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"KeyboardInterrupt" in errors
    assert time.monotonic() - began < 60
    assert not own_cache.exists() or list(own_cache.iterdir()) == []


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([[0, 1]], r"a pattern has pieces 1\.\.5, got 0"),
        ([[6]], r"a pattern has pieces 1\.\.5, got 6"),
        ([[1, 1]], "piece 1 is twice in the pattern"),
        ([[]], "a pattern needs at least one piece"),
        ([[1, 2, 3, 4, 5]], "a pattern of blocks has 1 to 4 blocks, got 5"),
        ([], "there are 1 to 16 databases, got 0"),
        ([[1]] * 17, "there are 1 to 16 databases, got 17"),
    ],
)
def test_wrong_patterns_are_one_line(patterns: list[list[int]], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        pattern_databases(Blocks(tower(5)), [patterns])
    assert "\n" not in str(caught.value)


def test_patterns_that_are_too_large() -> None:
    with pytest.raises(InputError, match="at most 18 blocks without a name, got 27"):
        pattern_databases(Blocks(tower(31)), [[[1, 2, 3, 4]]])


def test_sets_count_as_one() -> None:
    (patterns,) = pattern_databases(Blocks(tower(5)), [[[1, 2]], [[3], [4]]], cache=False).sets
    assert [one.pattern for one in patterns] == [[1, 2], [3], [4]]


def test_databases_belong_to_a_puzzle_a_size_and_a_goal() -> None:
    databases = pattern_databases(Blocks(tower(5)), [[[1, 2]]])
    with pytest.raises(InputError, match="databases for blocks-5 do not fit blocks-6"):
        solve(Blocks.solved(6).random(0), databases, "idastar")
    with pytest.raises(InputError, match=r"databases for blocks-5 do not fit blocks-5-0\.0\.1\.2\.3"):
        solve(Blocks.solved(5, OTHER_GOAL).random(0), databases, "idastar")
    with pytest.raises(InputError, match="not a heuristic of tiles"):
        solve(Tiles.solved(2, 3).random(0), databases, "idastar")
    with pytest.raises(InputError, match="a database for blocks-5 does not fit blocks-6"):
        _core.databases(Blocks(tower(6)).core, databases.sets)
