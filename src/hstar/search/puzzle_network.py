"""A network as a heuristic of a puzzle, evaluated natively at every state of `idastar`, and what it sees.

Inputs are numbers in 0..1, computed by the core. Kind "one-hot", for every size. tiles: for each number, the
blank too, a 1 for its column, then a 1 for its row. pancake, topspin: for each piece a 1 for its place.
blocks: for each block a 1 for what lies under it, the table first.

Kind "databases", those of Marom and Rosman (ICAPS 2020): costs of pattern databases, each scaled by its
largest, sums of additive sets, and a few numbers more; see `core/heuristics/database_inputs.h`. Sets of
patterns are known for tiles 4 x 4 and 5 x 5, 24 pancakes and a tower of 15 blocks; others can be given. Those
of tiles 4 x 4 are ours.

Kind "mirrored-databases", for square boards of tiles: the same with the databases of the mirror image of a
state, too. A plan of that is as long, since the goal is its own image, but its costs are others.

One hidden layer with relu, outputs mu or mu and rho, and a likely-admissible value of them (Marom and Rosman,
ICAPS 2020): `mu - z * sigma` with sigma = softplus(rho) is at most the cost with probability alpha, if the
cost is as the network believes. It is rounded to the nearest whole number of moves, halves to even, and 0 in
the goal. With `truncated` the belief is without what is below an admissible number, which the cost cannot be
(Núñez-Molina et al., arXiv 2308.11905, for planning tasks); without alpha its mean counts then.

The core has fixed-point sums that follow the moves of a search; they do not depend on the way to a state, so
that `values` and the search have the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.registry import unknown
from hstar.search.databases import KNOWN, Patterns, pattern_databases
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import Tiles, check_mirror_images, transposed

Floats: TypeAlias = npt.NDArray[np.float32]

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
    core: Any = field(repr=False, compare=False)  # each kind of puzzle has its own type

    @property
    def inputs(self) -> int:
        return len(self.names)

    def array(self, states: Sequence[State]) -> Floats:
        result: Floats = self.core.array(states)
        return result

    def admissible(self, states: Sequence[State]) -> npt.NDArray[np.int32]:
        """The greatest admissible feature of each state, in moves.

        Of "one-hot", where no input is one, the Manhattan distance, the gap, or misplaced blocks.
        """
        result: npt.NDArray[np.int32] = self.core.admissible(states)
        return result


def puzzle_features(
    puzzle: Puzzle, kind: str, *, sets: Sequence[Patterns] | None = None, cache: bool = True
) -> PuzzleFeatures:
    """Features for puzzles of this size and with this goal.

    `sets` are patterns for "databases", where they are not the known ones. Building them takes a minute or
    two; with `cache` they are kept.
    """
    if kind == ONE_HOT:
        inputs = _core.one_hot_inputs(puzzle.core)
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


@dataclass(frozen=True, eq=False)
class PuzzleNetwork:
    """Weights and what is made of the outputs."""

    features: PuzzleFeatures
    hidden_weights: Floats  # (inputs, width)
    hidden_biases: Floats  # (width,)
    output_weights: Floats  # (width, outputs): mu, or mu and rho
    output_biases: Floats  # (outputs,)
    scale: float = 1.0  # moves for an output of 1
    lowest_rho: float = -5.0  # rho is cut off there
    highest_rho: float = 1.0
    alpha: float | None = None  # without it, or with one output, the value is mu
    shift: float = 0.0  # the value times `factor` minus `shift` is rounded
    factor: float = 1.0
    floor_admissible: bool = False  # at least what `PuzzleFeatures.admissible` tells, not only 0
    truncated: bool = False  # nothing is believed below that, either; needs two outputs
    switch: float | None = None  # where mu * scale is at least that, sigma is 1 move

    def __post_init__(self) -> None:
        for name in _WEIGHTS:
            object.__setattr__(self, name, _array(name, getattr(self, name)))
        _ = self.core  # which looks at all shapes and numbers

    @cached_property
    def core(self) -> Any:
        belief = _core.PuzzleBelief(**{name: getattr(self, name) for name in _OF_BELIEF})
        belief.sure_below = math.inf if self.switch is None else self.switch
        weights = (getattr(self, name) for name in _WEIGHTS)
        return _puzzle_network(self.features.core, *weights, belief)

    def check(self, puzzle: Puzzle) -> None:
        """An `InputError` unless the network is for puzzles of this kind and size."""
        if self.features.space != puzzle.core.database_space:
            raise InputError(f"a network for {self.features.space} does not fit {puzzle.core.database_space}")

    def values(self, states: Sequence[State]) -> npt.NDArray[np.int32]:
        """The value of each state in moves, as a search has it."""
        result: npt.NDArray[np.int32] = self.core.values(states)
        return result


_puzzle_network: Any = _core.puzzle_network  # there is one for each kind of puzzle
_WEIGHTS = ("hidden_weights", "hidden_biases", "output_weights", "output_biases")
_OF_BELIEF = (
    *("scale", "lowest_rho", "highest_rho", "alpha", "shift", "factor"),
    *("floor_admissible", "truncated"),
)


def _array(name: str, value: object) -> Floats:
    try:
        array = np.array(value, dtype=np.float32, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, got {value!r:.60}") from None
    if array.ndim != (axes := 2 if name.endswith("weights") else 1):
        raise InputError(f"{name} must have {axes} axes, got the shape {array.shape}")
    array.flags.writeable = False  # the core has a copy, which must stay the same
    return array
