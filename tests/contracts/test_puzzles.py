"""Every native puzzle and each of its heuristics against breadth-first search on small sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hstar.errors import InputError, UnsupportedError
from hstar.search.databases import Databases, pattern_databases
from hstar.search.puzzle_network import PuzzleFeatures, PuzzleNetwork, puzzle_features
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Instance, Puzzle, State, format_instances, replay
from hstar.spaces.tiles import Tiles
from hstar.spaces.topspin import TopSpin
from oracles import puzzles as oracle
from oracles.puzzle_networks import random_network


@dataclass(frozen=True)
class Small:
    """A puzzle with few enough states to know all of them."""

    make: Callable[[State], Puzzle]  # from another start
    goal: State
    states: int
    farthest: int

    @cached_property
    def puzzle(self) -> Puzzle:
        return self.make(self.goal)

    @cached_property
    def exact(self) -> dict[State, int]:
        return oracle.distances(self.puzzle)


# Numbers of states and largest distances: half of the permutations and 21 moves for the 2x3 puzzle, the
# pancake numbers, the numbers of sets of lists.
OTHER_GOAL = (0, 0, 1, 2, 3)
SMALL = {
    "tiles-2x2": Small(lambda start: Tiles(2, 2, start), tuple(range(4)), 12, 6),
    "tiles-2x3": Small(lambda start: Tiles(2, 3, start), tuple(range(6)), 360, 21),
    "tiles-3x2": Small(lambda start: Tiles(3, 2, start), tuple(range(6)), 360, 21),
    "pancake-1": Small(Pancake, (0,), 1, 0),
    "pancake-2": Small(Pancake, (0, 1), 2, 1),
    "pancake-5": Small(Pancake, tuple(range(5)), 120, 5),
    "pancake-6": Small(Pancake, tuple(range(6)), 720, 7),
    "blocks-1": Small(Blocks, (0,), 1, 0),
    "blocks-4": Small(Blocks, tuple(range(4)), 73, 6),
    "blocks-5": Small(Blocks, tuple(range(5)), 501, 8),
    "blocks-5-other": Small(lambda start: Blocks(start, OTHER_GOAL), OTHER_GOAL, 501, 7),
    "topspin-5x3": Small(lambda start: TopSpin(start, 3), tuple(range(5)), 120, 6),
    "topspin-6": Small(TopSpin, tuple(range(6)), 360, 5),
    "topspin-6x3": Small(lambda start: TopSpin(start, 3), tuple(range(6)), 36, 4),
}
HEURISTICS = [(name, info.name) for name in SMALL for info in SMALL[name].puzzle.core.heuristics]


@pytest.fixture(params=SMALL)
def small(request: pytest.FixtureRequest) -> Small:
    return SMALL[request.param]


def some(states: dict[State, int], most: int) -> list[State]:
    """Evenly over all distances, the farthest among them."""
    ordered = list(states)
    return ordered[:: -max(1, len(ordered) // most)]


def test_all_states_are_known(small: Small) -> None:
    assert len(small.exact) == small.states
    assert max(small.exact.values()) == small.farthest
    assert tuple(small.puzzle.core.goal) == small.puzzle.goal == small.goal


def test_moves_are_those_of_plain_python(small: Small) -> None:
    core = small.puzzle.core
    for state in small.exact:
        plain = dict(oracle.neighbours(small.puzzle, state))
        actions = core.actions(state)
        assert sorted(actions) == sorted(plain)
        for action in actions:
            after, back = core.apply(state, action)
            assert tuple(after) == plain[action]
            assert core.apply(after, back) == (list(state), action), "undo is a move that apply undoes again"


def test_predecessors_lead_here(small: Small) -> None:
    core = small.puzzle.core
    for state in small.exact:
        before = core.predecessors(state)
        assert {tuple(one) for one, _ in before} == {one for _, one in oracle.neighbours(small.puzzle, state)}
        for one, action in before:
            assert small.puzzle.successor(tuple(one), action) == state


def test_packed_states_are_distinct_and_come_back(small: Small) -> None:
    core = small.puzzle.core
    packed = {state: tuple(core.pack(state)) for state in small.exact}
    assert len(set(packed.values())) == small.states
    for state, words in packed.items():
        assert len(words) == core.words
        assert tuple(core.unpack(words)) == state
    with pytest.raises(InputError, match="words, not"):
        core.unpack([0] * (core.words + 1))


@given(st.data())
def test_large_states_come_back_from_packing(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32))
    rows, columns = data.draw(st.sampled_from([(4, 4), (5, 5), (6, 6), (2, 18), (3, 7)]))
    for puzzle in (
        Tiles.solved(rows, columns).random(seed),
        Pancake.solved(data.draw(st.integers(1, 63))).random(seed),
        Blocks.solved(data.draw(st.integers(1, 31))).random(seed),
        TopSpin.solved(data.draw(st.integers(7, 63)), data.draw(st.integers(2, 5))).random(seed),
    ):
        words = puzzle.core.pack(puzzle.start)
        assert tuple(puzzle.core.unpack(words)) == puzzle.start


@pytest.mark.parametrize(("name", "heuristic"), HEURISTICS)
def test_heuristics_keep_what_they_claim(name: str, heuristic: str) -> None:
    small = SMALL[name]
    core = small.puzzle.core
    info = next(info for info in core.heuristics if info.name == heuristic)
    for state, distance in small.exact.items():
        h = core.value(heuristic, state)
        assert h == oracle.value(small.puzzle, heuristic, state)
        assert not info.admissible or h <= distance
        for action, after in oracle.neighbours(small.puzzle, state):
            child = core.child_value(heuristic, state, action)
            assert child == core.value(heuristic, after), "incremental is afresh"
            assert not info.consistent or h <= 1 + child
    assert core.value(heuristic, small.goal) == 0


@pytest.mark.parametrize(("name", "heuristic"), HEURISTICS)
@pytest.mark.parametrize(
    "options",
    [{}, {"pruning": "none"}, {"table_bytes": 200}, {"table_bytes": 10**6}, {"pruning": "automaton"}],
)
def test_plans_are_optimal(name: str, heuristic: str, options: dict[str, object]) -> None:
    small = SMALL[name]
    if options.get("pruning") == "automaton" and name.startswith("blocks"):
        with pytest.raises(UnsupportedError, match="moves that do not depend on the state"):
            solve(small.puzzle, heuristic, "idastar", **options)
        return
    # Without a heuristic and with little pruning a search of small tiles follows all ways of 21 moves.
    blind = heuristic == "blind"
    most = 14 if blind and name.startswith("tiles") else 6 if blind else 99
    near = {state: distance for state, distance in small.exact.items() if distance <= most}
    for state in some(near, 60 if blind else 150):
        puzzle = small.make(state)
        result = solve(puzzle, heuristic, "idastar", **options)
        assert result.status == "solved"
        assert result.plan_cost == small.exact[state]
        assert result.actions is not None
        assert replay(puzzle, result.actions)[-1] == puzzle.goal


def built(small: Small) -> dict[str, tuple[Databases | PuzzleNetwork, bool]]:
    """Heuristics that are made before they are used, and whether they are admissible."""
    puzzle = small.puzzle
    one_hot = puzzle_features(puzzle, "one-hot")
    likely = {"alpha": 0.9, "scale": 2.0}

    def floor(inputs: PuzzleFeatures) -> PuzzleNetwork:
        zeros = np.zeros((inputs.inputs, 1)), np.zeros(1), np.zeros((1, 1)), np.zeros(1)
        return PuzzleNetwork(inputs, *zeros, floor_admissible=True)

    found: dict[str, tuple[Databases | PuzzleNetwork, bool]] = {
        "floor": (floor(one_hot), True),
        "truncated": (
            PuzzleNetwork(one_hot, **random_network(one_hot.inputs, 20, 2, 1, 2.0), **likely, truncated=True),
            False,
        ),
        "one-hot": (PuzzleNetwork(one_hot, **random_network(one_hot.inputs, 20, 2, 1, 2.0), **likely), False),
    }
    if not hasattr(puzzle.core, "build_database"):
        return found
    pieces = list(range(len(small.goal))) if puzzle.name == "pancake" else list(range(1, len(small.goal) + 1))
    if puzzle.name == "tiles":
        pieces.pop()
    halves = [half for half in (pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]) if half]
    databases = pattern_databases(puzzle, [halves], cache=False)
    inputs = puzzle_features(puzzle, "databases", sets=[halves], cache=False)
    return found | {
        "databases": (databases, True),
        "floor of databases": (floor(inputs), True),
        "inputs": (PuzzleNetwork(inputs, **random_network(inputs.inputs, 8, 2, 1, 2.0), **likely), False),
    }


@pytest.mark.slow
def test_built_heuristics_keep_what_they_claim(small: Small) -> None:
    core: Any = small.puzzle.core
    for name, (heuristic, admissible) in built(small).items():
        native = heuristic.core if isinstance(heuristic, PuzzleNetwork) else heuristic
        assert core.value(native, small.goal) == 0, name
        for state in some(small.exact, 100):
            h = core.value(native, state)
            assert h >= 0
            assert not admissible or h <= small.exact[state], name
            for action, after in oracle.neighbours(small.puzzle, state):
                assert core.child_value(native, state, action) == core.value(native, after), name
        for state in some(small.exact, 20):
            result = solve(small.make(state), heuristic, "idastar")
            assert result.plan_cost is not None
            assert result.plan_cost >= small.exact[state]
            assert not admissible or result.plan_cost == small.exact[state], name


def test_two_searches_count_alike(small: Small) -> None:
    state = max(small.exact, key=lambda one: small.exact[one])
    heuristic = small.puzzle.core.heuristics[0].name
    first, second = (solve(small.make(state), heuristic, "idastar") for _ in range(2))
    counted = ("actions", "generated", "expanded", "round_bound", "rounds")
    assert [getattr(first, name) for name in counted] == [getattr(second, name) for name in counted]


@pytest.mark.parametrize("name", ["tiles-2x3", "pancake-5", "blocks-4", "topspin-6"])
def test_walks_are_fixed_by_their_seed_and_reach_everything(name: str) -> None:
    small = SMALL[name]
    core = small.puzzle.core
    ends = [tuple(core.walk(small.goal, 60, seed)) for seed in range(1500)]
    assert ends == [tuple(core.walk(small.goal, 60, seed)) for seed in range(1500)]
    # A walk of an even number of moves sees half of the states of a puzzle with parity.
    parity = name.startswith("tiles")
    possible = {state for state, distance in small.exact.items() if not parity or distance % 2 == 0}
    assert set(ends) <= possible
    assert len(set(ends)) > 0.9 * len(possible)


def test_walks_do_not_take_moves_back() -> None:
    for seed in range(50):
        assert tuple(Tiles.solved(3, 3).walk(2, seed).start) != tuple(range(9))
        assert Pancake.solved(5).walk(2, seed).start != tuple(range(5))


@pytest.mark.parametrize("name", ["tiles-2x2", "pancake-6", "blocks-5", "topspin-6x3"])
def test_texts_of_instances_come_back(tmp_path: Path, name: str) -> None:
    small = SMALL[name]
    file = tmp_path / "instances.csv"
    chosen = some(small.exact, 10)
    kind = type(small.puzzle)
    instances = [
        Instance(str(i), small.make(state), small.exact[state] if i % 2 else None)
        for i, state in enumerate(chosen)
    ]
    file.write_text(format_instances(instances, kind.name))
    assert small.puzzle.read(file) == instances


@pytest.mark.parametrize("name", ["tiles-2x2", "pancake-5", "blocks-4", "topspin-5x3"])
def test_impossible_moves_are_refused(name: str) -> None:
    puzzle = SMALL[name].puzzle
    possible = dict(oracle.neighbours(puzzle, puzzle.start))
    for action in {-1, 0, 1, 2, 3, 4, 6, 33, 98, 255, 1024, 2**20} - set(possible):
        assert puzzle.successor(puzzle.start, action) is None
        with pytest.raises(InputError, match=f"move {action} is not possible"):
            puzzle.core.apply(puzzle.start, action)
