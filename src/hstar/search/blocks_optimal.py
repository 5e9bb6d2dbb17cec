"""Optimal plans of blocks, at once for dozens of blocks (Slaney and Thiebaux, AIJ 2001).

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
    return len(optimal_plan(puzzle))


def optimal_plan(puzzle: Blocks) -> tuple[int, ...]:
    """The moves of an optimal plan, as `Blocks` numbers them."""
    goal = puzzle.goal
    # A layer for each number of blocks put on the table: settled states, the one before and the block.
    layers: list[dict[State, tuple[State, int]]] = [{_settled(puzzle.start, goal)[0]: (puzzle.start, 0)}]
    while goal not in layers[-1]:
        layers.append(
            {
                _settled(_on_table(one, block), goal)[0]: (one, block)
                for one in layers[-1]
                for block in _to_table(one, goal)
            }
        )
    parts: list[list[int]] = []
    state = goal
    for layer in reversed(layers):
        before, block = layer[state]
        moves = _settled(_on_table(before, block), goal)[1]
        parts.append([block * 32, *moves] if block else moves)
        state = before
    return tuple(move for part in reversed(parts) for move in part)


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


def _on_table(state: State, block: int) -> State:
    """With the block on the table; as it is without one."""
    return (*state[: block - 1], 0, *state[block:]) if block else state


def _settled(state: State, goal: State) -> tuple[State, list[int]]:
    """After all moves to final places, and these moves."""
    under = list(state)
    moves: list[int] = []
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
            moves.append(block * 32 + target)
            break
    return tuple(under), moves


def _to_table(state: State, goal: State) -> list[int]:
    """Blocks on top of a stack that have to move and are not on the table yet."""
    covered = set(state)
    placed = _placed(state, goal)
    blocks = range(1, len(state) + 1)
    return [block for block in blocks if not placed[block] and block not in covered and state[block - 1]]
