"""`ffnn`: the network that plans with likely-admissible heuristics, one hidden layer of relu.

Marom and Rosman, "Utilising Uncertainty for Efficient Learning of Likely-Admissible Heuristics" (ICAPS 2020),
after Kendall and Gal (NIPS 2017). Outputs are mu and, if there are two, rho, in units of `scale` moves:

    sigma = log(1 + exp(rho)), rho clipped to [lowest_rho, highest_rho]
    loss = mean of (mu - y)^2 / (2 sigma^2) + log sigma;   with one output the mean of (mu - y)^2

Sigma is that of the estimate `gaussian` with `softplus`; with `sigmoid` it is, between the same limits, the
form of it which the search of planning tasks knows. `dropout`
leaves hidden units out while it learns, which gives a spread to inputs that say everything. The same function
in the core is `hstar.search.puzzle_network` for puzzles, `native` for tasks.

The first layer is a dense product, also for one-hot inputs, 32 ones of 128: adding up rows took ten times as
long (25,000 states and 20 units, forth and back, 435 ms against 43).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from hstar.models.ffnn_config import FFNNConfig

if TYPE_CHECKING:
    from hstar.estimates.gaussian import Gaussian


class FFNN(nn.Module):
    """The network; see the top of the file."""

    def __init__(self, inputs: int, config: FFNNConfig, generator: Generator) -> None:
        super().__init__()
        self.config = config
        width, outputs = config.width, config.outputs
        self.hidden_weights = nn.Parameter(
            torch.randn(inputs, width, generator=generator) * math.sqrt(2 / inputs)
        )
        self.hidden_biases = nn.Parameter(torch.zeros(width))
        self.output_weights = nn.Parameter(
            torch.randn(width, outputs, generator=generator) * math.sqrt(2 / width)
        )
        self.output_biases = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Raw outputs (states, outputs), nothing left out."""
        return torch.addmm(self.output_biases, self.units(x), self.output_weights)

    def units(self, x: Tensor) -> Tensor:
        return functional.relu(torch.addmm(self.hidden_biases, x, self.hidden_weights))

    def sigma(self, raw: Tensor) -> Tensor:
        """The spread in units of the outputs, of raw outputs with two columns."""
        return cast("Gaussian", self.config.belief(1.0)).spread(raw)

    def loss(self, x: Tensor, y: Tensor, generator: Generator) -> tuple[Tensor, float]:
        """The loss for labels in moves, and the largest error of mu in moves, without dropout."""
        hidden, label = self.units(x), y / self.config.scale
        keep = 1 - self.config.dropout
        if self.config.dropout:
            with torch.no_grad():
                mean = hidden @ self.output_weights[:, 0] + self.output_biases[0]
                largest = float((mean - label).abs().max()) * self.config.scale
            hidden = hidden * torch.empty_like(hidden).bernoulli_(keep, generator=generator) / keep
        raw = torch.addmm(self.output_biases, hidden, self.output_weights)
        error = raw[:, 0] - label
        if not self.config.dropout:
            largest = float(error.detach().abs().max()) * self.config.scale
        if self.config.outputs == 1:
            return error.square().mean(), largest
        sigma = self.sigma(raw)
        return ((error / sigma).square() / 2 + sigma.log()).mean(), largest

    def arrays(self) -> dict[str, npt.NDArray[np.float32]]:
        return {name: parameter.detach().numpy().copy() for name, parameter in self.named_parameters()}


class InUnits(nn.Module):
    """A network whose first output is in so many moves, or so much cost, for the training loop."""

    def __init__(self, inner: nn.Module, unit: float, outputs: int) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("units", torch.tensor([unit, 1.0][:outputs]), persistent=False)

    def forward(self, states: Tensor) -> Tensor:
        """From a matrix (states, inputs) to raw outputs (states, outputs)."""
        raw: Tensor = self.inner(states.float()) * self.units
        return raw

    def run(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The same in a search."""
        with torch.no_grad():
            raw: npt.NDArray[np.float32] = self(torch.from_numpy(inputs)).numpy()
        return raw
