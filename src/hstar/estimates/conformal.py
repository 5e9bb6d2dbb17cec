"""Conformal calibration over whole plans: from any heuristic to a promise about the plans that it leads to.

Split conformal prediction (Papadopoulos, Proedrou, Vovk and Gammerman, ECML 2002), the score of an instance
being the worst error along one of its optimal plans P, over the states before the goal:

    additive: max of h - h*        ratio: max of h / h*, and at least 0

Let q be the ceil((n + 1) * confidence)-th smallest score of n instances. If another one is exchangeable with
them, its score is at most q with probability at least `confidence`, ties included. Then w * (h - q), or
w * h / q, is nowhere on P above w * h*, and A* with re-opening, as IDA*, returns a plan of at most w times
the optimal cost: some state of P that was reached at its optimal cost g* is always open, with a value of
g* + w * h* <= w * C* at most, and a goal, which is worth 0, is not taken before it unless it costs no more
than that (docs/calibration.md).

Nothing is known of other optimal plans, nor need be. An h that is infinite on P has an infinite score, as has
a ratio with h* = 0. The probability is over instance and calibration together, not for the instance at hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.registry import unknown

FORMS = ("additive", "ratio")
SLACK = 1 / 1024
"""By how much values may differ between data and search; it is taken off before anything is promised."""


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"a confidence must be between 0 and 1, got {confidence}")


def check_bound(bound: float) -> None:
    if not 1 <= bound < math.inf:
        raise InputError(f"a bound on costs must be 1 or greater and finite, got {bound}")


def check_form(form: str) -> None:
    if form not in FORMS:
        raise unknown("form of a calibration", form, list(FORMS))


def plan_score(h: npt.ArrayLike, h_star: npt.ArrayLike, form: str = "additive") -> float:
    """The score of an instance.

    `h` and `h_star` are values of the states of one optimal plan without the goal, which a search takes for
    0 whatever the heuristic says. NaN is an `InputError`.
    """
    check_form(form)
    value, true = np.asarray(h, dtype=np.float64), np.asarray(h_star, dtype=np.float64)
    if value.shape != true.shape or value.ndim != 1:
        raise InputError(f"a plan has one value a state, not {value.shape} for {true.shape}")
    if np.isnan(value).any():
        raise InputError("the heuristic is NaN for a state of the plan")
    if not (np.isfinite(true) & (true >= 0)).all():
        raise InputError("the distance of a state of the plan is not finite, or below 0")
    if form == "additive":
        return float(np.max(value - true, initial=-np.inf))
    above = value > 0  # what is not counts as 0, which no bound forbids
    with np.errstate(divide="ignore"):
        return float(np.max(value[above] / true[above], initial=0.0))


def rank(instances: int, confidence: float) -> int:
    """Which of the sorted scores, from 1 on, is taken; above `instances` if these are too few.

    The confidence is the decimal number that it is written as: 0.07 of 100 is 7, although the product of
    floating-point numbers is above it.
    """
    check_confidence(confidence)
    return math.ceil((instances + 1) * _exact(confidence))


def least_instances(confidence: float) -> int:
    check_confidence(confidence)
    exact = _exact(confidence)
    return math.ceil(exact / (1 - exact))


def check_instances(instances: int, confidence: float) -> None:
    """An `InputError` unless so many instances have a quantile."""
    if rank(instances, confidence) > instances:
        raise InputError(
            f"{instances} instances are too few for a confidence of {confidence:g}; "
            f"it takes at least {least_instances(confidence)}"
        )


def quantile(scores: Sequence[float] | npt.NDArray[np.float64], confidence: float) -> float:
    """The score that another instance's is at most, with this confidence; an `InputError` without one."""
    found = np.asarray(scores, dtype=np.float64)
    check_instances(len(found), confidence)
    place = rank(len(found), confidence)
    if np.isnan(found).any():
        raise InputError("a score is NaN")
    return float(np.partition(found, place - 1)[place - 1])


def _exact(confidence: float) -> Fraction:
    return Fraction(repr(float(confidence)))
