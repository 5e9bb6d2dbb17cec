"""Small puzzles in plain Python: all states by breadth-first search, and heuristics by their definitions."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import Tiles
from hstar.spaces.topspin import TopSpin


def neighbours(puzzle: Puzzle, state: State) -> Iterator[tuple[int, State]]:
    """Every number that is a move, with where it leads."""
    for action in range(32 * (len(state) + 1)):
        after = puzzle.successor(state, action)
        if after is not None:
            yield action, after


def distances(puzzle: Puzzle) -> dict[State, int]:
    """h* of all states: moves can be taken back, so it is the distance from the goal."""
    found = {puzzle.goal: 0}
    queue = deque(found)
    while queue:
        state = queue.popleft()
        for _, after in neighbours(puzzle, state):
            if after not in found:
                found[after] = found[state] + 1
                queue.append(after)
    return found


def value(puzzle: Puzzle, heuristic: str, state: State) -> int:
    """A heuristic, summed up afresh."""
    if heuristic == "blind":
        return 0
    if isinstance(puzzle, Pancake):
        assert heuristic == "gap"
        stack = [*state, len(state)]
        return sum(abs(a - b) != 1 for a, b in pairwise(stack))
    if isinstance(puzzle, TopSpin):
        assert heuristic == "gap"
        n, k = len(state), puzzle.turnstile

        def apart(a: int, b: int) -> int:
            return min((a - b) % n, (b - a) % n)

        gaps = sum(apart(a, b) != 1 for a, b in pairwise([*state, state[0]]))
        away = sum(apart(token, place) for place, token in enumerate(state))
        return max(math.ceil(gaps / 2), math.ceil(away / (k * k // 2)))
    if heuristic == "misplaced":
        # The blank does not count; among blocks there is no number that is left out.
        counted = [i for i in range(len(state)) if isinstance(puzzle, Blocks) or state[i] != 0]
        return sum(state[i] != puzzle.goal[i] for i in counted)
    assert isinstance(puzzle, Tiles)
    assert heuristic == "manhattan"
    total = 0
    for cell, tile in enumerate(state):
        if tile:
            row, column = divmod(cell, puzzle.columns)
            goal_row, goal_column = divmod(tile, puzzle.columns)
            total += abs(row - goal_row) + abs(column - goal_column)
    return total
