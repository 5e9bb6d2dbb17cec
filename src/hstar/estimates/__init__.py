"""Estimates say what the outputs of a network mean, rules which number of it the search sees."""

from __future__ import annotations

from hstar.estimates import point
from hstar.estimates.estimate import ESTIMATES, Batch, Estimate
from hstar.estimates.rules import RULES, Clip, Mean, Rule

__all__ = ["ESTIMATES", "RULES", "Batch", "Clip", "Estimate", "Mean", "Rule", "point"]
