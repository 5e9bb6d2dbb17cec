"""`gaussian`: h* is believed to be normal, with a spread that is learned for each state or given.

    mu = raw[:, 0] + base;  sigma = floor + range * sigmoid(raw[:, 1]), or a constant
    loss = mean of ((label - mu) / sigma)^2 / 2 + log sigma + log(2 pi) / 2;  mean = mu

As in Núñez-Molina, Asai, Mesejo and Fernández-Olivares, "On Using Admissible Bounds for Learning Forward
Search Heuristics" (arXiv 2308.11905), with their floor and range: sigma is between 0.1 and 10.1. A constant
sigma is 1 / sqrt(2) in their paper, but sqrt(2) in their runs.

With `softplus` it is, as in Marom and Rosman (ICAPS 2020), sigma = unit * log(1 + exp(raw[:, 1])), the output
cut to [lowest, highest]; the gradient passes through the cut, else an output beyond it would never come back.

It knows nothing of bounds: the rule `clip` keeps its values within them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hstar.errors import InputError
from hstar.estimates.estimate import ESTIMATES, Batch, Known, check_level
from hstar.options import check_options, option

if TYPE_CHECKING:
    from torch import Tensor


LEAST_SIGMA = 1e-6  # numbers of 32 bits have no room for the squares of errors divided by less


class Softplus(NamedTuple):
    """How an output becomes a spread, in place of a sigmoid; see the top of the file."""

    unit: float
    lowest: float
    highest: float


@ESTIMATES.register("gaussian")
@dataclass(frozen=True)
class Gaussian:
    """Normal distribution of the cost-to-go, by mean and spread."""

    name: ClassVar[str] = "gaussian"
    bounded: ClassVar[bool] = False

    sigma: float | None = option(None, "Standard deviation; learned if there is none.", least=LEAST_SIGMA)
    _: KW_ONLY
    floor: float = option(0.1, "The least sigma that can be learned.", above=0)
    range: float = option(10.0, "How much greater it can become.", above=0)
    softplus: Softplus | None = None  # instead of floor and range

    def __post_init__(self) -> None:
        check_options(self)
        if self.softplus is not None:
            object.__setattr__(self, "softplus", self._softplus(self.softplus))

    def _softplus(self, given: Sequence[float]) -> Softplus:
        try:
            found = Softplus(*map(float, given))
        except (TypeError, ValueError):
            raise InputError(f"{self.name}: softplus is three numbers, got {given!r}") from None
        if not (0 < found.unit < math.inf and -math.inf < found.lowest <= found.highest < math.inf):
            raise InputError(f"{self.name}: softplus needs a unit above 0 and limits in order, got {given!r}")
        return found

    @property
    def outputs(self) -> int:
        return 2 if self.sigma is None else 1

    def spread(self, raw: Tensor) -> Tensor:
        if self.sigma is None and self.softplus is not None:
            from torch.nn import functional

            unit, lowest, highest = self.softplus
            rho = raw[:, 1]
            return unit * functional.softplus(rho + (rho.clamp(lowest, highest) - rho).detach())
        if self.sigma is None:
            return self.floor + self.range * raw[:, 1].sigmoid()
        return raw.new_full((len(raw),), self.sigma)

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        sigma = self.spread(raw)
        z = (batch.label - batch.known.location(raw)) / sigma
        return (z.square() / 2 + sigma.log()).mean() + math.log(2 * math.pi) / 2

    def mean(self, raw: Tensor, known: Known) -> Tensor:
        return known.location(raw)

    def quantile(self, raw: Tensor, level: float, known: Known) -> Tensor:
        check_level(level)
        return known.location(raw) + NormalDist().inv_cdf(level) * self.spread(raw)

    def cdf(self, raw: Tensor, x: Tensor, known: Known) -> Tensor:
        return ((known.location(raw) - x) / (math.sqrt(2) * self.spread(raw))).erfc() / 2
