"""What a network sees of a state of a puzzle, as numbers in 0..1, computed by the core.

Kind "one-hot", for every size. tiles: for each number, the blank too, a 1 for its column, then a 1 for its
row. pancake, topspin: for each piece a 1 for its place. blocks: for each block a 1 for what lies under it,
the table first.

Kind "databases", those of Marom and Rosman (ICAPS 2020): costs of pattern databases, each scaled by its
largest, sums of additive sets, and a few numbers more; see `core/heuristics/database_inputs.h`. Sets of
patterns are known for tiles 4 x 4 and 5 x 5, 24 pancakes and a tower of 15 blocks; others can be given. Those
of tiles 4 x 4 are ours.

Kind "mirrored-databases", for square boards of tiles: the same with the databases of the mirror image of a
state, too. A plan of that is as long, since the goal is its own image, but its costs are others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import UnsupportedError
from hstar.registry import unknown
from hstar.search.databases import KNOWN, Patterns, pattern_databases
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import Tiles, check_mirror_images, transposed

NativeInputs: TypeAlias = "_core.TilesInputs | _core.PancakeInputs | _core.BlocksInputs | _core.TopSpinInputs"

ONE_HOT = "one-hot"
DATABASES = "databases"
MIRRORED = "mirrored-databases"
INPUTS = (ONE_HOT, DATABASES, MIRRORED)


@dataclass(frozen=True)
class PuzzleFeatures:
    """Inputs of one kind, for puzzles of one size and goal; made by `puzzle_features`."""

    kind: str
    space: str  # "tiles-4x4"
    names: tuple[str, ...]
    core: NativeInputs = field(repr=False, compare=False)

    @property
    def inputs(self) -> int:
        return len(self.names)

    def array(self, states: Sequence[State]) -> npt.NDArray[np.float32]:
        core: Any = self.core
        result: npt.NDArray[np.float32] = core.array(states)
        return result

    def admissible(self, states: Sequence[State]) -> npt.NDArray[np.int32]:
        """The greatest admissible feature of each state, in moves.

        Of "one-hot", where no input is one, the Manhattan distance, the gap, or misplaced blocks.
        """
        core: Any = self.core
        result: npt.NDArray[np.int32] = core.admissible(states)
        return result


def puzzle_features(
    puzzle: Puzzle, kind: str, *, sets: Sequence[Patterns] | None = None, cache: bool = True
) -> PuzzleFeatures:
    """Features for puzzles of this size and with this goal.

    `sets` are patterns for "databases", where they are not the known ones. Building them takes a minute or
    two; with `cache` they are kept.
    """
    if kind == ONE_HOT:
        inputs: NativeInputs = _core.one_hot_inputs(puzzle.core)
        return PuzzleFeatures(kind, puzzle.core.database_space, puzzle.one_hot_names, inputs)
    if kind not in INPUTS:
        raise unknown(f"kind of features of {puzzle.name}", kind, list(INPUTS))
    space = puzzle.core.database_space
    if sets is None:
        sets = KNOWN.get(space)
    if sets is None:
        raise UnsupportedError(f"no patterns are known for {space}; give sets, or use kind '{ONE_HOT}'")
    if kind == MIRRORED:
        sets = _with_mirror_images(puzzle, sets)
    return _with_databases(puzzle, kind, sets, cache)


def _with_mirror_images(puzzle: Puzzle, sets: Sequence[Patterns]) -> Sequence[Patterns]:
    """Each set, and behind all of them their images, unless these are there."""
    check_mirror_images(puzzle)
    image = transposed(math.isqrt(len(puzzle.goal)))
    images = [[[image[tile] for tile in pattern] for pattern in one] for one in sets]
    known = [{frozenset(pattern) for pattern in one} for one in sets]
    return [*sets, *(image for image in images if {frozenset(pattern) for pattern in image} not in known)]


def _with_databases(puzzle: Puzzle, kind: str, sets: Sequence[Patterns], cache: bool) -> PuzzleFeatures:
    names = [f"pattern {'-'.join(map(str, sorted(pattern)))}" for patterns in sets for pattern in patterns]
    if isinstance(puzzle, Blocks):
        names += ["misplaced", "stacks"]
    else:
        names += [f"sum {i}" for i in range(1, len(sets) + 1)]
        tiles = ("misplaced", "manhattan", "blank")
        names += tiles if isinstance(puzzle, Tiles) else ("middle in place", "largest misplaced")
    databases: Any = pattern_databases(puzzle, sets, cache=cache)
    inputs = _core.database_inputs(databases)
    return PuzzleFeatures(kind, puzzle.core.database_space, tuple(names), inputs)
