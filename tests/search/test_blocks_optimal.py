"""Optimal plans of blocks and their costs: all small states, and what is known of random large ones."""

from __future__ import annotations

import time

import pytest

from hstar.search.blocks_optimal import optimal_cost, optimal_plan
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks, tower
from hstar.spaces.puzzle import State, replay
from oracles import puzzles as oracle


@pytest.mark.parametrize("goal", [tower(5), (0, 0, 1, 2, 3), (0,) * 5, (3, 5, 0, 0, 4), tower(6)])
def test_costs_of_all_small_states(goal: State) -> None:
    exact = oracle.distances(Blocks(goal, goal))
    for state, distance in list(exact.items())[:: 1 + len(exact) // 1500]:
        puzzle = Blocks(state, goal)
        assert optimal_cost(puzzle) == distance
        assert len(replay(puzzle, optimal_plan(puzzle))) == distance + 1


@pytest.mark.parametrize("seed", range(6))
def test_costs_are_those_of_a_search(seed: int) -> None:
    puzzle = Blocks.solved(8).walk(5000, seed)
    assert optimal_cost(puzzle) == solve(puzzle, "misplaced", "idastar").plan_cost


def test_random_walks_of_15_blocks() -> None:
    began = time.process_time()
    costs = [optimal_cost(Blocks.solved(15).walk(5000, seed)) for seed in range(100)]
    # 21.92 over a thousand such states, whose costs are about 2 apart.
    assert sum(costs) / len(costs) == pytest.approx(21.92, abs=0.8)
    assert (time.process_time() - began) / len(costs) < 0.5


def test_the_goal_costs_nothing() -> None:
    assert optimal_cost(Blocks(tower(31))) == 0
    assert optimal_cost(Blocks((0,))) == 0
