"""A network as plain arrays: what the core runs and what a model file holds.

    a = bias + sum of the rows of the atoms that hold;  x = relu(a);  then for each block
      plain (W, b):               x = relu(W x + b)
      residual (W1, b1, W2, b2):  x = relu(x + W2 relu(W1 x + b1) + b2)
    output = head x + head_bias, with a ReLU if `output_relu`

Shapes: rows (atoms, width), weights (outputs, inputs); all float32, finite and contiguous. `reference` is
that formula in NumPy, the specification for torch and for the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import ModelError

Array: TypeAlias = npt.NDArray[np.float32]
Block: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class NativeNetwork:
    """Weights of a feed-forward or residual network over atoms."""

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
        if self.rows.ndim != 2 or 0 in self.rows.shape:
            raise ModelError(f"weights rows have shape {self.rows.shape}, expected (atoms, width)")
        width = self.rows.shape[1]
        _expect("bias", self.bias, (width,))
        for number, block in enumerate(self.blocks):
            if len(block) not in (2, 4):
                raise ModelError(f"block {number} has {len(block)} tensors, expected 2 or 4")
            inputs = width
            for i in range(0, len(block), 2):
                # Only the inner layer of a residual block and a plain block may change the width.
                outputs = width if i == 2 else block[i].shape[0] if block[i].ndim == 2 else 0
                _expect(f"blocks.{number}.{i}", block[i], (outputs, inputs))
                _expect(f"blocks.{number}.{i + 1}", block[i + 1], (outputs,))
                inputs = outputs
            width = inputs
        outputs = self.head_bias.size
        _expect("head", self.head, (outputs, width))
        _expect("head_bias", self.head_bias, (outputs,))
        if not outputs:
            raise ModelError("the network has no outputs")

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


def from_tensors(tensors: Mapping[str, npt.NDArray[Any]], output_relu: bool) -> NativeNetwork:
    """The network of `NativeNetwork.tensors`; missing, foreign or ill-shaped ones are a `ModelError`."""
    rest = dict(tensors)
    try:
        plain = [rest.pop(name) for name in ("rows", "bias", "head", "head_bias")]
    except KeyError as error:
        raise ModelError(f"weights {error.args[0]} are missing") from None
    blocks: list[Block] = []
    while rest:
        prefix = f"blocks.{len(blocks)}."
        block = [rest.pop(prefix + str(i)) for i in range(4) if prefix + str(i) in rest]
        if len(block) not in (2, 4):
            raise ModelError(f"weights {prefix}* are incomplete, or there are foreign ones")
        blocks.append(tuple(block))
    rows, bias, head, head_bias = plain
    return NativeNetwork(rows, bias, tuple(blocks), head, head_bias, output_relu)


def _expect(name: str, tensor: Array, shape: tuple[int, ...]) -> None:
    if tensor.shape != shape:
        raise ModelError(f"weights {name} have shape {tensor.shape}, expected {shape}")


def _relu(x: Array) -> Array:
    positive: Array = np.maximum(x, np.float32(0))
    return positive
