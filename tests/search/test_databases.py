"""Additive pattern databases against plain searches of small puzzles and known numbers; the cache."""

from __future__ import annotations

import hashlib
import heapq
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.search.databases import PANCAKE_24, PUZZLE_24, Patterns, pattern_databases
from hstar.search.solve import solve
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import Tiles
from hstar.spaces.topspin import TopSpin
from oracles import puzzles as oracle

KORF_24 = Path(__file__).parents[3] / "shared" / "data" / "korf24_50.csv"
SETS: dict[str, list[Patterns]] = {
    "tiles": [[[1, 2], [3, 4, 5]], [[5, 1, 3], [2]]],
    "tiles-all": [[[1, 2, 3, 4, 5]]],
    "pancake": [[[0, 1, 2], [3, 4, 5]], [[5, 0], [2, 3]]],
    "pancake-all": [[[0, 1, 2, 3, 4, 5]]],
}


def board() -> Tiles:
    return Tiles(2, 3, tuple(range(6)))


def solved(name: str) -> Puzzle:
    return board() if name.startswith("tiles") else Pancake(tuple(range(6)))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HSTAR_CACHE_DIR", str(tmp_path))
    return tmp_path / "databases"


def naive(puzzle: Puzzle, pattern: Sequence[int]) -> dict[State, int]:
    """By places of the pattern: the least cost, by Dijkstra's algorithm over states without other pieces."""
    tiles = isinstance(puzzle, Tiles)
    kept = {*pattern, 0} if tiles else set(pattern)

    def seen(state: State) -> State:
        return tuple(piece if piece in kept else -1 for piece in state)

    def steps(state: State) -> Iterator[tuple[int, State]]:
        for _, after in oracle.neighbours(puzzle, state):
            moved = any(state[i] != after[i] and after[i] in pattern for i in range(len(state)))
            yield int(moved if tiles else after[0] in pattern), after

    best = {seen(puzzle.goal): 0}
    queue = [(0, seen(puzzle.goal))]
    while queue:
        cost, state = heapq.heappop(queue)
        if cost > best[state]:
            continue
        for extra, after in steps(state):
            if cost + extra < best.get(after, 1000):
                best[after] = cost + extra
                heapq.heappush(queue, (cost + extra, after))
    result: dict[State, int] = {}
    for state, cost in best.items():
        places = tuple(state.index(piece) for piece in pattern)
        result[places] = min(cost, result.get(places, cost))
    return result


@pytest.mark.parametrize("name", SETS)
def test_costs_are_those_of_a_plain_search(name: str) -> None:
    puzzle, sets = solved(name), SETS[name]
    databases = pattern_databases(puzzle, sets)
    for one in (one for patterns in databases.sets for one in patterns):
        plain = naive(puzzle, one.pattern)
        places = len(puzzle.start)
        costs = {
            tuple(index // places**i % places for i in range(len(one.pattern))): cost
            for index, cost in enumerate(one.costs)
            if cost != 255
        }
        assert costs == plain
        assert (one.entries, one.largest) == (len(plain), max(plain.values()))
        assert one.mean == pytest.approx(sum(plain.values()) / len(plain))


@pytest.mark.parametrize("name", SETS)
def test_sums_are_admissible_and_follow_moves(name: str) -> None:
    puzzle, sets = solved(name), SETS[name]
    databases = pattern_databases(puzzle, sets)
    tables = [[naive(puzzle, pattern) for pattern in patterns] for patterns in sets]
    core = puzzle.core
    exact = oracle.distances(puzzle)
    for state, distance in exact.items():
        h = core.value(databases, state)  # type: ignore[arg-type]
        assert h <= distance
        assert h == max(
            sum(table[tuple(map(state.index, pattern))] for pattern, table in zip(patterns, row, strict=True))
            for patterns, row in zip(sets, tables, strict=True)
        )
        for action, after in oracle.neighbours(puzzle, state):
            child = core.child_value(databases, state, action)  # type: ignore[arg-type]
            assert child == core.value(databases, after)  # type: ignore[arg-type]
            # Of tiles they are not consistent: tables do not know where the blank is.
            assert name == "tiles" or abs(h - child) <= 1
    if name == "tiles-all":
        assert all(core.value(databases, state) == exact[state] for state in exact)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SETS)
def test_plans_are_optimal(name: str) -> None:
    puzzle, sets = solved(name), SETS[name]
    databases = pattern_databases(puzzle, sets)
    make: Callable[[State], Puzzle] = (lambda s: Tiles(2, 3, s)) if isinstance(puzzle, Tiles) else Pancake
    exact = oracle.distances(puzzle)
    for state in list(exact)[::-5]:
        assert solve(make(state), databases, "idastar").plan_cost == exact[state]


# --- the published partitions -------------------------------------------------------------------


SMALLER = {
    "tiles": [(PUZZLE_24[0][4], 303_600, 20, 10.964), (PUZZLE_24[1][4], 303_600, 24, 13.490)],
    "pancake": [(PANCAKE_24[0][4], 255_024, 5, 3.72), (PANCAKE_24[1][0], 255_024, 4, 1.95)],
}
LARGER = {  # of five pieces, by sets
    "tiles": (
        ((30, 17.307), (30, 17.418), (30, 17.418), (29, 16.813)),
        ((28, 15.788), (26, 14.781), (29, 16.813), (30, 17.418)),
    ),
    "pancake": (((5, 3.68),) * 4, ((5, 3.68), (5, 3.68), (5, 3.68), (6, 4.63))),
}
ENTRIES = {"tiles": 6_375_600, "pancake": 5_100_480}
ROUNDED = {"tiles": 0.0005, "pancake": 0.0055}  # means are known to so much
LARGE: dict[str, tuple[Puzzle, tuple[Patterns, ...]]] = {
    "tiles": (Tiles(5, 5, tuple(range(25))), PUZZLE_24),
    "pancake": (Pancake(tuple(range(24))), PANCAKE_24),
}


@pytest.mark.parametrize("name", LARGE)
def test_known_numbers_of_patterns_of_four(name: str) -> None:
    for pattern, entries, largest, mean in SMALLER[name]:
        one = pattern_databases(LARGE[name][0], [[pattern]], cache=False).sets[0][0]
        assert (one.entries, one.largest) == (entries, largest)
        assert one.mean == pytest.approx(mean, abs=ROUNDED[name])


def check_numbers(name: str, databases: _core.TilesDatabases | _core.PancakeDatabases) -> None:
    for patterns, known in zip(databases.sets, LARGER[name], strict=True):
        found = [one for one in patterns if len(one.pattern) == 5]
        assert [one.entries for one in found] == [ENTRIES[name]] * 4
        assert [one.largest for one in found] == [largest for largest, _ in known]
        assert [one.mean for one in found] == pytest.approx([mean for _, mean in known], abs=ROUNDED[name])


def sums(puzzle: Puzzle, databases: _core.TilesDatabases | _core.PancakeDatabases) -> list[int]:
    """Of the start: the sum of each set, from the costs themselves."""
    places, start = len(puzzle.start), puzzle.start
    return [
        sum(
            one.costs[sum(start.index(piece) * places**i for i, piece in enumerate(one.pattern))]
            for one in patterns
        )
        for patterns in databases.sets
    ]


@pytest.mark.slow
def test_patterns_of_five_and_sums_of_the_24_puzzle() -> None:
    """Half a minute of processor time for the databases, which both need."""
    databases = pattern_databases(*LARGE["tiles"], cache=False)
    assert isinstance(databases, _core.TilesDatabases)
    check_numbers("tiles", databases)
    if not KORF_24.is_file():
        pytest.skip("sums need ../shared/data/korf24_50.csv beside the repository")
    boards = Tiles.solved(5, 5).read(KORF_24)
    found = [sums(one.puzzle, databases) for one in boards]
    assert len(found) == 50
    for board, both in zip(boards, found, strict=True):
        assert board.optimal_cost is not None
        assert max(both) <= board.optimal_cost
        assert {h % 2 for h in both} == {board.optimal_cost % 2}
        assert board.puzzle.core.value(databases, board.puzzle.start) == max(both)
    means = [sum(column) / 50 for column in (*zip(*found, strict=True), map(max, found))]
    assert [round(mean, 2) for mean in means] == [79.50, 77.90, 79.94]


@pytest.mark.slow
def test_patterns_of_five_and_sums_of_24_pancakes() -> None:
    """Known are the means over 500 other pancakes."""
    databases = pattern_databases(*LARGE["pancake"], cache=False)
    assert isinstance(databases, _core.PancakeDatabases)
    check_numbers("pancake", databases)
    puzzles = [Pancake.solved(24).random(seed) for seed in range(200)]
    found = [sums(puzzle, databases) for puzzle in puzzles]
    for puzzle, both in zip(puzzles, found, strict=True):
        optimum = solve(puzzle, "gap", "idastar").plan_cost
        assert optimum is not None and max(both) <= optimum
        assert puzzle.core.value(databases, puzzle.start) == max(both)
    means = [sum(column) / 200 for column in (*zip(*found, strict=True), map(max, found))]
    assert means == pytest.approx([18.41, 17.61, 18.47], abs=0.3)


def test_partitions_have_every_piece_once() -> None:
    for sets, pieces in ((PUZZLE_24, range(1, 25)), (PANCAKE_24, range(24))):
        for patterns in sets:
            assert sorted(piece for pattern in patterns for piece in pattern) == list(pieces)


# --- the cache ----------------------------------------------------------------------------------


def test_the_cache_keeps_databases(own_cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    sets = [[[2, 1], [3, 4, 5]]]
    built = pattern_databases(board(), sets)
    files = sorted(path.name for path in own_cache.iterdir())
    assert files == ["tiles-2x3_1-2.db", "tiles-2x3_3-4-5.db"]
    times = [path.stat().st_mtime_ns for path in sorted(own_cache.iterdir())]
    mapped = pattern_databases(board(), sets)
    assert [path.stat().st_mtime_ns for path in sorted(own_cache.iterdir())] == times
    for first, second in zip(built.sets[0], mapped.sets[0], strict=True):
        assert (first.pattern, first.costs) == (second.pattern, second.costs)
    for path in own_cache.iterdir():
        path.unlink()
    assert board().core.value(mapped, (1, 0, 2, 3, 4, 5)) == 1, "a mapping outlives its file"
    assert caplog.records == []


@pytest.mark.parametrize("damage", ["flip", "cut", "header", "pattern", "half", "page", "empty"])
def test_damaged_entries_are_made_again(
    own_cache: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    built = pattern_databases(board(), [[[3, 4, 5]]]).sets[0][0].costs
    (path,) = own_cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(
        {
            "flip": whole[:-1] + bytes([whole[-1] ^ 1]),
            "cut": whole[:-1],
            "header": whole.replace(b"hstar", b"hstor", 1),
            "pattern": whole.replace(b"3-4-5", b"3-4-6", 1),
            "half": whole[:4000],
            "page": whole[:4096],
            "empty": b"",
        }[damage]
    )
    assert pattern_databases(board(), [[[3, 4, 5]]]).sets[0][0].costs == built
    assert "is made again" in caplog.text
    assert path.read_bytes() == whole


def test_files_of_older_versions_are_made_again_without_a_word(
    own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    built = pattern_databases(board(), [[[3, 4, 5]]]).sets[0][0].costs
    (path,) = own_cache.iterdir()
    whole = path.read_bytes()
    other = bytes(reversed(built))
    header = b"hstar-database-1 " + hashlib.sha256(other).hexdigest().encode() + b"\n"
    path.write_bytes(header.ljust(4096, b"\0") + other)
    assert pattern_databases(board(), [[[3, 4, 5]]]).sets[0][0].costs == built
    assert path.read_bytes() == whole and caplog.records == []


def test_a_file_of_another_partition_is_refused(own_cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is whole, and of the right size."""
    alone = [pattern_databases(board(), [[one]], cache=False).sets[0][0].costs for one in ([1, 2], [3, 4])]
    pattern_databases(board(), [[[1, 2], [3, 4]]])
    first, second = own_cache / "tiles-2x3_1-2.db", own_cache / "tiles-2x3_3-4.db"
    whole = second.read_bytes()
    second.write_bytes(first.read_bytes())
    assert [one.costs for one in pattern_databases(board(), [[[1, 2], [3, 4]]]).sets[0]] == alone
    assert f"{second} has the costs of tiles-2x3 1-2, and is made again" in caplog.text
    assert second.read_bytes() == whole
    # The other shape has as many entries, too.
    third = own_cache / "tiles-3x2_3-4.db"
    third.write_bytes(whole)
    turned = Tiles(3, 2, tuple(range(6)))
    expected = pattern_databases(turned, [[[3, 4]]], cache=False).sets[0][0].costs
    assert pattern_databases(turned, [[[3, 4]]]).sets[0][0].costs == expected != alone[1]
    assert f"{third} has the costs of tiles-2x3 3-4" in caplog.text


def test_a_killed_process_leaves_nothing_that_is_read(
    own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed when the costs are written and the file has no name yet; the next use clears up."""
    script = (
        "import os, signal\n"
        "from hstar.search.databases import pattern_databases\n"
        "from hstar.spaces.tiles import Tiles\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)\n"
        "pattern_databases(Tiles(2, 3, tuple(range(6))), [[[1, 2]]])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], timeout=60)
    assert done.returncode == -signal.SIGKILL
    (part,) = own_cache.iterdir()
    assert part.suffix == ".part"
    expected = pattern_databases(board(), [[[1, 2]]], cache=False).sets[0][0].costs
    assert pattern_databases(board(), [[[1, 2]]]).sets[0][0].costs == expected
    past = time.time() - 3600
    os.utime(part, (past, past))
    assert pattern_databases(board(), [[[1, 2]]]).sets[0][0].costs == expected
    assert [path.name for path in own_cache.iterdir()] == ["tiles-2x3_1-2.db"]
    assert caplog.records == []


def test_a_cache_that_cannot_be_used_is_one_warning(
    own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own_cache.write_text("a file where the folder should be")
    assert pattern_databases(board(), [[[1], [2, 3]]]).sets[0][0].largest == 2
    told = sorted(record.getMessage().removesuffix(": File exists") for record in caplog.records)
    assert told == [
        f"cannot read the cache in {own_cache}: Not a directory",
        f"cannot write the cache in {own_cache}",
    ]


def test_a_file_of_another_size_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "costs"
    file.write_bytes(b"\0" * 35)
    with pytest.raises(InputError, match="expected 36 costs from byte 0 on, in a file of 35 bytes"):
        board().core.map_database([1, 2], str(file), 0)
    with pytest.raises(InputError, match="expected 36 costs from byte 99 on"):
        board().core.map_database([1, 2], str(file), 99)
    with pytest.raises(InputError, match="none: cannot read"):
        board().core.map_database([1, 2], str(tmp_path / "none"), 0)


# --- side by side -------------------------------------------------------------------------------


def test_built_side_by_side_they_are_those_that_are_built_alone() -> None:
    sets = [[[1, 2], [3, 4], [5]], [[1, 5], [2, 3], [4]]]
    together = pattern_databases(board(), sets, cache=False).sets
    for patterns, built in zip(sets, together, strict=True):
        for pattern, one in zip(patterns, built, strict=True):
            assert one.costs == pattern_databases(board(), [[pattern]], cache=False).sets[0][0].costs


def test_ctrl_c_ends_all_that_are_being_built(own_cache: Path) -> None:
    """In the main thread the signal comes while it waits; half files are not left."""
    script = (
        "import os, signal, threading\n"
        "from hstar.search.databases import PUZZLE_24, pattern_databases\n"
        "from hstar.spaces.tiles import Tiles\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()\n"
        "try:\n    pattern_databases(Tiles(5, 5, tuple(range(25))), PUZZLE_24)\n"
        "except KeyboardInterrupt:\n    print('ended')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ended\n", done.stderr
    assert not own_cache.exists() or not list(own_cache.glob("*-*-*-*-*.db"))


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sets", "message"),
    [
        ("tiles", [[[0, 1]]], r"a pattern has pieces 1\.\.5, got 0"),
        ("tiles", [[[6]]], r"a pattern has pieces 1\.\.5, got 6"),
        ("tiles", [[[1, 1]]], "piece 1 is twice in the pattern"),
        ("tiles", [[[]]], "a pattern needs at least one piece"),
        ("tiles", [[[1, 2], [2, 3]]], "piece 2 is in two patterns of a set, whose costs cannot be added"),
        ("tiles", [[[1]]] * 21, "there are at most 20 databases"),
        ("pancake", [[[6]]], r"a pattern has pieces 0\.\.5, got 6"),
    ],
)
def test_wrong_patterns_are_one_line(name: str, sets: list[Patterns], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        pattern_databases(solved(name), sets)
    assert "\n" not in str(caught.value)


def test_patterns_that_are_too_large() -> None:
    with pytest.raises(InputError, match="a pattern of 7 pieces in 25 places is too large"):
        pattern_databases(Tiles(5, 5, tuple(range(25))), [[range(1, 8)]])


def test_databases_belong_to_a_puzzle_and_a_size() -> None:
    databases = pattern_databases(board(), [[[1, 2]]])
    with pytest.raises(InputError, match="databases for tiles-2x3 do not fit tiles-3x2"):
        solve(Tiles(3, 2, tuple(range(6))), databases, "idastar")
    with pytest.raises(InputError, match="not a heuristic of pancake"):
        solve(solved("pancake"), databases, "idastar")
    with pytest.raises(UnsupportedError, match="no pattern databases of topspin"):
        pattern_databases(TopSpin.solved(6), [[[1, 2]]])
