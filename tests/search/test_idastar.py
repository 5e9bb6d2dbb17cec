"""IDA* on native puzzles: published counts, pruning, limits and wrong options."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar import _core
from hstar.errors import InputError, PlanError, UnsupportedError
from hstar.search.solve import Result, SearchConfig, solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle, parse_numbers, replay
from hstar.spaces.tiles import Tiles

# Instances of Korf (AIJ 1985): number, tiles, optimal cost, generated states without the root.
KORF = {
    1: ("14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", 57, 276_361_932),
    2: ("13 5 4 10 9 12 8 14 2 3 7 1 0 15 11 6", 55, 15_300_441),
    5: ("4 7 14 13 10 3 9 12 11 5 6 15 1 2 8 0", 56, 11_020_324),
}


def korf(number: int) -> Tiles:
    return Tiles(4, 4, parse_numbers(KORF[number][0]))


def hard() -> Tiles:
    return korf(1)


@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.slow), 2, 5])
def test_counts_are_the_published_ones(number: int) -> None:
    _, cost, generated = KORF[number]
    result = solve(korf(number), "manhattan", "idastar")
    assert (result.plan_cost, result.generated) == (cost, generated)
    assert result.round_bound == cost
    assert result.initial_h % 2 == cost % 2
    assert result.rounds <= (cost - result.initial_h) // 2 + 1, "bounds grow by two"


def test_more_pruning_generates_less() -> None:
    board = korf(5)
    undo = solve(board, "manhattan", "idastar")
    automaton = solve(board, "manhattan", "idastar", pruning="automaton")
    table = solve(board, "manhattan", "idastar", table_bytes=2**24)
    assert undo.plan_cost == automaton.plan_cost == table.plan_cost == 56
    assert automaton.generated < 0.8 * undo.generated
    assert table.generated < 0.7 * undo.generated
    assert table.actions == undo.actions, "what it leaves out has been searched, and has no goal"
    stack = Pancake.solved(7).walk(6, 3)
    undo, automaton = (solve(stack, "blind", "idastar", pruning=name) for name in ("undo", "automaton"))
    assert undo.plan_cost == automaton.plan_cost
    assert automaton.generated < undo.generated


def test_without_pruning_moves_are_taken_back() -> None:
    blocks = Blocks.solved(7).random(5)
    none, undo = (solve(blocks, "misplaced", "idastar", pruning=name) for name in ("none", "undo"))
    assert none.plan_cost == undo.plan_cost
    assert none.generated > undo.generated


def test_a_large_stack_of_pancakes() -> None:
    for seed in range(20):
        result = solve(Pancake.solved(24).random(seed), "gap", "idastar")
        assert result.plan_cost is not None
        assert result.initial_h <= result.plan_cost <= result.initial_h + 3


def test_a_start_that_is_the_goal() -> None:
    for puzzle in (Tiles(3, 3, tuple(range(9))), Pancake((0,)), Blocks((0, 1, 2))):
        for heuristic in puzzle.core.heuristics:
            result = solve(puzzle, heuristic.name, "idastar")
            assert (result.status, result.plan, result.plan_cost) == ("solved", (), 0)
            assert (result.generated, result.expanded) == (0, 0)


def test_a_plan_has_words() -> None:
    result = solve(Tiles(3, 3, (1, 4, 2, 3, 0, 5, 6, 7, 8)), "manhattan", "idastar")
    assert result.plan == ("up", "left")
    assert solve(Pancake((2, 1, 0, 3)), "gap", "idastar").plan == ("flip 3",)
    assert solve(Blocks((0, 0)), "misplaced", "idastar").plan == ("move 2 onto 1",)


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"pruning": "automaton"}, {"table_bytes": 2**16}])
@pytest.mark.parametrize("most", [1, 2, 1000, 8191, 8192, 8193, 20_000, 100_001])
def test_a_limit_of_evaluations_is_exact(most: int, options: dict[str, object]) -> None:
    result = solve(hard(), "manhattan", "idastar", max_evaluations=most, **options)
    assert (result.status, result.plan, result.plan_cost) == ("evaluation_limit", None, None)
    assert result.generated == most - 1, "and the root"


def test_a_limit_that_is_just_enough() -> None:
    board = Tiles.solved(4, 4).walk(40, 1)
    free = solve(board, "manhattan", "idastar")
    assert free.solved
    assert solve(board, "manhattan", "idastar", max_evaluations=free.generated + 1).actions == free.actions
    assert solve(board, "manhattan", "idastar", max_evaluations=free.generated).status == "evaluation_limit"


def test_a_time_limit() -> None:
    result = solve(hard(), "blind", "idastar", time_limit=0.2)
    assert result.status == "time_limit"
    assert result.generated > 0
    assert 0.19 < result.search_time < 20
    assert solve(hard(), "blind", "idastar", time_limit=0).status == "time_limit"


def test_an_interrupt_and_an_exception_of_progress() -> None:
    seen = []

    def interrupt(progress: object) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    result = solve(hard(), "blind", "idastar", progress=interrupt, time_limit=120)
    assert result.status == "interrupted"
    assert len(seen) == 3
    assert result.generated > 0

    def fail(progress: object) -> None:
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        solve(hard(), "blind", "idastar", progress=fail, time_limit=120)


# --- threads ------------------------------------------------------------------------------------


def found(result: Result) -> tuple[object, ...]:
    """All but times and the memory of the process, which other tests have used, too."""
    others = {"search_time": 0, "cpu_time": 0, "peak_memory": 0, "memory_before_search": 0}
    return tuple({**asdict(result), **others}.values())


@pytest.mark.parametrize(
    ("make", "heuristic", "pruning"),
    [
        (lambda: korf(2), "manhattan", "undo"),
        (lambda: korf(5), "manhattan", "automaton"),
        (lambda: Tiles.solved(3, 3).random(1), "misplaced", "none"),
        (lambda: Pancake.solved(10).random(1), "blind", "undo"),
        (lambda: Pancake.solved(40).random(3), "gap", "undo"),
        (lambda: Blocks.solved(9).random(0), "misplaced", "none"),
        (lambda: Blocks.solved(9).random(4), "misplaced", "undo"),
    ],
)
@pytest.mark.parametrize("threads", [2, 7])
def test_threads_find_and_count_the_same(
    make: Callable[[], Puzzle], heuristic: str, pruning: str, threads: int
) -> None:
    puzzle = make()
    alone = solve(puzzle, heuristic, "idastar", pruning=pruning)
    assert alone.generated > 200_000, "or there is nothing to share"
    assert found(solve(puzzle, heuristic, "idastar", pruning=pruning, threads=threads)) == found(alone)


def test_a_goal_above_the_subtrees() -> None:
    """The tree is cut below the goal: more threads than there are states above it."""
    stack = next(
        p for p in map(Pancake.solved(8).random, range(100)) if solve(p, "gap", "idastar").plan_cost == 7
    )
    alone = solve(stack, "blind", "idastar")
    assert alone.generated > 200_000
    assert found(solve(stack, "blind", "idastar", threads=1000)) == found(alone)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(2, 5),
    st.sampled_from(["blind", "misplaced", "manhattan"]),
    st.sampled_from([0.5, 0.99, 1.0, 1.01, 2.0]),
)
def test_threads_on_random_boards(seed: int, threads: int, heuristic: str, share: float) -> None:
    """A limit near what it takes: threads may reach it where one does not, but plans and counts are its."""
    board = Tiles.solved(3, 3).walk(60, seed)
    alone = solve(board, heuristic, "idastar", max_evaluations=3_000_000)
    limit = int(share * (alone.generated + 1))
    shared = solve(board, heuristic, "idastar", threads=threads, max_evaluations=limit)
    assert shared.status in ("solved", "evaluation_limit")
    if shared.solved:
        assert alone.status == "evaluation_limit" or found(shared) == found(alone)
    else:
        assert limit - 1 <= shared.generated + 8192 * threads


def test_few_states_need_no_threads() -> None:
    """Nothing is made for them before there is something to share."""
    stack = Pancake.solved(20).walk(3, 1)
    for threads in (1, 1000):
        result = solve(stack, "gap", "idastar", pruning="automaton", threads=threads, time_limit=10)
        assert result.solved
        assert result.search_time < 1


def test_limits_hold_for_all_threads_together() -> None:
    result = solve(hard(), "manhattan", "idastar", threads=3, max_evaluations=10_000_000)
    assert result.status == "evaluation_limit"
    assert 9_999_999 <= result.generated < 10_000_000 + 3 * 8192
    assert solve(hard(), "manhattan", "idastar", threads=2, max_evaluations=1000).generated == 999
    result = solve(hard(), "blind", "idastar", threads=2, time_limit=0.3)
    assert result.status == "time_limit"
    assert 0.29 < result.search_time < 20


def test_threads_can_be_interrupted() -> None:
    seen: list[int] = []

    def interrupt(progress: _core.Progress) -> None:
        seen.append(progress.generated)
        if len(seen) == 4:
            raise KeyboardInterrupt

    result = solve(hard(), "blind", "idastar", threads=2, progress=interrupt, time_limit=120)
    assert result.status == "interrupted"
    assert len(seen) == 4
    assert seen == sorted(seen)
    assert result.generated >= seen[-1] > 100_000

    def slowly(progress: _core.Progress) -> None:
        if progress.generated > 100_000:
            time.sleep(0.6)  # past the limit of time: the interrupt came first
            raise KeyboardInterrupt

    assert (
        solve(hard(), "blind", "idastar", threads=2, progress=slowly, time_limit=0.5).status == "interrupted"
    )

    def fail(progress: object) -> None:
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        solve(hard(), "blind", "idastar", threads=2, progress=fail, time_limit=120)


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1}, "time_limit must be a number from 0 on, got -1"),
        ({"time_limit": float("nan")}, "time_limit must be a number from 0 on, got nan"),
        ({"max_evaluations": 1.5}, "max_evaluations must be a whole number from 0 on, got 1.5"),
        ({"max_evaluations": -1}, "max_evaluations must be a whole number from 0 on, got -1"),
        ({"table_bytes": None}, "table_bytes must be a whole number from 0 on, got None"),
        ({"pruning": "all"}, r"unknown pruning 'all' \(known: none, undo, automaton\)"),
        ({"prunning": "none"}, "unknown option 'prunning' .* did you mean 'pruning'"),
        ({"pruning": "automaton", "table_bytes": 1024}, "do not go together"),
        ({"threads": 2, "table_bytes": 1024}, "threads and a table of seen states do not go together"),
        ({"threads": 0}, r"threads must be a whole number from 1 to 1024, got 0"),
        ({"threads": 1.5}, r"threads must be a whole number from 1 to 1024, got 1\.5"),
        ({"config": SearchConfig(), "pruning": "none"}, "either config or single options"),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        solve(hard(), "manhattan", "idastar", **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_heuristics_belong_to_puzzles() -> None:
    with pytest.raises(
        InputError, match=r"unknown heuristic of tiles 'gap' \(known: manhattan, misplaced, blind\)"
    ):
        solve(hard(), "gap", "idastar")
    with pytest.raises(InputError, match=r"unknown heuristic 'lmcut' \(known: gap, blind\)"):
        Pancake((0, 1)).core.value("lmcut", (0, 1))
    with pytest.raises(UnsupportedError, match="use pruning 'undo'"):
        solve(Blocks((0, 0)), "misplaced", "idastar", pruning="automaton")


def test_wrong_plans_are_seen() -> None:
    board = Tiles(3, 3, (1, 0, 2, 3, 4, 5, 6, 7, 8))
    assert replay(board, [1])[-1] == board.goal
    with pytest.raises(PlanError, match="step 1 of the plan, move 0, is not possible"):
        replay(board, [0])
    with pytest.raises(PlanError, match="the plan ends in 1 2 0 3"):
        replay(board, [2])
