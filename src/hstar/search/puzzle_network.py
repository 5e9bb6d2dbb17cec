"""A network as a heuristic of a puzzle, evaluated natively at every state of `idastar`.

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
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError
from hstar.options import check_number
from hstar.search.puzzle_features import PuzzleFeatures
from hstar.spaces.puzzle import Puzzle, State

Floats: TypeAlias = npt.NDArray[np.float32]
NativeNetwork: TypeAlias = (
    "_core.TilesNetwork | _core.PancakeNetwork | _core.BlocksNetwork | _core.TopSpinNetwork"
)


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
        arrays = {name: _array(name, getattr(self, name)) for name in _WEIGHTS}
        width, outputs = (*arrays["output_weights"].shape, 0, 0)[:2]
        shapes = {"hidden_weights": (self.features.inputs, width), "hidden_biases": (width,)}
        shapes |= {"output_weights": (width, outputs), "output_biases": (outputs,)}
        if outputs not in (1, 2) or width == 0:
            raise InputError(f"output_weights must have shape (width, 1 or 2), got {(width, outputs)}")
        for name, array in arrays.items():
            if array.shape != shapes[name]:
                raise InputError(f"{name} must have shape {shapes[name]}, got {array.shape}")
            object.__setattr__(self, name, array)
        for name in ("scale", "lowest_rho", "highest_rho", "alpha", "shift", "factor", "switch"):
            value = getattr(self, name)
            if value is not None or name not in ("alpha", "switch"):
                check_number(name, value, -math.inf)
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1, got {self.alpha!r}")
        _ = self.core  # which looks at all numbers

    @cached_property
    def core(self) -> NativeNetwork:
        belief = _core.PuzzleBelief(**{name: getattr(self, name) for name in _OF_BELIEF})
        belief.sure_below = math.inf if self.switch is None else self.switch
        make: Any = _core.puzzle_network  # there is one for each kind of puzzle
        network: NativeNetwork = make(self.features.core, *(getattr(self, name) for name in _WEIGHTS), belief)
        return network

    def check(self, puzzle: Puzzle) -> None:
        """An `InputError` unless the network is for puzzles of this kind and size."""
        if self.features.space != puzzle.core.database_space:
            raise InputError(f"a network for {self.features.space} does not fit {puzzle.core.database_space}")

    def values(self, states: Sequence[State]) -> npt.NDArray[np.int32]:
        """The value of each state in moves, as a search has it."""
        core: Any = self.core
        result: npt.NDArray[np.int32] = core.values(states)
        return result


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
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, but has {array[~np.isfinite(array)][0]}")
    array.flags.writeable = False  # the core has a copy, which must stay the same
    return array
