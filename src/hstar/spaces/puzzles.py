"""Puzzles by name: `tiles:4x4`, `pancake:24`, `blocks:15`, the words of command line and model files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hstar.errors import InputError
from hstar.registry import unknown
from hstar.spaces.blocks import Blocks, tower
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Instance, Puzzle, State, parse_numbers, read_instances
from hstar.spaces.tiles import Tiles, turned

KINDS = ("tiles", "pancake", "blocks")


@dataclass(frozen=True)
class PuzzleSize:
    """All instances of one kind and size; the goal is the usual one of the kind."""

    kind: str  # one of KINDS
    rows: int  # of tiles; 1 for others
    columns: int  # of tiles; pancakes or blocks for others

    def __str__(self) -> str:
        return (
            f"{self.kind}:{self.rows}x{self.columns}"
            if self.kind == "tiles"
            else f"{self.kind}:{self.columns}"
        )

    @property
    def goal(self) -> State:
        """Tiles with the blank first, pancakes in order, the tower of blocks."""
        return tower(self.columns) if self.kind == "blocks" else tuple(range(self.rows * self.columns))

    def puzzle(self, start: Sequence[int] | None = None) -> Puzzle:
        """The instance with this start, or with the goal as its start."""
        state = self.goal if start is None else tuple(start)
        if len(state) != len(self.goal):
            raise InputError(f"a state of {self} has {len(self.goal)} numbers, not {len(state)}")
        if self.kind == "tiles":
            return Tiles(self.rows, self.columns, state)
        return Pancake(state) if self.kind == "pancake" else Blocks(state)

    def random(self, seed: int) -> Puzzle:
        """Uniformly among all instances."""
        return self.puzzle().random(seed)

    def walk(self, steps: int, seed: int) -> Puzzle:
        """Random moves from the goal, none of them taken back at once."""
        return self.puzzle(self.puzzle().core.walk(self.goal, steps, seed))

    def read(self, path: Path, *, blank_last: bool = False) -> list[Instance[Puzzle]]:
        """Instances of a file; `blank_last`: tiles that are meant for the goal with the blank last."""
        if blank_last and self.kind != "tiles":
            raise InputError(f"there is no blank in {self}")

        def parse(text: str) -> Puzzle:
            state = parse_numbers(text)
            return self.puzzle(turned(state) if blank_last else state)

        return read_instances(path, self.kind, parse)


def size_of(puzzle: Puzzle) -> PuzzleSize:
    """The kind and size of a puzzle; an `InputError` if its goal is not the usual one."""
    rows = puzzle.rows if isinstance(puzzle, Tiles) else 1
    found = PuzzleSize(puzzle.name, rows, len(puzzle.goal) // rows)
    if puzzle.goal != found.goal:
        raise InputError(f"the goal of {found} is not the usual one, which alone can be learned")
    return found


def parse_puzzle(text: str) -> PuzzleSize:
    """`tiles:4x4`, `pancake:24` or `blocks:15`; an `InputError` for anything else."""
    kind, _, size = text.partition(":")
    if kind not in KINDS:
        raise unknown("puzzle", kind, list(KINDS))
    pattern = r"([0-9]{1,3})x([0-9]{1,3})" if kind == "tiles" else r"()([0-9]{1,3})"
    match = re.fullmatch(pattern, size)
    if match is None:
        example = "tiles:4x4" if kind == "tiles" else f"{kind}:{24 if kind == 'pancake' else 15}"
        raise InputError(f"expected a puzzle such as {example}, got '{text}'")
    found = PuzzleSize(kind, int(match[1] or 1), int(match[2]))
    found.puzzle()  # the core knows which sizes there are
    return found
