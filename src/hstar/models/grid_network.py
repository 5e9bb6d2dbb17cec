"""Convolutional networks over maps: `paper` and `value-map`.

`paper` is the network of "Value Function Learning via Prolonged Backward Heuristic Search": an image of
obstacles, cell and goal, six layers of 3x3 with dilations and average pools, SELU (Klambauer et al., NeurIPS
2017) after each but the last, initial weights with a variance of 1 / inputs, as SELU asks for.

    layer      1      2      3      4     5     6
    dilation   1      2      4      8     1     1
    pool       -      -      -      4     2     2
    output   30x30  30x30  30x30   7x7   3x3   1x1
    channels   4      8      16     32    64    1

`value-map` sees obstacles and goal alone and gives every cell a value: residual layers

    x := free * (x + selu(conv_d(x))),  d = 1, 2, 4, ..., reach, and that in rounds.

Invariant of it: cells that are blocked are 0 in every layer, and so is all that lies outside. So a map has
the same values alone and beside larger ones in a batch, but for rounding.

Differences from the paper: 1. outputs are multiplied by a constant, about the mean of the labels, so that
weights of usual size fit them. 2. On maps from 32 cells on `paper` takes the mean of what the pools leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from hstar.models.grid_config import Image, Integers, ValueMapConfig


CELLS_AT_A_TIME = 64


class MapCells(NamedTuple):
    """Scenarios (scenarios, planes, rows, columns), the first plane of free cells, and states of them."""

    image: Tensor
    place: Tensor  # (states,), flat indices over scenarios, rows, columns and headings


def whole_maps(images: Sequence[Image], scenario: Integers, state: Integers, headings: int = 1) -> MapCells:
    """Images of all sizes in one tensor, and the states in it."""
    rows = max(image.shape[1] for image in images)
    columns = max(image.shape[2] for image in images)
    filled = np.zeros((len(images), images[0].shape[0], rows, columns), dtype=np.float32)
    for number, image in enumerate(images):
        filled[number, :, : image.shape[1], : image.shape[2]] = image
    cell, heading = np.divmod(state, headings)
    row, column = np.divmod(cell, np.array([image.shape[2] for image in images])[scenario])
    place = ((np.asarray(scenario, dtype=np.int64) * rows + row) * columns + column) * headings + heading
    return MapCells(torch.from_numpy(filled), torch.from_numpy(place.astype(np.int64)))


class ValueMap(nn.Module):
    """The network `value-map`; see the top of the file."""

    def __init__(self, config: ValueMapConfig, outputs: int, scale: float, headings: int = 1) -> None:
        super().__init__()
        self.repeats, self.scale, self.outputs = config.rounds if config.tied else 1, scale, outputs
        width = config.channels
        self.first = nn.Conv2d(config.planes, width, 3, padding=1)
        self.layers = nn.ModuleList(
            nn.Conv2d(width, width, 3, padding=dilation, dilation=dilation)
            for _ in range(1 if config.tied else config.rounds)
            for dilation in config.dilations
        )
        self.head = nn.Conv2d(width, headings * outputs, 1)
        self.apply(_variance_scaling)
        with torch.no_grad():
            for layer in self.layers:  # a sum of many layers must not grow with their number
                next(layer.parameters()).mul_(0.5)
            self.head.weight.mul_(0.1)  # the first guess is the admissible distance, or little

    def forward(self, inputs: MapCells) -> Tensor:
        free = inputs.image[:, :1]
        x = free * functional.selu(self.first(inputs.image))
        for layer in list(self.layers) * self.repeats:
            x = free * (x + functional.selu(layer(x)))
        raw: Tensor = self.head(x).movedim(1, -1)
        return self.scale * raw.reshape(-1, self.outputs)[inputs.place]


def cell_images(images: Sequence[Image], scenario: Integers, cell: Integers) -> Tensor:
    """An image (obstacles, cell, goal) for each of the cells."""
    found = np.stack(images)[scenario]
    found.reshape(*found.shape[:2], -1)[np.arange(len(cell)), 1, cell] = 1
    return torch.from_numpy(found)


class PaperNetwork(nn.Module):
    """The network `paper`; see the top of the file."""

    WIDTHS = (3, 4, 8, 16, 32, 64)
    DILATIONS = (1, 2, 4, 8, 1, 1)
    POOLS = (1, 1, 1, 4, 2, 2)

    def __init__(self, outputs: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        ends = (*self.WIDTHS[1:], outputs)
        self.layers = nn.ModuleList(
            nn.Conv2d(into, out, 3, padding=dilation, dilation=dilation)
            for into, out, dilation in zip(self.WIDTHS, ends, self.DILATIONS, strict=True)
        )
        self.apply(_variance_scaling)

    def forward(self, x: Tensor) -> Tensor:
        """(cells, 3, rows, columns) to (cells, outputs).

        Some cells at a time, channels innermost: what fits into a cache takes half the time.
        """
        parts = torch.split(x.contiguous(memory_format=torch.channels_last), CELLS_AT_A_TIME)
        return torch.cat([self._values(part) for part in parts])

    def _values(self, x: Tensor) -> Tensor:
        for number, (layer, pool) in enumerate(zip(self.layers, self.POOLS, strict=True)):
            x = layer(x)
            if number + 1 < len(self.layers):
                x = functional.selu(x)
            if pool > 1:
                x = functional.avg_pool2d(x, pool)
        return self.scale * x.mean((2, 3))


def _variance_scaling(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="linear")  # what SELU asks for
        assert module.bias is not None
        nn.init.zeros_(module.bias)
