"""Stacks of pancakes: a move turns the first k of them over.

A state is the pancakes from the top, 0..n-1; the goal is in order with 0 on top. A move is k = 2..n.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from hstar import _core
from hstar.spaces.puzzle import PUZZLES, Puzzle, State


@PUZZLES.register("pancake")
@dataclass(frozen=True)
class Pancake(Puzzle):
    """A stack of pancakes; an action reverses the upper ones."""

    name: ClassVar[str] = "pancake"
    example: ClassVar[str] = "24"
    start: State

    @cached_property
    def core(self) -> _core.PancakeSpace:
        return _core.PancakeSpace(len(self.start))

    @classmethod
    def solved(cls, pancakes: int) -> Pancake:
        return cls(tuple(range(pancakes)))

    def random(self, seed: int) -> Pancake:
        """A stack drawn uniformly among all of this size."""
        stack = list(self.goal)
        random.Random(seed).shuffle(stack)
        return self.at(stack)

    def successor(self, state: State, action: int) -> State | None:
        if not 2 <= action <= len(state):
            return None
        return (*reversed(state[:action]), *state[action:])

    def action_name(self, action: int) -> str:
        return f"flip {action}"
