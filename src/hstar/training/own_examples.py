"""States of a user's own space for the training loop: rows of inputs with their labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from hstar.errors import InputError
from hstar.estimates.estimate import Batch, Known
from hstar.training.examples import Column, Indices

OwnModule = Callable[[int, int], nn.Module]


@dataclass(frozen=True, eq=False)
class OwnExamples:
    """Inputs (states, inputs), the cost-to-go and, where it is known, a lower bound of each state."""

    inputs: npt.NDArray[np.float32]
    label: Column
    lower: Column | None = None

    def __len__(self) -> int:
        return len(self.label)

    def split(self, share: float, seed: int) -> tuple[OwnExamples, OwnExamples]:
        """By states, which are different ones."""
        order = np.random.default_rng(seed).permutation(len(self))
        held_out = round(share * len(self))
        return self._some(np.sort(order[held_out:])), self._some(np.sort(order[:held_out]))

    def _some(self, chosen: Indices) -> OwnExamples:
        return OwnExamples(
            self.inputs[chosen], self.label[chosen], None if self.lower is None else self.lower[chosen]
        )

    def digest(self) -> str:
        """SHA-256 over all columns."""
        found = hashlib.sha256(str(self.inputs.shape).encode())
        for column in (self.inputs, self.label, self.lower):
            if column is not None:
                found.update(np.ascontiguousarray(column).tobytes())
        return found.hexdigest()

    def batch(self, indices: Indices, device: torch.device) -> tuple[Tensor, Batch]:
        """Inputs, labels and bounds."""
        part = self._some(indices)
        lower = None if part.lower is None else torch.from_numpy(part.lower).to(device)
        label = torch.from_numpy(part.label).to(device)
        return torch.from_numpy(part.inputs).to(device), Batch(label, Known(lower))


class InCosts(nn.Module):
    """A user's own module, whose first output is in units of so much cost."""

    def __init__(self, inner: nn.Module, unit: float, outputs: int) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("units", torch.tensor([unit, 1.0][:outputs]), persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """To raw outputs (states, outputs)."""
        raw: Tensor = self.inner(inputs) * self.units
        return raw

    def run(self, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The same in a search."""
        with torch.no_grad():
            raw: npt.NDArray[np.float32] = self(torch.from_numpy(inputs)).numpy()
        return raw


def own_module(make: OwnModule, inputs: int, outputs: int, unit: float) -> InCosts:
    """A fresh module of the user's own, tried on two states."""
    name = getattr(make, "__name__", type(make).__name__)
    try:
        inner = make(inputs, outputs)
        shape = tuple(inner(torch.zeros(2, inputs)).shape)
    except Exception as error:
        text = " ".join(str(error).split())
        raise InputError(f"model {name}({inputs}, {outputs}): {type(error).__name__}: {text:.200}") from error
    if shape != (2, outputs):
        raise InputError(f"model {name} must give {outputs} outputs for each state: for 2 states {shape}")
    return InCosts(inner, unit, outputs)
