"""What is proven of the plan that a search found, and what a calibrated heuristic promises of it.

The promise is that of `estimates/conformal.py`. It needs a search that is optimal with admissible heuristics,
and values that are nowhere greater than the calibrated ones or an admissible bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hstar.search.heuristics import Heuristic, heuristics
from hstar.search.solve import searches

if TYPE_CHECKING:
    from hstar.estimates.rules import Calibrated


def proven(lower_bound: float | None, ratio: float | None) -> str:
    """What is known about the cost of a plan, to follow that."""
    if ratio is None:
        return ""
    if ratio == 1:
        return " (optimal)"
    return f" (at least {lower_bound}: within {math.ceil(ratio * 1000) / 1000:g} of the optimum)"


def promise(
    parts: Sequence[Heuristic], combine: str, search: str, weight: float, unit_cost: bool
) -> dict[str, Any] | None:
    """Plain data: `kept`, the numbers, and a `text` to follow "the plan"; None without calibration."""
    found: list[Calibrated] = [
        rule for part in parts if (rule := getattr(part, "calibration", None)) is not None
    ]
    if not found:
        return None
    return _told(found[0], _reason(parts, len(found), combine, search, weight, unit_cost))


def puzzle_promise(rule: Calibrated, pruning: str, distribution: str | None) -> dict[str, Any]:
    """The same of plans of `idastar` on a puzzle, for a calibrated network.

    `distribution`: in words, what the instances are drawn from, None if nobody knows.
    """
    reason = None
    if pruning == "automaton":
        reason = "an automaton may prune the plan that was calibrated; use --pruning undo"
    elif distribution is not None and distribution != rule.distribution:
        reason = f"instances are {distribution}, those of the calibration {rule.distribution or 'others'}"
    return _told(rule, reason)


def _told(rule: Calibrated, reason: str | None) -> dict[str, Any]:
    return {
        "kept": reason is None,
        "confidence": rule.confidence,
        "bound": rule.bound,
        "instances": rule.instances,
        "text": f"is {rule.promise}" if reason is None else f"comes without a promise: {reason}",
    }


def _reason(
    parts: Sequence[Heuristic], calibrated: int, combine: str, search: str, weight: float, unit_cost: bool
) -> str | None:
    """Why the promise does not hold, in a few words."""
    # focal proves a bound of its own, and its guide may be anything.
    keep = [info.name for info in searches() if info.optimal and info.name != "focal"]
    if search not in keep and not (search == "wastar" and weight <= 1):
        heavy = f" with weight {weight:g}" if search == "wastar" else ""
        return f"{search}{heavy} does not keep that of the calibration, {' and '.join(keep)} do"
    if calibrated > 1:
        return f"{calibrated} heuristics are calibrated, each for itself"
    admissible = {info.name for info in heuristics() if info.admissible}
    others = [part for part in parts if getattr(part, "calibration", None) is None]
    if others and (combine != "max" or any(part not in admissible for part in others)):
        return "a calibrated heuristic keeps it alone, or as --combine max with admissible ones"
    if any(getattr(part, "precision", "float32") != "float32" for part in parts):
        return "the model was calibrated with layers in float32"
    if not unit_cost:
        return "actions have costs, and the calibration counts steps (--unit-cost does, too)"
    return None
