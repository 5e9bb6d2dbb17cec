"""Costs of optimal plans of blocks, at once for dozens of blocks (Slaney and Thiebaux, AIJ 2001).

A block that can go to its final place goes there: that is never wrong. Every other move of an optimal plan
can be one to the table. A plan then moves each block that is out of place once, and some of them to the table
before; which of them is the only choice, and the search goes through these choices breadth first. Since
blocks only leave the stacks of the start from the top, there are few states.

The general problem is NP-hard; for random states the number of choices stays small.
"""

from __future__ import annotations

from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzle import State


def optimal_cost(puzzle: Blocks) -> int:
    """The least number of moves from the start to the goal."""
    state = puzzle.start
    out_of_place = sum(not placed for placed in _placed(state, puzzle.goal)[1:])
    states = {_settled(state, puzzle.goal)}
    extra = 0
    while puzzle.goal not in states:
        states = {
            _settled((*one[: block - 1], 0, *one[block:]), puzzle.goal)
            for one in states
            for block in _to_table(one, puzzle.goal)
        }
        extra += 1
    return out_of_place + extra


def _placed(state: State, goal: State) -> list[bool]:
    """By block, the table first: whether it never has to move again."""
    placed: list[bool | None] = [True, *(None for _ in state)]
    for block in range(1, len(state) + 1):
        chain = []
        at = block
        while placed[at] is None:
            chain.append(at)
            at = state[at - 1]
        right = placed[at]
        for one in reversed(chain):
            right = placed[one] = bool(right) and state[one - 1] == goal[one - 1]
    return [bool(one) for one in placed]


def _settled(state: State, goal: State) -> State:
    """After all moves to final places."""
    under = list(state)
    placed = _placed(state, goal)
    moved = True
    while moved:
        moved = False
        covered = set(under)
        for block, target in enumerate(goal, 1):
            if placed[block] or block in covered or not placed[target]:
                continue
            if target and target in covered:
                continue
            under[block - 1] = target
            placed[block] = moved = True
            break
    return tuple(under)


def _to_table(state: State, goal: State) -> list[int]:
    """Blocks on top of a stack that have to move and are not on the table yet."""
    covered = set(state)
    placed = _placed(state, goal)
    blocks = range(1, len(state) + 1)
    return [block for block in blocks if not placed[block] and block not in covered and state[block - 1]]
