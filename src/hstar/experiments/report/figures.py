"""Figures of a run as SVG and PNG files, for papers and slides: what the page draws, by matplotlib."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hstar.errors import InputError
from hstar.experiments.statistics import (
    Record,
    Share,
    calibration_of,
    curve,
    grouped,
    of_step,
    optimality_of,
    searches_of,
    share_of,
)
from hstar.files import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {"expansions": "expansions", "search_time": "search time (s)"}
_LEAST = {"expansions": 1.0, "search_time": 1e-3}  # what a logarithmic axis can show
_FORMATS = ("svg", "png")
_STROKES = ("-", "--", ":")  # of lines that may cover each other
_MARKERS = "osD^v"
_FEW_OPTIMAL = 10.0  # %, the median of the contestants
_BEYOND = 3.0  # times the largest value: where what was not solved is drawn


def write_figures(rows: Sequence[Record], folder: Path, patterns: Sequence[str] = ("*",)) -> list[Path]:
    """Writes every figure whose name fits a pattern; gives the files."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'hstar[bench]'") from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # The same rows give the same file, and text in it can be edited.
    mpl.rcParams.update({"svg.hashsalt": "hstar", "svg.fonttype": "none"})
    written = []
    with writing(folder, "figures"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in _figures(rows):
            if not any(fnmatch(name, pattern) for pattern in patterns):
                continue
            figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
            draw(axes)
            for form in _FORMATS:
                written.append(folder / f"{name}.{form}")
                figure.savefig(written[-1], dpi=200, metadata={"Date": None} if form == "svg" else {})
            plt.close(figure)
    return written


def _figures(rows: Sequence[Record]) -> Iterator[tuple[str, Any]]:
    """Names of files, and functions that draw."""
    runs = grouped(searches_of(rows), "contestant")
    for metric in TITLES if runs else ():
        yield f"solved_within_{metric}", lambda axes, metric=metric: _solved_within(axes, runs, metric)
        for one, two in itertools.combinations(runs, 2):
            yield (
                f"{metric}_{_word(one)}_{_word(two)}",
                lambda axes, metric=metric, one=one, two=two: _scatter(axes, runs, metric, one, two),
            )
    for domain in dict.fromkeys(domain for domain, _ in optimality_of(rows)):
        yield (
            f"frontier_{_word(domain)}",
            lambda axes, domain=domain: draw_frontier(axes, frontier_of(rows, domain)),
        )
    for instance, trainings in _with(rows, "train", "curve").items():
        yield f"training_{_word(instance)}", lambda axes, trainings=trainings: _training(axes, trainings)
    for place, found in _with(rows, "accuracy", "calibration").items():
        yield f"calibration_{_word(place)}", lambda axes, found=found: _calibration(axes, found)


def _with(rows: Sequence[Record], step: str, name: str) -> dict[str, list[Record]]:
    """By instance the rows of a step that have a list of this name."""
    return grouped((row for row in of_step(rows, step) if row.get(name)), "instance")


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", text).strip("_")


def _solved_within(axes: Axes, runs: dict[str, list[Record]], metric: str) -> None:
    for name, searches in runs.items():
        seeds = len({row["seed"] for row in searches})
        values = [max(value, _LEAST[metric]) for value in curve(searches, metric)]
        axes.step(values, [(i + 1) / seeds for i in range(len(values))], where="post", label=name)
    axes.set(xscale="log", xlabel=TITLES[metric], ylabel="solved")
    axes.legend(fontsize=7)


def _scatter(axes: Axes, runs: dict[str, list[Record]], metric: str, one: str, two: str) -> None:
    """Start by start and seed by seed; a contestant without seeds meets all of the other's."""
    pairs = list(_meet(runs[one], runs[two]))
    values = [
        max(row[metric], _LEAST[metric]) for pair in pairs for row in pair if row["status"] == "solved"
    ] or [1.0]
    edge = max(values) * _BEYOND

    def place(row: Record) -> float:
        return max(float(row[metric]), _LEAST[metric]) if row["status"] == "solved" else edge

    for domain in grouped(runs[one], "domain"):
        found = [(place(a), place(b)) for a, b in pairs if a["domain"] == domain]
        axes.scatter([a for a, _ in found], [b for _, b in found], s=14, alpha=0.7, label=domain)
    low = min(values) / 1.5
    axes.plot([low, edge], [low, edge], color="grey", linewidth=0.8)
    axes.axvline(edge, color="grey", linewidth=0.6, linestyle=":")
    axes.axhline(edge, color="grey", linewidth=0.6, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel=f"{one}: {TITLES[metric]}", ylabel=f"{two}: {TITLES[metric]}")
    axes.set_aspect("equal")
    axes.legend(fontsize=7)


def _meet(ours: Sequence[Record], theirs: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    single = min(len({row["seed"] for row in runs}) for runs in (ours, theirs)) == 1
    partners = grouped(theirs, "instance", "start")
    for row in ours:
        for other in partners.get((row["instance"], row["start"]), []):
            if single or other["seed"] == row["seed"]:
                yield row, other


class FrontierPoint(NamedTuple):
    """What optimal plans cost one contestant: means over its trainings, with their standard deviations."""

    generated: Share
    optimal: Share  # %
    suboptimality: Share | None  # %; None if nothing was solved


def frontier_of(rows: Sequence[Record], domain: str) -> dict[str, FrontierPoint]:
    """The points of the contestants of one domain that count generated states."""
    found = {}
    for (place, name), seeds in optimality_of(rows).items():
        columns = [
            share_of([value for one in seeds if (value := getattr(one, column)) is not None])
            for column in FrontierPoint._fields
        ]
        if place == domain and columns[0] is not None and columns[1] is not None:
            found[name] = FrontierPoint(columns[0], columns[1], columns[2])
    return found


def draw_frontier(axes: Axes, points: Mapping[str, FrontierPoint]) -> None:
    """Quality of plans over generated states: a line for contestants whose names differ by their last number.

    Where few plans are optimal, costs above the optimum say more than shares of optimal plans.
    """
    few = statistics.median(point.optimal.mean for point in points.values()) < _FEW_OPTIMAL
    shown = {name: (point.suboptimality if few else point.optimal) for name, point in points.items()}
    methods: dict[str, list[tuple[float, str]]] = {}
    for name in (name for name, quality in shown.items() if quality is not None):
        method, number = re.fullmatch(r"(.*?)([0-9]*\.?[0-9]*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
        methods.setdefault(method, []).append((float(number) if number.strip(".") else 0.0, name))
    for i, (method, members) in enumerate(methods.items()):
        names = [name for _, name in sorted(members)]
        x = [points[name].generated for name in names]
        y = [quality for name in names if (quality := shown[name]) is not None]
        low = [min(one.spread or 0.0, 0.9 * one.mean) for one in x]  # a logarithmic axis has no 0
        axes.errorbar(
            [max(one.mean, 1.0) for one in x],
            [one.mean for one in y],
            xerr=[low, [one.spread or 0.0 for one in x]],
            yerr=[one.spread or 0.0 for one in y],
            fmt=f"{_MARKERS[(i + i // 10) % len(_MARKERS)]}{_STROKES[i % len(_STROKES)]}",
            color=f"C{i % 10}",
            markersize=4,
            linewidth=1.2,
            elinewidth=0.6,
            label=names[0] if len(names) == 1 else f"{names[0]} to {names[-1].removeprefix(method)}",
        )
    label = "cost above the optimum (%)" if few else "optimal plans (%)"
    axes.set(xscale="log", xlabel="generated states, mean", ylabel=label)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _training(axes: Axes, trainings: Sequence[Record]) -> None:
    for row in trainings:
        epochs = range(1, len(row["curve"]) + 1)
        (line,) = axes.plot(
            epochs, [point[2] for point in row["curve"]], label=f"{row['contestant']}, seed {row['seed']}"
        )
        losses = [point[1] for point in row["curve"]]
        axes.plot(epochs, losses, color=line.get_color(), linestyle=":", linewidth=1)
    # A likelihood may be above 1, and its loss below 0.
    least = min(loss for row in trainings for point in row["curve"] for loss in point[1:])
    axes.set(yscale="linear" if least < 0 else "log")
    axes.set(xlabel="epoch", ylabel="loss on held-out states (dotted: training states)")
    axes.legend(fontsize=7)


def _calibration(axes: Axes, comparisons: Sequence[Record]) -> None:
    """A right belief is on the diagonal."""
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for i, (name, runs) in enumerate(grouped(comparisons, "contestant").items()):
        points = calibration_of(runs)
        levels, shares = [level for level, _ in points], [share for _, share in points]
        axes.plot(levels, shares, label=name, linestyle=_STROKES[i % len(_STROKES)])
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="level of the quantile", ylabel="share of labels up to it")
    axes.set_aspect("equal")
    axes.legend(fontsize=7)
