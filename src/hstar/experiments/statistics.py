"""Figures over rows of a run: coverage, its spread over seeds, means, and paired comparisons.

Coverage of an instance is the share of its starts that were solved, of a domain the mean over its instances,
overall the mean over the domains, so that domains with many instances do not rule. Each is computed for each
seed of the training that has all its rows; what is told is the mean over the seeds, their standard deviation
and, from three seeds on, the 95 % interval of the mean by Student's t.

A run that is looked at before its end, or that was given up, has rows of some starts alone, and these are the
quick ones, since the others are still running. A mean over them flatters. So what is wanted of a seed is
every start that anybody has searched there; a seed that lacks one does not count, and a note says so:
"2 of 3 seeds", or "35 of 50" starts of the fullest seed if no seed is whole.

Two contestants are compared start by start, because the spread between starts is larger than the one between
heuristics. Several seeds on a start count as one: starts are what is independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Record = Mapping[str, Any]
Start = tuple[str, str]
"""Instance and start."""

METRICS = ("expansions", "evaluations", "search_time", "cost")
"""What a search takes, less being better, by the name of its column."""

_STUDENT = (  # 97.5 % quantiles of Student's t by degrees of freedom; beyond, those of the normal
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145),
    *(2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048),
    *(2.045, 2.042),
)
_NORMAL = 1.960
_LEAST_SEEDS = 3  # of an interval: that of two seeds is twelve standard errors wide and says nothing
_EXACT_SIGNS = 2000  # beyond, the normal approximation has more digits than anybody reads


@dataclass(frozen=True)
class Share:
    """A figure, often a percentage: the mean over seeds, and the standard deviation if there are several."""

    mean: float
    spread: float | None = None
    seeds: int = field(default=1, compare=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """In which the mean over all possible seeds lies with 95 %; None below three seeds."""
        if self.spread is None or self.seeds < _LEAST_SEEDS:
            return None
        freedom = self.seeds - 1
        quantile = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL
        half = quantile * self.spread / math.sqrt(self.seeds)
        return self.mean - half, self.mean + half


def of_step(rows: Iterable[Record], step: str) -> list[Record]:
    """Rows of one step: train, search, sample (of states), label (of problems) or accuracy (of models)."""
    return [row for row in rows if row["step"] == step]


def searches_of(rows: Iterable[Record]) -> list[Record]:
    return of_step(rows, "search")


def grouped(rows: Iterable[Record], *columns: str) -> dict[Any, list[Record]]:
    """Rows by the value of a column, or by those of several, in the order of the rows."""
    place = itemgetter(*columns)
    found: dict[Any, list[Record]] = defaultdict(list)
    for row in rows:
        found[place(row)].append(row)
    return dict(found)


def calibration_of(comparisons: Iterable[Record]) -> list[tuple[float, float]]:
    """Levels, and the shares of labels up to the quantile for them: the mean over those that know it."""
    shares: dict[float, list[float]] = defaultdict(list)
    for row in comparisons:
        for level, found in row.get("calibration") or ():
            shares[level].append(found)
    return [(level, sum(found) / len(found)) for level, found in sorted(shares.items())]


def instances_by_domain(rows: Iterable[Record]) -> dict[str, list[str]]:
    return {domain: list(grouped(own, "instance")) for domain, own in grouped(rows, "domain").items()}


# --- whole seeds ----------------------------------------------------------------------------------------


def starts_of(rows: Iterable[Record]) -> set[Start]:
    """Every start that anybody has searched; sets of scenarios have one row for all their starts."""
    return {_start_of(row) for row in rows}


def _start_of(row: Record) -> Start:
    return row["instance"], str(row.get("start", ""))


@dataclass(frozen=True)
class WholeSeeds:
    """Rows by seed, of the seeds that have all of them, and what is missing elsewhere."""

    rows: Mapping[int, list[Record]]
    begun: int  # seeds
    most: int  # starts that the fullest of the other seeds has
    wanted: int  # starts of a seed

    @property
    def note(self) -> str | None:
        """What a table says beside a figure, or instead of it; None if nothing is missing."""
        if len(self.rows) == self.begun:
            return None
        return f"{len(self.rows)} of {self.begun} seeds" if self.rows else f"{self.most} of {self.wanted}"


def whole_seeds(rows: Iterable[Record], wanted: Collection[Start]) -> WholeSeeds:
    """The rows of one contestant by seed; starts that are not wanted are left out."""
    seeds: dict[int, dict[Start, Record]] = defaultdict(dict)
    for row in rows:
        own = seeds[row["seed"]]
        if (start := _start_of(row)) in wanted:
            own[start] = row
    whole = {seed: list(found.values()) for seed, found in seeds.items() if len(found) == len(wanted)}
    most = max((len(found) for seed, found in seeds.items() if seed not in whole), default=0)
    return WholeSeeds(whole, len(seeds), most, len(wanted))


# --- coverage -------------------------------------------------------------------------------------------


def coverage_of(
    searches: Iterable[Record],
    domains: Mapping[str, Sequence[str]],
    wanted: Collection[Start] | None = None,
) -> tuple[Share | None, str | None]:
    """Of one contestant: the mean over domains of the means over their instances, and what is missing.

    `wanted` are the starts that it should have searched, if not those that it has.
    """
    places = set(chain.from_iterable(domains.values()))
    rows = [row for row in searches if row["instance"] in places]
    wanted = [start for start in (starts_of(rows) if wanted is None else wanted) if start[0] in places]
    if {place for place, _ in wanted} != places:  # nobody has searched some of them
        return None, None
    found = whole_seeds(rows, wanted)
    shares = []
    for own in found.rows.values():
        solved = {
            place: 100 * sum(map(solved_share, runs)) / len(runs)
            for place, runs in grouped(own, "instance").items()
        }
        means = [sum(solved[place] for place in instances) / len(instances) for instances in domains.values()]
        shares.append(sum(means) / len(means))
    return share_of(shares), found.note if found.begun else None


def solved_share(row: Record) -> float:
    """Of one search 1 or 0; a row may stand for searches of several problems, `instances`."""
    number = row.get("instances")
    return float(row["solved"] / number if number else row["status"] == "solved")


def share_of(values: Sequence[float]) -> Share | None:
    """The mean and the standard deviation; None of nothing."""
    if not values:
        return None
    middle = sum(values) / len(values)
    if len(values) == 1:
        return Share(middle)
    spread = math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))
    return Share(middle, spread, len(values))


# --- optimality -----------------------------------------------------------------------------------------


class Optimality(NamedTuple):
    """How far plans are from known optimal costs, and what searches took.

    Percents are of all searches, solved or not; states and seconds are means over all of them, those that a
    limit ended with what they had used by then. Suboptimality is a mean over the solved ones.
    """

    solved: float
    expanded: float | None
    generated: float | None
    reopened: float | None
    seconds: float | None
    suboptimality: float | None
    optimal: float | None
    greatest: float | None  # cost, as a share of what was proven of it
    searches: int


def optimality_of(rows: Iterable[Record]) -> dict[tuple[str, str], list[Optimality]]:
    """Of searches for plans of known optimal cost: by place and contestant, one for each whole seed.

    A place is a domain, or one of several sets of starts in it. None of the seeds of a contestant may be
    whole; `missing_optimality` says what is there.
    """
    return {group: [_optimality(runs) for runs in seeds.rows.values()] for group, seeds in _known(rows)}


def missing_optimality(rows: Iterable[Record]) -> dict[tuple[str, str], str]:
    """By place and contestant what the rows of `optimality_of` do not have."""
    return {group: seeds.note for group, seeds in _known(rows) if seeds.note is not None}


def _known(rows: Iterable[Record]) -> Iterator[tuple[tuple[str, str], WholeSeeds]]:
    found = [row for row in searches_of(rows) if row.get("optimal_cost") is not None or row.get("instances")]
    for domain, own in grouped(found, "domain").items():
        instances = grouped(own, "instance")
        # Several sets of starts have a line each, single problems one together.
        sets = len(instances) > 1 and any(len(grouped(runs, "start")) > 1 for runs in instances.values())
        for place, here in instances.items() if sets else ((domain, own),):
            wanted = starts_of(here)
            for name, runs in grouped(here, "contestant").items():
                yield (place, name), whole_seeds(runs, wanted)


def _optimality(runs: Sequence[Record]) -> Optimality:
    numbers = [row.get("instances") or 1 for row in runs]
    solved = [number * solved_share(row) for row, number in zip(runs, numbers, strict=True)]
    compared = [_against_optimum(row) for row in runs]
    total = sum(numbers)
    bounds = [
        (1 + one["greatest_suboptimality"]) / one["bound"]
        for one in compared
        if one.get("bound") is not None and one["greatest_suboptimality"] is not None
    ]
    return Optimality(
        100 * sum(solved) / total,
        _weighted(runs, "expansions", numbers),
        _weighted(runs, "generated", numbers),
        _weighted(runs, "reopened", numbers),
        _weighted(runs, "search_time", numbers),
        _weighted(compared, "suboptimality", solved, 100),
        100 * sum(one["optimal"] or 0 for one in compared) / total,
        max(bounds, default=None),
        total,
    )


def _against_optimum(row: Record) -> Record:
    """Of a row with a known optimum: suboptimality as a share, and how many plans are optimal."""
    if row.get("instances"):
        known = row["with_known_optimum"]
        return {**row, "optimal": known * row["optimal"] if known else 0}
    if row["status"] != "solved":
        return {"suboptimality": None, "greatest_suboptimality": None, "optimal": 0}
    above = row["cost"] / row["optimal_cost"] - 1 if row["optimal_cost"] else 0.0
    told = {"suboptimality": above, "greatest_suboptimality": above, "optimal": int(above <= 1e-9)}
    return {**told, "bound": row.get("ratio")}


def _weighted(runs: Sequence[Record], name: str, weights: Sequence[float], scale: float = 1) -> float | None:
    """The mean of a column over rows that know it."""
    known = [
        (row[name], weight) for row, weight in zip(runs, weights, strict=True) if row.get(name) is not None
    ]
    total = sum(weight for _, weight in known)
    return scale * sum(value * weight for value, weight in known) / total if total else None


# --- pairs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paired:
    """One contestant against another, start by start: how often it is better, worse and equal.

    `chance` is the two-sided sign test: how probable so uneven a count is among equals.
    """

    metric: str
    better: int
    worse: int
    equal: int

    @property
    def chance(self) -> float:
        return sign_test(self.better, self.worse)


def compare(ours: Iterable[Record], theirs: Iterable[Record]) -> list[Paired]:
    """Coverage on the starts both have searched, then each metric on the starts both have solved."""
    (found,) = compare_all({"ours": list(ours), "theirs": list(theirs)}).values()
    return found


def compare_all(runs: Mapping[str, Sequence[Record]]) -> dict[tuple[str, str], list[Paired]]:
    """`compare` of every two contestants, given their searches."""
    found = {name: _by_start(searches) for name, searches in runs.items()}
    starts = {start: place for place, start in enumerate(dict.fromkeys(chain.from_iterable(found.values())))}
    figures = {name: _figures(searches, starts) for name, searches in found.items()}
    return {(one, two): _count(figures[one], figures[two]) for one, two in combinations(runs, 2)}


def _figures(
    searches: Mapping[Start, Sequence[Record]], starts: Mapping[Start, int]
) -> npt.NDArray[np.float64]:
    """A row for each start: the share of unsolved seeds, and the metrics; NaN for what is not known."""
    table = np.full((len(starts), 1 + len(METRICS)), np.nan)
    for start, runs in searches.items():
        place, solved = starts[start], _solved(runs)
        table[place, 0] = 1 - solved
        if solved == 1:
            table[place, 1:] = [_typical(runs, metric) for metric in METRICS]
    return table


def _by_start(searches: Iterable[Record]) -> dict[Start, list[Record]]:
    return grouped(searches, "instance", "start")


def _solved(runs: Sequence[Record]) -> float:
    return float(sum(row["status"] == "solved" for row in runs) / len(runs))


def _typical(runs: Sequence[Record], metric: str) -> float | None:
    """The geometric mean over the seeds; None unless all know it."""
    if len(runs) == 1:  # the same number, bit for bit
        return runs[0].get(metric)
    if any(row.get(metric) is None for row in runs):
        return None
    return geometric((row[metric] for row in runs), least=1e-6)


def _count(ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64]) -> list[Paired]:
    both = ~(np.isnan(ours) | np.isnan(theirs))
    better, worse = (ours < theirs).sum(axis=0), (ours > theirs).sum(axis=0)  # false for NaN
    equal = both.sum(axis=0) - better - worse
    return [
        Paired(metric, int(better[i]), int(worse[i]), int(equal[i]))
        for i, metric in enumerate(("coverage", *METRICS))
    ]


def sign_test(better: int, worse: int) -> float:
    """The two-sided p-value of so many against so many, ties left out."""
    total, fewer = better + worse, min(better, worse)
    if total == 0:
        return 1.0
    if total > _EXACT_SIGNS:
        deviation = (total / 2 - fewer - 0.5) / (math.sqrt(total) / 2)
        return min(1.0, math.erfc(deviation / math.sqrt(2)))
    ways = sum(math.comb(total, count) for count in range(fewer + 1))
    return min(1.0, float(2 * ways / 2**total))


@dataclass(frozen=True)
class Change:
    """What a contestant gained and lost between two runs: starts by name."""

    contestant: str
    paired: list[Paired]
    gained: list[str]
    lost: list[str]
    missing: list[str]  # searched in the first run alone


def changes(before: Iterable[Record], after: Iterable[Record]) -> list[Change]:
    """For each contestant of both runs; better means that the second run is."""
    old, new = (grouped(searches_of(rows), "contestant") for rows in (before, after))
    found = []
    for name in (name for name in old if name in new):
        first, second = _by_start(old[name]), _by_start(new[name])
        both = [start for start in first if start in second]
        found.append(
            Change(
                name,
                compare(new[name], old[name]),
                gained=[" ".join(one) for one in both if _solved(second[one]) > _solved(first[one])],
                lost=[" ".join(one) for one in both if _solved(second[one]) < _solved(first[one])],
                missing=[" ".join(one) for one in first if one not in second],
            )
        )
    return found


# --- means ----------------------------------------------------------------------------------------------


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def geometric(values: Iterable[float], least: float = 1.0) -> float | None:
    """The geometric mean, of values of at least `least`; None of nothing."""
    logs = [math.log(max(value, least)) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def solved_by_all(searches: Iterable[Record], names: Sequence[str]) -> set[Start]:
    """Starts that every contestant solved, with every seed that it has anywhere."""
    seeds: dict[str, set[int]] = defaultdict(set)
    solved: dict[Start, set[tuple[str, int]]] = defaultdict(set)
    for row in searches:
        seeds[row["contestant"]].add(row["seed"])
        if row["status"] == "solved":
            solved[row["instance"], row["start"]].add((row["contestant"], row["seed"]))
    wanted = {(name, seed) for name in names for seed in seeds.get(name, {-1})}
    return {start for start, found in solved.items() if wanted <= found}


def log_ratios(
    ours: Iterable[Record], theirs: Iterable[Record], metric: str, least: float = 1.0
) -> list[float]:
    """Logarithms of ours over theirs, for each start that both solved; values below `least` count as that.

    Seeds of a start count together, and a start counts if it is solved with all of them.
    """
    mine, others = _by_start(ours), _by_start(theirs)
    logs = []
    for start in (start for start in mine if start in others):
        if _solved(mine[start]) == _solved(others[start]) == 1:
            pair = _typical(mine[start], metric), _typical(others[start], metric)
            if pair[0] is not None and pair[1] is not None:
                logs.append(math.log(max(pair[0], least) / max(pair[1], least)))
    return logs


def rate(runs: Iterable[Record], least_time_s: float = 0.1) -> float | None:
    """Evaluations per second of processor time where it is known: the geometric mean over longer searches."""
    rates = []
    for row in runs:
        seconds = row.get("cpu_time") or row.get("search_time") or 0.0
        if seconds >= least_time_s and row.get("evaluations"):
            rates.append(row["evaluations"] / seconds)
    return geometric(rates)


def curve(searches: Iterable[Record], metric: str) -> list[float]:
    """The sorted values of what was solved: the n-th is what n solved searches took."""
    return sorted(
        float(row[metric]) for row in searches if row["status"] == "solved" and row.get(metric) is not None
    )
