"""The head of `wl` in torch: a linear layer, or one hidden layer with ReLU, over counts of colours."""

from __future__ import annotations

import itertools
import math
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from hstar.estimates.gaussian import Gaussian

Array: TypeAlias = npt.NDArray[np.float64]


class WLHead(nn.Module):
    """Raw outputs (states, outputs) of a matrix (states, colours)."""

    def __init__(self, weights: Array, bias: float, deviation: float, outputs: int, hidden: int) -> None:
        super().__init__()
        width = len(weights)
        sizes = [width, hidden, outputs] if hidden else [width, outputs]
        self.stack = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        last = self._linear()[-1]
        with torch.no_grad():
            if not hidden:  # the regression
                last.weight.zero_()
                last.weight[0] = torch.from_numpy(weights)
                last.bias[0] = bias
            for further in range(1, outputs):
                last.weight[further] = 0
                last.bias[further] = spread_output(deviation)

    def forward(self, x: Tensor) -> Tensor:
        """The layers."""
        for number, layer in enumerate(self._linear()):
            x = layer(x.relu() if number else x)
        return x

    def layers(self) -> list[tuple[Array, Array]]:
        """Weights (outputs, inputs) and biases."""
        return [
            (layer.weight.detach().double().cpu().numpy(), layer.bias.detach().double().cpu().numpy())
            for layer in self._linear()
        ]

    def _linear(self) -> list[nn.Linear]:
        return cast("list[nn.Linear]", list(self.stack))


def spread_output(deviation: float) -> float:
    """The output that `gaussian` reads as this spread, as it is unless other limits are given."""
    share = min(max((deviation - Gaussian.floor) / Gaussian.range, 1e-3), 1 - 1e-3)
    return math.log(share / (1 - share))
