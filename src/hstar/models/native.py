"""A network as plain arrays: what the core runs and what a model file holds.

    a = bias + sum of the rows of the atoms that hold;  x = relu(a);  then for each block
      plain (W, b):               x = relu(W x + b)
      residual (W1, b1, W2, b2):  x = relu(x + W2 relu(W1 x + b1) + b2)
    output = head x + head_bias, with a ReLU if `output_relu`

Shapes: rows (atoms, width), weights (outputs, inputs); all float32, finite and contiguous. `reference` is
that formula in NumPy, the specification for torch and for the core.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import ModelError

Array: TypeAlias = npt.NDArray[np.float32]
Block: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class NativeNetwork:
    """Weights of a feed-forward or residual network over atoms; the core checks that they fit together."""

    rows: Array
    bias: Array
    blocks: tuple[Block, ...]
    head: Array
    head_bias: Array
    output_relu: bool = False

    def __post_init__(self) -> None:
        for name, tensor in self.tensors().items():
            if tensor.dtype != np.float32 or not tensor.flags.c_contiguous:
                raise ModelError(f"weights {name} must be contiguous float32, got {tensor.dtype.name}")
            if not np.isfinite(tensor).all():
                raise ModelError(f"weights {name} are not all finite")

    @property
    def atoms(self) -> int:
        return int(self.rows.shape[0])

    @property
    def outputs(self) -> int:
        return int(self.head.shape[0])

    def tensors(self) -> dict[str, Array]:
        found = {"rows": self.rows, "bias": self.bias, "head": self.head, "head_bias": self.head_bias}
        for number, block in enumerate(self.blocks):
            found.update({f"blocks.{number}.{i}": tensor for i, tensor in enumerate(block)})
        return found

    def holding(self, constant: tuple[int, ...]) -> NativeNetwork:
        """The network for a task in which these inputs always hold and no fact stands for them."""
        bias = (self.bias + self.rows[list(constant)].sum(axis=0)).astype(np.float32)
        return replace(self, bias=bias)

    def core(self, precision: str) -> _core.Network:
        """For the search, with layers of blocks in one of `_core.precisions()`."""
        weights = (self.rows, self.bias, self.blocks, self.head, self.head_bias)
        return _core.Network.make(*weights, self.output_relu, precision)

    def reference(self, inputs: npt.ArrayLike) -> Array:
        """Raw outputs (states, outputs) for a matrix (states, atoms) of zeros and ones, in NumPy."""
        x = _relu(np.asarray(inputs, dtype=np.float32) @ self.rows + self.bias)
        for block in self.blocks:
            inner = x @ block[0].T + block[1]
            x = _relu(inner) if len(block) == 2 else _relu(x + _relu(inner) @ block[2].T + block[3])
        out = x @ self.head.T + self.head_bias
        return _relu(out) if self.output_relu else out


def _relu(x: Array) -> Array:
    positive: Array = np.maximum(x, np.float32(0))
    return positive
