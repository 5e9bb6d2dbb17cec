"""`gaussian`: h* is believed to be normal, with a spread that is learned for each state or given.

    mu = raw[:, 0] + base;  sigma = floor + range * sigmoid(raw[:, 1]), or a constant
    loss = mean of ((label - mu) / sigma)^2 / 2 + log sigma + log(2 pi) / 2;  mean = mu

As in Núñez-Molina, Asai, Mesejo and Fernández-Olivares, "On Using Admissible Bounds for Learning Forward
Search Heuristics" (arXiv 2308.11905), with their floor and range: sigma is between 0.1 and 10.1. A constant
sigma is 1 / sqrt(2) in their paper, but sqrt(2) in their runs.

It knows nothing of bounds: the rule `clip` keeps its values within them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar

from hstar.errors import InputError
from hstar.estimates.estimate import ESTIMATES, Batch, Known, check_level

if TYPE_CHECKING:
    from torch import Generator, Tensor


LEAST_SIGMA = 1e-6  # of a given one


@ESTIMATES.register("gaussian")
@dataclass(frozen=True)
class Gaussian:
    """A normal distribution."""

    name: ClassVar[str] = "gaussian"
    bounded: ClassVar[bool] = False

    sigma: float | None = None  # the standard deviation; None: learned, a second output of the network
    floor: float = field(default=0.1, kw_only=True)  # the least sigma that can be learned
    range: float = field(default=10.0, kw_only=True)  # how much greater it can become

    def __post_init__(self) -> None:
        for option in ("sigma", "floor", "range"):
            value = getattr(self, option)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"{self.name}: {option} must be greater than 0 and finite, got {value}")
        if self.sigma is not None and self.sigma < LEAST_SIGMA:
            raise InputError(
                f"{self.name}: sigma must be at least {LEAST_SIGMA:g}, got {self.sigma}: "
                "numbers of 32 bits have no room for the squares of errors divided by less"
            )

    @property
    def outputs(self) -> int:
        """Two if sigma is learned."""
        return 2 if self.sigma is None else 1

    def spread(self, raw: Tensor) -> Tensor:
        """Sigma by state."""
        if self.sigma is None:
            return self.floor + self.range * raw[:, 1].sigmoid()
        return raw.new_full((len(raw),), self.sigma)

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        """The mean negative log-likelihood of the labels."""
        sigma = self.spread(raw)
        z = (batch.label - batch.known.location(raw)) / sigma
        return (z.square() / 2 + sigma.log()).mean() + math.log(2 * math.pi) / 2

    def mean(self, raw: Tensor, known: Known) -> Tensor:
        """Mu."""
        return known.location(raw)

    def quantile(self, raw: Tensor, alpha: float, known: Known) -> Tensor:
        """Mu, moved by a multiple of sigma."""
        check_level(alpha)
        return known.location(raw) + NormalDist().inv_cdf(alpha) * self.spread(raw)

    def cdf(self, raw: Tensor, x: Tensor, known: Known) -> Tensor:
        """The normal one."""
        return ((known.location(raw) - x) / (math.sqrt(2) * self.spread(raw))).erfc() / 2

    def sample(self, raw: Tensor, known: Known, generator: Generator) -> Tensor:
        """Mu and a normal number times sigma."""
        sigma = self.spread(raw)
        return known.location(raw) + sigma * sigma.new_empty(sigma.shape).normal_(generator=generator)
