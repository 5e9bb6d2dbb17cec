"""The contract of an estimate: what the raw outputs of a network say about h*.

The training loop calls `loss` for batches, a `Rule` calls `mean` or `quantile` for what the search sees. All
shapes are by state: raw (states, outputs), everything else (states,). An estimate owns no weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from hstar.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """What is known about some states: cost-to-go, and bounds on h* (None or NaN where there are none)."""

    label: Tensor
    lower: Tensor | None = None
    upper: Tensor | None = None


class Estimate(Protocol):
    """A belief about h*, given by `outputs` raw numbers."""

    name: ClassVar[str]
    outputs: ClassVar[int]

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        """The mean loss over the batch, a scalar; finite for finite input."""

    def mean(self, raw: Tensor) -> Tensor:
        """The expected cost-to-go."""

    def quantile(self, raw: Tensor, alpha: float) -> Tensor:
        """The value that h* exceeds with probability 1 - alpha; `UnsupportedError` if there is no spread."""


ESTIMATES: Registry[type[Estimate]] = Registry("estimate")
