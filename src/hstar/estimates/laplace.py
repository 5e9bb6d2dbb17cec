"""`laplace`: h* is believed to have a Laplace distribution, with longer tails than those of a normal one.

    mu = raw[:, 0] + base;  sigma, the standard deviation, as that of `gaussian`;  b = sigma / sqrt 2
    loss = mean of |label - mu| / b + log(2 b);  mean = mu
    quantile = mu + b log(2 level) for level up to a half, else mu - b log(2 (1 - level))

The maximum-likelihood fit of mu is a median, not a mean: labels far off move it less. It knows nothing of
bounds: the rule `clip` keeps its values within them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hstar.estimates.estimate import ESTIMATES, Batch, Known, check_level
from hstar.estimates.gaussian import Gaussian

if TYPE_CHECKING:
    from torch import Tensor


@ESTIMATES.register("laplace")
@dataclass(frozen=True)
class Laplace(Gaussian):
    """A Laplace distribution; its options are those of the normal one."""

    name: ClassVar[str] = "laplace"

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        b = self._scale(raw)
        return ((batch.label - batch.known.location(raw)).abs() / b + b.log()).mean() + math.log(2)

    def quantile(self, raw: Tensor, level: float, known: Known) -> Tensor:
        check_level(level)
        depth = math.log(2 * min(level, 1 - level))
        return known.location(raw) + (depth if level < 0.5 else -depth) * self._scale(raw)

    def cdf(self, raw: Tensor, x: Tensor, known: Known) -> Tensor:
        z = (x - known.location(raw)) / self._scale(raw)
        tail = (-z.abs()).exp() / 2
        return tail.where(z < 0, 1 - tail)

    def _scale(self, raw: Tensor) -> Tensor:
        return self.spread(raw) / math.sqrt(2)
