"""TopSpin: which rings can be reached, and that random ones are drawn uniformly among them."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import pytest

import hstar
from hstar.errors import InputError
from hstar.search.solve import solve
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.topspin import TopSpin
from oracles import puzzles as oracle

SIZES = [(tokens, turnstile) for tokens in range(4, 9) for turnstile in range(2, tokens - 1)]


@pytest.mark.parametrize(("tokens", "turnstile"), SIZES)
def test_exactly_the_reachable_rings_are_states(tokens: int, turnstile: int) -> None:
    puzzle = TopSpin.solved(tokens, turnstile)
    seen, layer = {puzzle.goal}, [puzzle.goal]
    while layer:  # by the core, which test_puzzles.py holds to plain Python
        after = {tuple(puzzle.core.apply(ring, move)[0]) for ring in layer for move in range(tokens)}
        layer = [ring for ring in after if ring not in seen]
        seen.update(layer)
    assert all(puzzle.core.is_solvable(ring) == (ring in seen) for ring in permutations(range(tokens)))


@pytest.mark.parametrize(
    ("tokens", "turnstile", "states"), [(5, 2, 120), (6, 4, 360), (6, 3, 36), (8, 5, 288)]
)
def test_random_rings_are_uniform(tokens: int, turnstile: int, states: int) -> None:
    puzzle, draws = TopSpin.solved(tokens, turnstile), 40 * states
    counts = Counter(puzzle.random(seed).start for seed in range(draws))
    assert len(counts) == states
    expected = draws / states
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert abs(chi_square - (states - 1)) < 5 * math.sqrt(2 * (states - 1))


def test_names() -> None:
    assert str(hstar.load("topspin:12")) == str(parse_puzzle("topspin:12x4")) == "topspin:12"
    assert str(parse_puzzle("topspin:16x5").random(1)) == "topspin:16x5"
    assert parse_puzzle("topspin:16x5").goal == tuple(range(16))
    with pytest.raises(InputError, match="expected a puzzle such as topspin:12, got 'topspin:4x4x4'"):
        parse_puzzle("topspin:4x4x4")


@pytest.mark.parametrize("size", ["5", "64", "8x7", "8x1"])
def test_impossible_sizes(size: str) -> None:
    with pytest.raises(
        InputError, match="topspin needs at most 63 tokens and a turnstile of 2 places to 2 less"
    ):
        parse_puzzle(f"topspin:{size}")


def test_impossible_states() -> None:
    puzzle = TopSpin.solved(6)
    with pytest.raises(InputError, match=r"these tokens cannot reach the goal, 0 1 2 \.\.\."):
        puzzle.at((1, 0, 2, 3, 4, 5))
    with pytest.raises(InputError, match="token 0 appears twice"):
        puzzle.at((0, 0, 2, 3, 4, 5))
    with pytest.raises(InputError, match="token 6 is not in"):
        puzzle.core.is_solvable([0, 1, 2, 3, 4, 6])


def test_plans_have_names() -> None:
    start = TopSpin.solved(8).successor(tuple(range(8)), 6)
    assert start == (7, 6, 2, 3, 4, 5, 1, 0)
    result = solve(TopSpin(start), "gap", "idastar")
    assert result.plan == ("turn at 6",) and result.plan_cost == 1


@pytest.mark.parametrize("pruning", ["none", "undo", "automaton"])
def test_pruning_keeps_plans_optimal(pruning: str) -> None:
    puzzle = TopSpin.solved(6)
    exact = oracle.distances(puzzle)
    for ring in list(exact)[::17]:
        assert solve(puzzle.at(ring), "gap", "idastar", pruning=pruning).plan_cost == exact[ring]
