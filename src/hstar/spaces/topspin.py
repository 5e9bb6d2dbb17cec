"""TopSpin: n tokens in a ring, and a turnstile that reverses k neighbouring ones (Chen and Skiena, 1996).

A state is the token in each place, 0..n-1; in the goal token i lies in place i. A move is the first place of
the turnstile, which reaches k - 1 places on, beyond the last place to the first. The ring as a whole stands
still. `core/spaces/topspin.h` says which states can be reached.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

from hstar import _core
from hstar.spaces.puzzle import PUZZLES, Puzzle, State

_USUAL = 4  # places of the turnstile of the toy


@PUZZLES.register("topspin")
@dataclass(frozen=True)
class TopSpin(Puzzle):
    """One ring that can be brought into order."""

    name: ClassVar[str] = "topspin"
    example: ClassVar[str] = "12"
    sizes: ClassVar[str] = r"([0-9]{1,3})(?:x([0-9]{1,3}))?"  # the turnstile unless it has 4 places: 12, 16x5
    start: State
    turnstile: int = _USUAL

    @cached_property
    def core(self) -> _core.TopSpinSpace:
        return _core.TopSpinSpace(len(self.start), self.turnstile)

    @property
    def size(self) -> str:
        tokens = len(self.start)
        return f"{tokens}" if self.turnstile == _USUAL else f"{tokens}x{self.turnstile}"

    @classmethod
    def solved(cls, tokens: int, turnstile: int = _USUAL) -> TopSpin:
        return cls(tuple(range(tokens)), turnstile)

    @property
    def quickly_solved(self) -> bool:
        """Up to 10 tokens, which have 1.8 million states."""
        return len(self.start) <= 10

    def random(self, seed: int) -> TopSpin:
        """Uniformly among the rings that can be brought into order.

        Where tokens keep to even and odd places, each half is shuffled. A ring of the wrong parity becomes a
        right one by swapping two tokens, of each half if need be, which pairs wrong rings with right ones one
        to one and so keeps the choice uniform.
        """
        rng, halves = random.Random(seed), self.turnstile % 2 == 1 and len(self.start) % 2 == 0
        ring, step = list(self.goal), 2 if halves else 1
        for first in range(step):
            tokens = ring[first::step]
            rng.shuffle(tokens)
            ring[first::step] = tokens
        # Tokens 0 and `step` are of one half, as are 1 and 3.
        for swaps in product((False, True), repeat=step):
            changed = list(ring)
            for first, swap in enumerate(swaps):
                if swap:
                    one, two = ring.index(first), ring.index(first + step)
                    changed[one], changed[two] = first + step, first
            if self.core.is_solvable(changed):
                return self.at(changed)
        raise AssertionError("a swap repairs the parity")

    def successor(self, state: State, action: int) -> State | None:
        if not 0 <= action < len(state):
            return None
        places = [(action + i) % len(state) for i in range(self.turnstile)]
        ring = list(state)
        for place, other in zip(places, reversed(places), strict=True):
            ring[place] = state[other]
        return tuple(ring)

    def action_name(self, action: int) -> str:
        return f"turn at {action}"
