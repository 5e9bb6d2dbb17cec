"""`truncated`: the normal belief of `gaussian`, with all probability between the bounds of each state.

    a = lower - margin, b = upper + margin, Z = Phi((b - mu) / sigma) - Phi((a - mu) / sigma)
    loss = mean of ((label - mu) / sigma)^2 / 2 + log sigma + log(2 pi) / 2 + log Z
    mean = mu + sigma (phi((a - mu) / sigma) - phi((b - mu) / sigma)) / Z

Núñez-Molina, Asai, Mesejo and Fernández-Olivares, "On Using Admissible Bounds for Learning Forward Search
Heuristics" (arXiv 2308.11905), with an admissible heuristic for the lower bound. The numbers are made by
`truncated_normal`.

The margin keeps a label that equals its bound inside, and two equal bounds apart. So the mean is at least
lower - margin only; the rules put it at the bound itself. A state without a bound is not cut on that side;
without both this is `gaussian`. Where bounds contradict each other, the lower one holds.

Differences from the authors' code: 1. a missing bound is infinite, theirs is 100,000; 2. the computation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hstar.errors import InputError
from hstar.estimates.estimate import ESTIMATES, Batch, Known, check_level
from hstar.estimates.gaussian import Gaussian
from hstar.options import option

if TYPE_CHECKING:
    from torch import Tensor

    from hstar.estimates.truncated_normal import TruncatedNormal


@ESTIMATES.register("truncated")
@dataclass(frozen=True)
class TruncatedGaussian(Gaussian):
    """A normal distribution cut to [lower - margin, upper + margin]."""

    name: ClassVar[str] = "truncated"
    bounded: ClassVar[bool] = True

    margin: float = option(0.1, "By which the support is greater than the bounds, on both sides.", above=0)

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        """The mean negative log-likelihood of the labels; an `InputError` if one is beyond its bounds."""
        self._check_labels(batch)
        return self._belief(raw, batch.known).nll(batch.label.double()).mean().to(raw.dtype)

    def mean(self, raw: Tensor, known: Known) -> Tensor:
        """The expected value, between lower - margin and upper + margin."""
        return self._belief(raw, known).mean().to(raw.dtype)

    def quantile(self, raw: Tensor, level: float, known: Known) -> Tensor:
        """The value at level, between lower - margin and upper + margin."""
        check_level(level)
        belief = self._belief(raw, known)
        return belief.quantile(belief.origin.detach().new_full((len(raw),), level)).to(raw.dtype)

    def cdf(self, raw: Tensor, x: Tensor, known: Known) -> Tensor:
        """The probability of a value up to x: 0 up to lower - margin, 1 from upper + margin on."""
        return self._belief(raw, known).cdf(x.double()).to(raw.dtype)

    def _belief(self, raw: Tensor, known: Known) -> TruncatedNormal:
        from hstar.estimates.truncated_normal import TruncatedNormal

        lower, upper = (_bound(raw, bound, sign) for bound, sign in ((known.lower, -1), (known.upper, 1)))
        a, b = lower - self.margin, upper.maximum(lower) + self.margin
        b = b.maximum(a.nextafter(b.new_tensor(math.inf)))  # margins are lost in numbers beyond 1e15
        return TruncatedNormal(known.location(raw).double(), self.spread(raw).double(), a, b)

    def _check_labels(self, batch: Batch) -> None:
        label, known = batch.label, batch.known
        inside = label.isfinite()
        if known.lower is not None:
            inside &= ~(label < known.lower.double() - self.margin)
        if known.upper is not None:
            inside &= ~(label > known.upper.double() + self.margin)
        if bool(inside.all()):
            return
        beyond, first = int((~inside).sum()), int((~inside).nonzero()[0])
        bounds = ["none" if side is None else f"{side[first]:g}" for side in (known.lower, known.upper)]
        raise InputError(
            f"{self.name}: {beyond} of {len(label)} labels are beyond the bounds of their states: "
            f"the first is {label[first]:g}, with the bounds {bounds[0]} and {bounds[1]}"
        )


def _bound(raw: Tensor, bound: Tensor | None, sign: int) -> Tensor:
    """In float64, infinite where it is not known. That h* itself is infinite is for the rule to say."""
    free = raw.detach().new_full((len(raw),), sign * math.inf).double()
    if bound is None:
        return free
    return bound.double().where(bound.isfinite(), free)
