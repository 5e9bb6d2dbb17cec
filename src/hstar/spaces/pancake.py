"""Stacks of pancakes: a move turns the first k of them over.

A state is the pancakes from the top, 0..n-1; the goal is in order with 0 on top. A move is k = 2..n.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from hstar import _core
from hstar.errors import InputError
from hstar.spaces.puzzle import Instance, Puzzle, State, check_state, parse_numbers, read_instances


@dataclass(frozen=True)
class Pancake(Puzzle):
    """One stack."""

    name: ClassVar[str] = "pancake"
    start: State

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check_state(self.core, self.start))

    @cached_property
    def core(self) -> _core.PancakeSpace:
        """The native space."""
        return _core.PancakeSpace(len(self.start))

    @property
    def goal(self) -> State:
        """The pancakes in order."""
        return tuple(range(len(self.start)))

    @classmethod
    def parse(cls, text: str) -> Pancake:
        """A stack from its numbers."""
        return cls(parse_numbers(text))

    @classmethod
    def read(cls, path: Path) -> list[Instance[Pancake]]:
        """Stacks of a file with the columns `id`, `pancake` and `optimal_cost`."""
        return read_instances(path, cls.name, cls.parse)

    @classmethod
    def solved(cls, pancakes: int) -> Pancake:
        """The stack whose start is the goal."""
        return cls(tuple(range(pancakes)))

    def at(self, start: Sequence[int]) -> Pancake:
        """A stack of as many pancakes."""
        if len(start) != len(self.start):
            raise InputError(
                f"a state of pancake:{len(self.start)} has {len(self.start)} numbers, not {len(start)}"
            )
        return Pancake(tuple(start))

    def random(self, seed: int) -> Pancake:
        """Uniformly among all stacks."""
        stack = list(self.goal)
        random.Random(seed).shuffle(stack)
        return self.at(stack)

    def successor(self, state: State, action: int) -> State | None:
        """The state after a move, None if the move is not possible."""
        if not 2 <= action <= len(state):
            return None
        return (*reversed(state[:action]), *state[action:])

    def action_name(self, action: int) -> str:
        """How many are turned over."""
        return f"flip {action}"
