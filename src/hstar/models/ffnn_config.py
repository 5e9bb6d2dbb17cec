"""Options of `ffnn`, without torch: one hidden layer with relu, for puzzles, tasks and own spaces.

The network itself is in `ffnn.py`, which is imported when one is learned. A model file holds its weights in
units of `scale` moves; the core multiplies the mean by that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from hstar.estimates.gaussian import Gaussian, Softplus
from hstar.estimates.point import Point
from hstar.models.model import MODELS, Tensors, check_shapes, weights_of
from hstar.models.native import NativeNetwork
from hstar.options import Checked, option

if TYPE_CHECKING:
    from torch import nn

WEIGHTS = ("hidden_weights", "hidden_biases", "output_weights", "output_biases")


@MODELS.register("ffnn")
@dataclass(frozen=True)
class FFNNConfig(Checked):
    """Options of `ffnn`, a network with one hidden layer."""

    name: ClassVar[str] = "ffnn"
    spaces: ClassVar[tuple[str, ...]] = ("task", "puzzle", "own", "map goal")

    width: int = option(20, "Number of units of the hidden layer.", least=1, most=2**20)
    outputs: int = 2
    dropout: float = 0.0
    scale: float = field(default=10.0, metadata={"above": 0, "most": 1e9})  # moves in a unit of the outputs
    lowest_rho: float = -5.0
    highest_rho: float = 1.0
    sigmoid: bool = False  # the spread by a sigmoid, which the search of planning tasks knows

    def belief(self, unit: float) -> Point | Gaussian:
        """What the outputs are if a unit of the mean is so many moves."""
        if self.outputs == 1:
            return Point()
        if not self.sigmoid:
            return Gaussian(softplus=Softplus(unit, self.lowest_rho, self.highest_rho))
        least, greatest = (math.log1p(math.exp(rho)) for rho in (self.lowest_rho, self.highest_rho))
        return Gaussian(floor=unit * least, range=unit * (greatest - least))

    @property
    def estimate(self) -> Point | Gaussian:
        return self.belief(self.scale)

    def build(self, atoms: int, outputs: int) -> nn.Module:
        import torch

        from hstar.models.ffnn import FFNN, InUnits

        generator = torch.Generator().manual_seed(int(torch.randint(2**31, ())))
        return InUnits(FFNN(atoms, replace(self, outputs=outputs), generator), self.scale, outputs)

    def export(self, module: nn.Module) -> Tensors:
        return weights_of(cast("nn.Module", module.inner))

    def check(self, tensors: Tensors) -> None:
        """A `ModelError` unless these are the weights of such a network."""
        first = (len(tensors.get("hidden_weights", ())), self.width)
        shapes = (first, (self.width,), (self.width, self.outputs), (self.outputs,))
        check_shapes(tensors, dict(zip(WEIGHTS, shapes, strict=True)), self.name)

    def network(self, tensors: Tensors) -> NativeNetwork:
        self.check(tensors)
        units = np.array([self.scale, 1.0], dtype=np.float32)[: self.outputs]
        return NativeNetwork(
            rows=tensors["hidden_weights"],
            bias=tensors["hidden_biases"],
            blocks=(),
            head=np.ascontiguousarray((tensors["output_weights"] * units).T),
            head_bias=tensors["output_biases"] * units,
        )
