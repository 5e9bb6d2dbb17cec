"""Networks over maps: their contract and options, without torch. They are in `vin.py` and `grid_network.py`.

A network reads a scenario, the obstacles and the goal, and tells the cost-to-go of states of it: cells, or
cells and headings of a lattice. `vin` and `value-map` give all states of a scenario in one pass and take maps
of any size; `paper` takes a pass for each cell, and maps of the size that it was trained on. A registered
network is a frozen dataclass with its options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.models.model import MODELS
from hstar.options import Checked, option
from hstar.spaces.grid import GridLike

if TYPE_CHECKING:
    from torch import nn

Image: TypeAlias = npt.NDArray[np.float32]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]

DISTANCE_UNIT = 32.0  # cells; networks see distances in it, whatever the size of the map
LEAST_SIDE = 16  # of maps for `paper`: its pools divide by 4, 2 and 2


@dataclass(frozen=True)
class GridNetwork(Checked):
    """Options of a network, and what can be made of them. Most value all states of a scenario in one pass."""

    name: ClassVar[str]
    spaces: ClassVar[tuple[str, ...]] = ("map",)
    whole: ClassVar[bool] = True  # one pass gives all states of a scenario
    any_size: ClassVar[bool] = True  # whether it takes maps of other sizes than those of the training

    # What outputs are multiplied by; training sets it to their usual size.
    scale: float = field(default=1.0, kw_only=True, metadata={"above": 0, "most": 1e9})

    @property
    def relative(self) -> bool:
        """Whether its outputs are what is above the admissible distance."""
        return True

    @property
    def planes(self) -> int:
        return 3 if self.relative else 2

    def encode(self, problem: GridLike) -> Image:
        """A scenario as an image (channels, rows, columns), made once for all its states.

        Free cells, the goal and, if wanted, the admissible distance; zeros where cells are blocked.
        """
        free = ~problem.grid.blocked
        found = [free, _marked(free.shape, problem.goal)]
        if self.relative:
            bounds = problem.lower_bounds().reshape(*free.shape, -1)[:, :, 0]  # the same for all headings
            found.append(free * bounds / DISTANCE_UNIT)
        return np.stack([plane.astype(np.float32) for plane in found])

    def inputs(self, images: Sequence[Image], scenario: Integers, state: Integers, headings: int = 1) -> Any:
        """What the module takes: states, flat indices over rows, columns and headings of scenarios.

        Here the scenarios, filled with obstacles up to the size of the largest, and where the states are.
        """
        from hstar.models.grid_network import whole_maps

        return whole_maps(images, scenario, state, headings)

    def build(self, outputs: int, headings: int = 1) -> nn.Module:
        """A fresh module from inputs to raw outputs (states, outputs), about as large as `scale`."""
        raise NotImplementedError


@MODELS.register("vin")
@dataclass(frozen=True)
class VinConfig(GridNetwork):
    """Options of the network that plans inside."""

    name: ClassVar[str] = "vin"

    sweeps: int = option(40, "Number of cells that values spread from the goal.", least=1, most=4096)
    waves: int = option(4, "Number of channels of values.", least=1, most=4096)
    spread: int = option(4, "Neighbours that values spread to, 4 or 8.", words=(4, 8))
    width: int = option(16, "Units of the layers that read the values.", least=1, most=4096)

    def build(self, outputs: int, headings: int = 1) -> nn.Module:
        from hstar.models.vin import Vin

        return Vin(self, outputs, self.scale, headings)


@MODELS.register("value-map")
@dataclass(frozen=True)
class ValueMapConfig(GridNetwork):
    """Options of the convolutional network that values a whole map."""

    name: ClassVar[str] = "value-map"

    channels: int = option(16, "Channels of a layer.", least=1, most=4096)
    rounds: int = option(2, "Each has a residual layer for each dilation.", least=1, most=256)
    reach: int = option(
        8, "The largest dilation; those of a round are 1, 2, 4, ... up to it.", least=1, most=4096
    )
    tied: bool = option(False, "Use the same weights in all rounds.")
    distance: bool = option(True, "Tell it the admissible distance, and let it learn what is above.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reach & (self.reach - 1):
            raise InputError(f"reach must be a power of 2, got {self.reach}")

    @property
    def dilations(self) -> tuple[int, ...]:
        return tuple(2**power for power in range(self.reach.bit_length()))

    @property
    def relative(self) -> bool:
        return self.distance

    def build(self, outputs: int, headings: int = 1) -> nn.Module:
        from hstar.models.grid_network import ValueMap

        return ValueMap(self, outputs, self.scale, headings)


@MODELS.register("paper")
@dataclass(frozen=True)
class PaperConfig(GridNetwork):
    """The network of the paper on prolonged search, which has no options."""

    name: ClassVar[str] = "paper"
    whole: ClassVar[bool] = False
    any_size: ClassVar[bool] = False

    @property
    def relative(self) -> bool:
        return False  # its output is the cost-to-go

    def encode(self, problem: GridLike) -> Image:
        """Obstacles and the goal; the channel between them is for the cell."""
        if len(problem.shape) > 2:
            raise InputError("the model paper knows cells without headings; use vin")
        if min(problem.shape) < LEAST_SIDE:
            raise InputError(
                f"the model paper needs maps of {LEAST_SIDE} x {LEAST_SIDE} cells or more, "
                f"got {' x '.join(map(str, problem.shape))}; use vin"
            )
        blank = np.zeros(problem.shape)
        found = [problem.grid.blocked, blank, _marked(problem.shape, problem.goal)]
        return np.stack([plane.astype(np.float32) for plane in found])

    def inputs(self, images: Sequence[Image], scenario: Integers, state: Integers, headings: int = 1) -> Any:
        from hstar.models.grid_network import cell_images

        return cell_images(images, scenario, state)

    def build(self, outputs: int, headings: int = 1) -> nn.Module:
        from hstar.models.grid_network import PaperNetwork

        return PaperNetwork(outputs, self.scale)


def _marked(shape: tuple[int, ...], cell: tuple[int, ...]) -> npt.NDArray[np.float32]:
    result = np.zeros(shape, dtype=np.float32)
    result[cell] = 1
    return result
