"""Sliding-tile puzzles of any size: 8-, 15- and 24-puzzle among them.

A state is the number in each cell, row by row, 0 for the blank. The goal has the blank first, `0 1 2 ...`.
The other usual goal has it last, `1 2 ... 0`; such an instance becomes one of ours when the board is turned
around: cell p becomes n - 1 - p, tile t becomes n - t. Distances stay the same.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from hstar import _core
from hstar.errors import UnsupportedError
from hstar.spaces.puzzle import PUZZLES, Puzzle, State

# Where the blank goes, in the order of the native space: name, rows down, columns to the right.
MOVES = (("up", -1, 0), ("left", 0, -1), ("right", 0, 1), ("down", 1, 0))


@PUZZLES.register("tiles")
@dataclass(frozen=True)
class Tiles(Puzzle):
    """One board that can be brought into order."""

    name: ClassVar[str] = "tiles"
    example: ClassVar[str] = "4x4"
    sizes: ClassVar[str] = r"([0-9]{1,3})x([0-9]{1,3})"
    rows: int
    columns: int
    start: State

    @cached_property
    def core(self) -> _core.TilesSpace:
        return _core.TilesSpace(self.rows, self.columns)

    @property
    def size(self) -> str:
        return f"{self.rows}x{self.columns}"

    @classmethod
    def solved(cls, rows: int, columns: int) -> Tiles:
        return cls(rows, columns, tuple(range(rows * columns)))

    @property
    def quickly_solved(self) -> bool:
        """Whether IDA* solves random instances in seconds: up to the 15-puzzle."""
        return len(self.start) <= 16

    @property
    def one_hot_names(self) -> tuple[str, ...]:
        lines = [f"column {i}" for i in range(self.columns)] + [f"row {i}" for i in range(self.rows)]
        return tuple(f"{tile or 'blank'} in {line}" for tile in range(len(self.start)) for line in lines)

    def of_other_goal(self, state: State) -> State:
        return turned(state)

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
