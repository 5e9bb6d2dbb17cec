"""`point`: the output is the cost-to-go itself, fitted by the mean squared error.

    loss = mean of (raw - label)^2;  mean = raw

As in O'Toole, Ramirez, Lipovetzky and Pearce (ICAPS 2022); the maximum-likelihood fit of a Gaussian of fixed
spread. Where a base is known, the output is added to it. It has no spread of its own and so no quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hstar.errors import UnsupportedError
from hstar.estimates.estimate import ESTIMATES, Batch, Known

if TYPE_CHECKING:
    from torch import Tensor


@ESTIMATES.register("point")
@dataclass(frozen=True)
class Point:
    """Cost-to-go as one number, without spread: squared error as loss."""

    name: ClassVar[str] = "point"
    bounded: ClassVar[bool] = False
    outputs: ClassVar[int] = 1

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        return (self.mean(raw, batch.known) - batch.label).square().mean()

    def mean(self, raw: Tensor, known: Known) -> Tensor:
        return known.location(raw)

    def quantile(self, raw: Tensor, level: float, known: Known) -> Tensor:
        raise UnsupportedError(f"a point estimate has no quantile {level}; use the rule 'mean'")

    def cdf(self, raw: Tensor, x: Tensor, known: Known) -> Tensor:
        raise UnsupportedError("a point estimate has no distribution; use the estimate 'gaussian'")
