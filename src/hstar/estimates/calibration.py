"""Calibration: does h* fall below the quantiles of an estimate as often as they say?

    share(level) = share of states whose label is at most the quantile for level

A right belief has share(level) = level. Shares nearer to a half than that tell of a spread too small, shares
nearer to 0 and 1 of one too great, shares that are all greater of values too great. For labels that are whole
numbers the steps between them show, the more so the smaller the spread is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hstar.errors import InputError
from hstar.estimates.estimate import Batch, Estimate

if TYPE_CHECKING:
    from torch import Tensor

LEVELS = tuple(round(0.05 * i, 2) for i in range(1, 20))


@dataclass(frozen=True)
class Calibration:
    """Of so many states: the share of labels up to the quantile for each of the levels."""

    states: int
    levels: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def error(self) -> float:
        """The greatest distance between a level and its share."""
        return max(abs(share - level) for level, share in zip(self.levels, self.shares, strict=True))

    def record(self) -> dict[str, Any]:
        curve = [list(pair) for pair in zip(self.levels, self.shares, strict=True)]
        return {"states": self.states, "calibration_error": self.error, "calibration": curve}


def calibration(estimate: Estimate, raw: Tensor, batch: Batch) -> Calibration:
    """Compares the labels with the estimate; an `UnsupportedError` if that has no spread."""
    if not len(batch.label):
        raise InputError("no states to calibrate by")
    # A label is up to a quantile where its probability is up to level: one pass for all levels.
    probability = estimate.cdf(raw.detach(), batch.label, batch.known)
    shares = tuple(float((probability <= level).double().mean()) for level in LEVELS)
    return Calibration(len(batch.label), LEVELS, shares)
