"""`vin`: a network over maps that plans inside, after "Value Iteration Networks" (Tamar et al., 2016).

Values start at the goal and spread through the free cells, in several channels with learned steps; a small
network reads off them what the cost-to-go is above the admissible distance:

    v := goal
    v := free * max(v, max of v over the neighbours - step),  `sweeps` times, the same steps in all of them
    raw = readout(v, free, goal, distance)

with step = softplus(conv(free * selu(conv(image)))) > 0, a map for each channel.

Invariant: blocked cells are 0 in every layer that a neighbour reads, and so is all that lies outside. So a
map has the same values alone and beside larger ones in a batch, but for rounding. A value reaches as many
cells as there are sweeps; what is farther is valued by the admissible distance and what was learned of it.

Differences from the paper: 1. the maximum is taken over neighbours, and steps are subtracted, where it takes
one over channels of a convolution; so many sweeps learn from the first update on. 2. It ends in a policy,
this in the cost-to-go.

Compared on 60 fresh scenarios of 30 x 30 cells after 8 to 14 s of training each (150 to 300 updates, k_pr =
2), by the mean error over all states, 6.6 for the admissible distance: this 2.4; convolutions with dilations
(`value-map`) of 8, 12 and 16 channels 4.7, with a learning rate of 1e-2 4.6, with tied rounds 4.7, on blocks
of 2 x 2 cells with 24 and 32 channels 4.6 and 4.5; sweeps with the convolution of the paper, taught by the
labels of all states, 4.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from hstar.models.grid_config import VinConfig
    from hstar.models.grid_network import MapCells

HIDDEN = 8  # channels of the layer that steps are made of
STEPS = (-4.0, -2.0)  # of the channels before training, through softplus: a reach of 55 cells to one of 8


class Vin(nn.Module):
    """The network `vin`; see the top of the file."""

    def __init__(self, config: VinConfig, outputs: int, scale: float, headings: int = 1) -> None:
        super().__init__()
        self.sweeps, self.waves, self.diagonal = config.sweeps, config.waves, config.spread == 8
        self.scale, self.outputs = scale, outputs
        self.hidden = nn.Conv2d(config.planes, HIDDEN, 3, padding=1)
        self.step = nn.Conv2d(HIDDEN, config.waves, 3, padding=1)
        self.first = nn.Conv2d(config.planes + config.waves, config.width, 1)
        self.second = nn.Conv2d(config.width, config.width, 1)
        self.head = nn.Conv2d(config.width, headings * outputs, 1)
        assert self.step.bias is not None and self.head.bias is not None
        with torch.no_grad():
            self.step.weight.mul_(0.1)
            self.step.bias.copy_(torch.linspace(*STEPS, config.waves))
            self.head.weight.mul_(0.1)  # the first guess is the admissible distance
            self.head.bias.zero_()

    def forward(self, inputs: MapCells) -> Tensor:
        image = inputs.image
        free, goal = image[:, :1], image[:, 1:2]
        step = functional.softplus(self.step(free * functional.selu(self.hidden(image))))
        v = goal.expand(-1, self.waves, -1, -1)
        for _ in range(self.sweeps):
            v = free * torch.maximum(v, self._around(v) - step)
        x = functional.selu(self.first(torch.cat([v, image], 1)))
        raw: Tensor = self.head(functional.selu(self.second(x))).movedim(1, -1)
        return self.scale * raw.reshape(-1, self.outputs)[inputs.place]

    def _around(self, v: Tensor) -> Tensor:
        """The greatest value of a cell and its neighbours."""
        if self.diagonal:
            return functional.max_pool2d(v, 3, 1, 1)
        rows = functional.max_pool2d(v, (3, 1), 1, (1, 0))
        return torch.maximum(rows, functional.max_pool2d(v, (1, 3), 1, (0, 1)))
