"""`resnet`: the residual network of RSL over the atoms of a state.

O'Toole, Ramirez, Lipovetzky and Pearce, "Sampling from Pre-Images to Learn Heuristic Functions for Classical
Planning" (ICAPS 2022); the shape is that of Ferber et al. (ICAPS 2022).

    |F| -> width -> width -> blocks x [x + W2 relu(W1 x + b1) + b2] -> outputs,  ReLU after every sum

Its options are in `resnet_config.py`, which needs no torch. Invariant: `export` gives the same function as
plain arrays (`hstar.models.native`).

Differences: 1. no ReLU at the output unless `output_relu`, which the paper has and which can be born dead:
then no gradient ever flows (`dead`). 2. `init="he"` is the initialisation of the successor (Bettker et al.,
JAIR 80, 2024): He-uniform weights, biases zero. 3. Few atoms hold at a time, so for sparse batches the first
layer adds up rows instead of multiplying by zeros; the same sum in another order.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hstar.models.native import NativeNetwork
from hstar.models.resnet_config import ResNetConfig

# Adding rows was faster by 1.5 to 3 where 2.5 % and 1.2 % of the inputs are ones (2,000 and 6,561 atoms),
# slower at 10 %, and no different at 250 atoms.
SPARSE = 0.04
SPARSE_ATOMS = 500


class Rows(nn.Module):
    """The first layer: bias plus the rows of the atoms that hold. Input: uint8 or float (states, atoms)."""

    def __init__(self, atoms: int, width: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.empty(atoms, width))
        self.bias = nn.Parameter(torch.empty(width))
        bound = 1 / math.sqrt(atoms)  # as torch initialises a linear layer
        nn.init.uniform_(self.rows, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """(states, atoms) to (states, width)."""
        if x.dtype == torch.uint8 and x.device.type == "cpu" and x.shape[1] >= SPARSE_ATOMS:
            held = torch.count_nonzero(x, dim=1)
            starts = torch.cumsum(held, 0) - held
            if int(held.sum()) < SPARSE * x.numel():
                atoms = x.nonzero()[:, 1].contiguous()
                return functional.embedding_bag(atoms, self.rows, starts, mode="sum") + self.bias
        return torch.addmm(self.bias, x.to(self.rows.dtype), self.rows)


class Residual(nn.Module):
    """relu(x + W2 relu(W1 x + b1) + b2)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(states, width) to the same."""
        return functional.relu(x + self.second(functional.relu(self.first(x))))


class ResNet(nn.Module):
    """The network; see the top of the file."""

    def __init__(self, atoms: int, outputs: int, config: ResNetConfig) -> None:
        super().__init__()
        self.output_relu = config.output_relu
        self.input = Rows(atoms, config.width)
        self.second = nn.Linear(config.width, config.width)
        self.blocks = nn.ModuleList([Residual(config.width) for _ in range(config.blocks)])
        self.head = nn.Linear(config.width, outputs)
        if config.init == "he":
            self.apply(_he)

    def forward(self, x: Tensor) -> Tensor:
        """(states, atoms) to (states, outputs)."""
        x = functional.relu(self.input(x))
        x = functional.relu(self.second(x))
        for block in self.blocks:
            x = block(x)
        out: Tensor = self.head(x)
        return functional.relu(out) if self.output_relu else out


def _he(module: nn.Module) -> None:
    if isinstance(module, Rows):
        bound = math.sqrt(6 / module.rows.shape[0])
        nn.init.uniform_(module.rows, -bound, bound)
    elif isinstance(module, nn.Linear):
        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
    else:
        return
    nn.init.zeros_(module.bias)


def dead(model: nn.Module, sample: Tensor) -> bool:
    """Whether every output is zero on a sample of inputs: nothing can be learned, draw other weights."""
    with torch.no_grad():
        return not bool(torch.any(model(sample)))


def export(model: ResNet) -> NativeNetwork:
    """The weights as plain arrays, for the core and the model file."""
    arrays = [np.array(p.detach().cpu().numpy(), dtype=np.float32, order="C") for p in model.parameters()]
    rows, bias, *inner, head, head_bias = arrays
    residual = [tuple(inner[i : i + 4]) for i in range(2, len(inner), 4)]
    return NativeNetwork(rows, bias, (tuple(inner[:2]), *residual), head, head_bias, model.output_relu)
