"""Estimate and rule as the core takes them: the options of `_core.believed_heuristic`.

The core has the numbers a second time (`core/estimates/belief.h`), since a search asks for one value of each
state. What it does not compute is a `ModelError`.
"""

from __future__ import annotations

from typing import Any

from hstar.errors import ModelError
from hstar.estimates.estimate import Estimate
from hstar.estimates.point import Point
from hstar.estimates.rules import Bounded, Calibrated, Clip, Mean, Order, Quantile, Rule


def belief_options(estimate: Estimate, rule: Rule) -> dict[str, Any]:
    """What the core needs to know about estimate and rule."""
    options: dict[str, Any] = {
        name: getattr(estimate, name)
        for name in ("sigma", "floor", "range", "margin")
        if hasattr(estimate, name)
    }
    # Of an estimate that differs in its loss alone the core sees what it is otherwise.
    options["estimate"] = Point.name if isinstance(estimate, Point) else estimate.name
    if isinstance(rule, Calibrated):
        options |= rule.core_options()
        rule = rule.of
    if isinstance(rule, Clip):
        if not isinstance(rule.of, Mean | Quantile):
            raise ModelError(f"a clip of the rule {rule.of.name} does not reach the search")
        options |= {"clip": True, "clip_lower": rule.lower, "clip_upper": rule.upper}
        rule = rule.of
    if isinstance(rule, Bounded):
        if not isinstance(rule.of, Mean | Quantile):
            raise ModelError(f"a bounded of the rule {rule.of.name} does not reach the search")
        options["eps"] = rule.eps
        rule = rule.of
    if isinstance(rule, Quantile):
        options["alpha"] = rule.alpha
    if isinstance(rule, Order):
        options["offset"] = rule.offset
    return options
