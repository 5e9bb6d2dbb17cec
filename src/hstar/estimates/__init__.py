"""Estimates say what the outputs of a network mean, rules which number of it the search sees."""

from __future__ import annotations

from hstar.estimates import asymmetric, gaussian, laplace, point, truncated  # noqa: F401  (enter themselves)
from hstar.estimates.estimate import ESTIMATES, Batch, Estimate, Known
from hstar.estimates.rules import RULES, Bounded, Calibrated, Clip, Likely, Mean, Quantile, Rule

__all__ = [
    "ESTIMATES",
    "RULES",
    "Batch",
    "Bounded",
    "Calibrated",
    "Clip",
    "Estimate",
    "Known",
    "Likely",
    "Mean",
    "Quantile",
    "Rule",
]
