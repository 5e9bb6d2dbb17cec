"""One sentence about a run: does learning pay? The best learned configuration against the best without.

The best one solves the greatest share of the starts that anybody has searched, and of equal ones takes the
fewest expansions. Intervals are percentiles of a bootstrap over starts (Efron, 1979): seeds of a start count
together, because starts are what is independent. The same rows give the same sentence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hstar.experiments.statistics import (
    Record,
    Start,
    geometric,
    grouped,
    log_ratios,
    solved_share,
    starts_of,
)

RESAMPLES = 2000
_LEAST = {"search_time": 1e-3, "expansions": 1.0}  # below so many seconds, clocks rule


class Best(NamedTuple):
    """Names of configurations, the best first, and the sentence."""

    names: tuple[str, ...]
    sentence: str


def outcome(searches: Sequence[Record], learned: Collection[str]) -> Best:
    """`learned` are the names of configurations with a model."""
    runs = grouped(searches, "contestant")
    starts = starts_of(searches)
    if not runs:
        return Best((), "")
    with_model = _best({name: own for name, own in runs.items() if name in learned}, len(starts))
    without = _best({name: own for name, own in runs.items() if name not in learned}, len(starts))
    if with_model is None or without is None:
        name = with_model or without or ""
        share = np.array(list(_solved(runs[name]).values()))
        return Best((name,), f"{name} solves most: {_percent(share)}{_interval(share * 100, ' %')}.")
    return Best((with_model, without), _compared(with_model, runs[with_model], without, runs[without]))


def _best(runs: dict[str, list[Record]], starts: int) -> str | None:
    def order(name: str) -> tuple[float, float]:
        effort = geometric(row["expansions"] for row in runs[name] if row.get("expansions") is not None)
        return -sum(_solved(runs[name]).values()) / starts, math.inf if effort is None else effort

    return min(runs, key=order, default=None)


def _solved(rows: Sequence[Record]) -> dict[Start, float]:
    places = grouped(({**row, "start": str(row.get("start", ""))} for row in rows), "instance", "start")
    return {start: sum(map(solved_share, own)) / len(own) for start, own in places.items()}


def _compared(one: str, ours: Sequence[Record], two: str, theirs: Sequence[Record]) -> str:
    mine, others = _solved(ours), _solved(theirs)
    both = [start for start in mine if start in others]
    if not both:
        return f"{one} and {two} have no start in common."
    a, b = (np.array([solved[start] for start in both]) for solved in (mine, others))
    difference = 100 * (a - b)
    low, high = _bounds(difference)
    ratios = {metric: np.array(log_ratios(ours, theirs, metric, least)) for metric, least in _LEAST.items()}
    time_low, time_high = (math.exp(bound) for bound in _bounds(ratios["search_time"]))
    verdict = "No clear difference"
    if low > 0 or high < 0:
        verdict = "Learning solves more" if low > 0 else "Learning solves less"
    elif len(ratios["search_time"]) and (time_high < 1 or time_low > 1):
        verdict = f"Learning solves as many in {'less' if time_high < 1 else 'more'} time"
    said = (
        f"{verdict}: {one} solves {_percent(a)}, {two}, the best without learning, {_percent(b)}: "
        f"{difference.mean():+.1f} points{_interval(difference)}."
    )
    number = len(ratios["expansions"])
    if not number:
        return said
    words = {"search_time": "the search time", "expansions": "the expansions"}
    parts = [
        f"{math.exp(found.mean()):.2f} times {words[metric]}{_interval(found, exponent=True)}"
        for metric, found in ratios.items()
        if len(found)
    ]
    return f"{said} On the {number} starts that both solve it takes {' and '.join(parts)}."


def _bounds(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval of the mean; a single value has none, and none excludes anything."""
    if len(values) < 2:
        return -math.inf, math.inf
    drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def _interval(values: npt.NDArray[np.float64], unit: str = "", *, exponent: bool = False) -> str:
    low, high = _bounds(values)
    if math.isinf(low):
        return ""
    if exponent:
        return f" (95 % interval {math.exp(low):.2f} to {math.exp(high):.2f})"
    return f" (95 % interval {low:.1f} to {high:.1f}{unit})"


def _percent(shares: npt.NDArray[np.float64]) -> str:
    return f"{100 * shares.mean():.1f} % of {len(shares)} starts"
