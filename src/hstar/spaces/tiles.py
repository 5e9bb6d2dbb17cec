"""Sliding-tile puzzles of any size: 8-, 15- and 24-puzzle among them.

A state is the number in each cell, row by row, 0 for the blank. The goal has the blank first, `0 1 2 ...`.
The other usual goal has it last, `1 2 ... 0`; such an instance becomes one of ours when the board is turned
around: cell p becomes n - 1 - p, tile t becomes n - t. Distances stay the same.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.spaces.puzzle import Instance, Puzzle, State, check_state, parse_numbers, read_instances

# Where the blank goes, in the order of the native space: name, rows down, columns to the right.
MOVES = (("up", -1, 0), ("left", 0, -1), ("right", 0, 1), ("down", 1, 0))


@dataclass(frozen=True)
class Tiles(Puzzle):
    """One board that can be brought into order."""

    name: ClassVar[str] = "tiles"
    rows: int
    columns: int
    start: State

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check_state(self.core, self.start))

    @cached_property
    def core(self) -> _core.TilesSpace:
        """The native space."""
        return _core.TilesSpace(self.rows, self.columns)

    @property
    def goal(self) -> State:
        """The blank, then the tiles in order."""
        return tuple(range(self.rows * self.columns))

    @classmethod
    def parse(
        cls, text: str, rows: int | None = None, columns: int | None = None, *, blank_last: bool = False
    ) -> Tiles:
        """A board from its numbers; a square one unless rows and columns are given.

        `blank_last` says that the numbers are meant for the goal that has the blank last.
        """
        numbers = parse_numbers(text)
        if rows is None or columns is None:
            rows = columns = math.isqrt(len(numbers))
            if rows * columns != len(numbers):
                raise InputError(f"{len(numbers)} tiles are no square; give rows and columns")
        return cls(rows, columns, turned(numbers) if blank_last else numbers)

    @classmethod
    def read(cls, path: Path, *, blank_last: bool = False) -> list[Instance[Tiles]]:
        """Square boards of a file with the columns `id`, `tiles` and `optimal_cost`."""
        return read_instances(path, cls.name, lambda text: cls.parse(text, blank_last=blank_last))

    @classmethod
    def solved(cls, rows: int, columns: int) -> Tiles:
        """The board whose start is the goal."""
        return cls(rows, columns, tuple(range(rows * columns)))

    def at(self, start: Sequence[int]) -> Tiles:
        """A board of the same size."""
        return Tiles(self.rows, self.columns, tuple(start))

    def random(self, seed: int) -> Tiles:
        """Uniformly among the boards that can be brought into order.

        A board of the wrong parity becomes a right one by swapping two tiles, which pairs the two halves one
        to one and so keeps the choice uniform.
        """
        tiles = list(self.goal)
        random.Random(seed).shuffle(tiles)
        if not self.core.is_solvable(tiles):
            one, two = tiles.index(1), tiles.index(2)
            tiles[one], tiles[two] = 2, 1
        return self.at(tiles)

    def successor(self, state: State, action: int) -> State | None:
        """The state after a move, None if the move is not possible."""
        if not 0 <= action < len(MOVES):
            return None
        blank = state.index(0)
        row, column = divmod(blank, self.columns)
        row, column = row + MOVES[action][1], column + MOVES[action][2]
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return None
        cells = list(state)
        tile = row * self.columns + column
        cells[blank], cells[tile] = cells[tile], cells[blank]
        return tuple(cells)

    def action_name(self, action: int) -> str:
        """Where the blank goes."""
        return MOVES[action][0]


def check_mirror_images(puzzle: Puzzle) -> None:
    """An `UnsupportedError` unless it has them."""
    if not isinstance(puzzle, Tiles) or puzzle.rows != puzzle.columns:
        raise UnsupportedError(f"{puzzle.core.database_space} has no mirror images; only square tiles have")


def transposed(side: int) -> State:
    """For each cell of a square board, or the tile of that place, the one with row and column swapped."""
    return tuple(column * side + row for row in range(side) for column in range(side))


def mirrored(tiles: State) -> State:
    """The mirror image of a square board. It is as far from the goal, which is its own image."""
    image = transposed(math.isqrt(len(tiles)))
    return tuple(image[tiles[cell]] for cell in image)


def turned(tiles: State) -> State:
    """A board for the goal with the blank last as one for the goal with the blank first, or back."""
    return tuple(len(tiles) - tile if tile else 0 for tile in reversed(tiles))
