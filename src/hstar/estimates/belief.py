"""Estimate and rule as structs of the core, for a planning task or an own space and for a puzzle.

The core has the formulas a second time (`core/estimates/belief.h`, `core/heuristics/puzzle_network.h`), since
a search asks for one value of each state. What it does not compute is an error here.
"""

from __future__ import annotations

import math
from typing import Any

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.estimates.estimate import Estimate
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.rules import Bounded, Calibrated, Clip, Likely, Mean, Order, Quantile, Rule


def native_belief(estimate: Estimate, rule: Rule, sure_below: float = math.inf) -> _core.Belief:
    """What the core makes of raw outputs. A mean from `sure_below` on has the spread 1."""
    if isinstance(estimate, Gaussian) and estimate.softplus is not None:
        raise ModelError(
            f"a {estimate.name} with a spread by softplus is for puzzles, not for planning tasks"
        )
    # Of an estimate that differs in its loss alone the core sees what it is otherwise.
    meaning = _core.Estimate(kind=Point.name if isinstance(estimate, Point) else estimate.name)
    for name in ("sigma", "floor", "range", "margin"):
        if hasattr(estimate, name):
            setattr(meaning, name, getattr(estimate, name))
    chosen = _core.Rule(sure_below=sure_below)
    if isinstance(rule, Calibrated):
        chosen.calibration = _core.Calibration(factor=rule.factor, shift=rule.shift, whole=rule.rounds_up)
        rule = rule.of
    if isinstance(rule, Clip | Bounded) and not isinstance(rule.of, Mean | Quantile | Likely):
        raise ModelError(f"a {rule.name} of the rule {rule.of.name} does not reach the search")
    if isinstance(rule, Clip):
        chosen.clip, chosen.clip_lower, chosen.clip_upper = True, rule.lower, rule.upper
        rule = rule.of
    if isinstance(rule, Bounded):
        chosen.eps = rule.eps
        rule = rule.of
    if isinstance(rule, Quantile | Likely):
        chosen.level = rule.level
    if isinstance(rule, Order):
        chosen.offset = rule.offset
    return _core.Belief(meaning, chosen)


def puzzle_options(estimate: Estimate, rule: Rule) -> dict[str, Any]:
    """The fields of `PuzzleNetwork` that say what is made of its outputs.

    Values are rounded to the nearest whole number of moves; those of a calibration up if plans are to be
    optimal, and down for a greater bound, where h* times the bound need not be whole. Its belief is truncated
    at the admissible bound itself: the margin of the estimate is for training.
    """
    options: dict[str, Any] = {}
    if isinstance(rule, Calibrated):
        if estimate.bounded:
            raise InputError("the model was calibrated with a belief that is not truncated; give alpha")
        options = {"factor": rule.factor, "shift": rule.shift + (-0.5 if rule.rounds_up else 0.5)}
        rule = rule.of
    if isinstance(rule, Clip) and (rule.lower, rule.upper) in ((None, None), (0, None)):
        options["floor_admissible"] = True
        rule = rule.of
    if isinstance(rule, Quantile | Likely):
        if estimate.outputs == 1:
            raise ModelError(f"the model has one output, a mean without spread: it has no {rule.name}")
        options["alpha"] = rule.alpha if isinstance(rule, Likely) else round(1 - rule.level, 12)
    elif rule != Mean():
        raise InputError(
            f"a model of a puzzle has the rules mean, quantile, likely and clip, not {rule.name}"
        )
    if isinstance(estimate, Gaussian) and estimate.softplus is not None and estimate.name in _OF_PUZZLES:
        limits = {"lowest_rho": estimate.softplus.lowest, "highest_rho": estimate.softplus.highest}
        return options | limits | {"truncated": estimate.bounded}
    if isinstance(estimate, Point):
        return options
    raise ModelError(f"an estimate {estimate.name} of this form does not reach the search of puzzles")


_OF_PUZZLES = ("gaussian", "truncated")
