"""What is proven of the plan that a search found, and what a calibrated heuristic promises of it.

The promise is that of `estimates/conformal.py`. It needs a search that is optimal with admissible heuristics,
and values that are nowhere greater than the calibrated ones or an admissible bound.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hstar.experiments.batch import Batch, distribution
from hstar.search.heuristics import heuristics
from hstar.search.solve import searches

if TYPE_CHECKING:
    from hstar.estimates.rules import Calibrated


def proven(lower_bound: float | None, ratio: float | None) -> str:
    """What is known about the cost of a plan, to follow that."""
    if ratio is None:
        return ""
    if ratio == 1:
        return " (optimal)"
    return f" (at least {lower_bound:g}: within {math.ceil(ratio * 1000) / 1000:g} of the optimum)"


def promise(batch: Batch, arguments: argparse.Namespace, problem: Any) -> dict[str, Any] | None:
    """Plain data: `kept`, the numbers, and a `text` to follow "the plan"; None without calibration."""
    parts = batch.heuristic if isinstance(batch.heuristic, list) else [batch.heuristic]
    parts = [one for part in parts for one in getattr(part, "parts", [part])]
    rules: list[Calibrated] = [part.calibration for part in parts if getattr(part, "calibration", None)]
    if not rules:
        return None
    rule, reason = rules[0], _reason(batch, parts, len(rules))
    drawn = None if arguments.random is None else distribution(arguments.walk)
    if reason is None and problem.kind == "puzzle" and drawn is not None and drawn != rule.distribution:
        reason = f"instances are {drawn}, those of the calibration {rule.distribution or 'others'}"
    if reason is None and problem.kind == "task" and not problem.unit_cost:
        reason = "actions have costs, and the calibration counts steps (--unit-cost does, too)"
    return {
        "kept": reason is None,
        **{name: getattr(rule, name) for name in ("confidence", "bound", "instances")},
        "text": f"is {rule.promise}" if reason is None else f"comes without a promise: {reason}",
    }


def _reason(batch: Batch, parts: Sequence[Any], calibrated: int) -> str | None:
    """Why the promise does not hold, whatever the problem, in a few words."""
    # focal proves a bound of its own, and its guide may be anything.
    keep = [info.name for info in searches() if info.optimal and info.name != "focal"]
    weight = batch.config.weight
    if batch.search not in keep and not (batch.search == "wastar" and weight <= 1):
        heavy = f" with weight {weight:g}" if batch.search == "wastar" else ""
        return f"{batch.search}{heavy} does not keep that of the calibration, {' and '.join(keep)} do"
    if batch.config.no_reopen:
        return "with --no-reopen a search may miss the plan that was calibrated"
    if batch.config.pruning == "automaton":
        return "an automaton may prune the plan that was calibrated; use --pruning undo"
    if calibrated > 1:
        return f"{calibrated} heuristics are calibrated, each for itself"
    admissible = {info.name for info in heuristics() if info.admissible}
    others = [part for part in parts if getattr(part, "calibration", None) is None]
    if others and (batch.about["combine"] != "max" or any(part not in admissible for part in others)):
        return "a calibrated heuristic keeps it alone, or as --combine max with admissible ones"
    if any(getattr(part, "precision", "float32") != "float32" for part in parts):
        return "the model was calibrated with layers in float32"
    return None
