"""Blocks in stacks on a table; a move takes the top of a stack onto another one or onto the table.

A state says what lies under each block 1..n, 0 for the table. The goal is any such state; unless another one
is given it is the tower with 1 on the table and i on i - 1. A move is block * 32 + where it goes.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from hstar import _core
from hstar.spaces.puzzle import PUZZLES, Puzzle, State, check_state


@PUZZLES.register("blocks")
@dataclass(frozen=True)
class Blocks(Puzzle):
    """One arrangement of blocks and the wanted one."""

    name: ClassVar[str] = "blocks"
    example: ClassVar[str] = "15"
    start: State
    goal: State = ()

    def __post_init__(self) -> None:
        goal = self.goal or tower(len(self.start))
        object.__setattr__(self, "goal", check_state(_core.BlocksSpace(goal), goal))
        super().__post_init__()

    @cached_property
    def core(self) -> _core.BlocksSpace:
        return _core.BlocksSpace(self.goal)

    @classmethod
    def solved(cls, blocks: int, goal: State = ()) -> Blocks:
        return cls(goal or tower(blocks), goal)

    @property
    def one_hot_names(self) -> tuple[str, ...]:
        n = len(self.start)
        return tuple(f"{block} on {under or 'table'}" for block in range(1, n + 1) for under in range(n + 1))

    def random(self, seed: int) -> Blocks:
        """Uniformly among all arrangements.

        There are n!/k! * binomial(n - 1, k - 1) arrangements in k stacks: an order of all blocks, cut into k
        pieces, where the order of the pieces does not count.
        """
        blocks, rng = len(self.start), random.Random(seed)
        counts = [math.perm(blocks, blocks - k) * math.comb(blocks - 1, k - 1) for k in range(1, blocks + 1)]
        choice = rng.randrange(sum(counts))
        stacks = 1
        while choice >= counts[stacks - 1]:
            choice -= counts[stacks - 1]
            stacks += 1
        order = rng.sample(range(1, blocks + 1), blocks)
        bottoms = {0, *rng.sample(range(1, blocks), stacks - 1)}
        under = [0] * blocks
        for place, block in enumerate(order):
            under[block - 1] = 0 if place in bottoms else order[place - 1]
        return self.at(under)

    def successor(self, state: State, action: int) -> State | None:
        block, onto = divmod(action, 32)
        if not (1 <= block <= len(state) and 0 <= onto <= len(state)):
            return None
        if block in state or onto == block or state[block - 1] == onto or (onto and onto in state):
            return None
        return (*state[: block - 1], onto, *state[block:])

    def action_name(self, action: int) -> str:
        block, onto = divmod(action, 32)
        return f"move {block} onto {onto}" if onto else f"move {block} to the table"


def tower(blocks: int) -> State:
    """Block 1 on the table, each further one on the one before."""
    return tuple(range(blocks))
