"""Likely-admissible heuristics of puzzles: runs of suites/likely_admissible.toml beside the paper.

Marom and Rosman, "Utilising Uncertainty for Efficient Learning of Likely-Admissible Heuristics" (ICAPS 2020),
Tables 1 and 3: IDA* with y^alpha, with the mean of a network that has one output, and with what they compare
to. Published figures stand in brackets. Ours are means over trainings, with their standard deviation; their
instances of pancakes and blocks are not published, and ours are others. The last column has the states that
theirs take for plans of the same suboptimality, between the two nearest of their alphas, states by logarithm.

python benchmarks/puzzles.py RUN ... [--figures FOLDER] [--without NAME]
FOLDER gets frontier_PUZZLE.svg: optimal plans, or costs where few plans are optimal, over generated states.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from records import finish, note, table

from hstar.errors import InputError
from hstar.experiments.report import read_runs
from hstar.experiments.report.figures import FrontierPoint, draw_frontier, frontier_of
from hstar.experiments.statistics import Record, Share, missing_optimality, optimality_of, share_of
from hstar.experiments.tables import number, share


class Published(NamedTuple):
    """Of a line of their tables; seconds are those of their program and machine."""

    seconds: float
    generated: float
    suboptimality: float
    optimal: float


PUBLISHED: dict[str, dict[str, Published]] = {
    "tiles:4x4": {
        "alpha 0.95": Published(74.6, 78_787_262, 2.2, 67.8),
        "alpha 0.9": Published(26.7, 29_342_747, 2.5, 65.2),
        "alpha 0.75": Published(8.7, 9_357_055, 3.0, 59.0),
        "alpha 0.5": Published(5.1, 5_284_645, 3.4, 52.3),
        "alpha 0.25": Published(4.9, 5_107_840, 4.5, 38.3),
        "alpha 0.1": Published(3.9, 4_285_483, 5.3, 30.7),
        "alpha 0.05": Published(3.8, 4_189_753, 5.6, 25.3),
        "one output": Published(2.3, 3_071_956, 10.8, 10.9),
        "manhattan": Published(80.7, 363_028_080, 0, 100),
    },
    "tiles:5x5": {
        "alpha 0.95": Published(2665, 1_233_965_823, 2.2, 28.8),
        "alpha 0.9": Published(1371, 628_101_474, 2.6, 20.0),
        "alpha 0.75": Published(549, 274_003_465, 3.7, 5.2),
        "alpha 0.5": Published(189, 99_244_234, 4.6, 1.2),
        "alpha 0.25": Published(121, 66_147_586, 5.2, 0),
        "alpha 0.1": Published(87, 46_988_530, 5.8, 0),
        "alpha 0.05": Published(84, 40_046_361, 6.3, 0),
        "one output": Published(25, 11_719_659, 11.3, 0),
    },
    "pancake:24": {
        "alpha 0.95": Published(365, 104_132_601, 1.1, 76.0),
        "alpha 0.9": Published(199, 54_089_822, 1.3, 72.4),
        "alpha 0.75": Published(54, 13_001_211, 1.9, 59.2),
        "alpha 0.5": Published(20, 4_530_281, 2.2, 53.2),
        "alpha 0.25": Published(12, 2_511_066, 3.5, 37.2),
        "alpha 0.1": Published(8, 1_162_755, 3.8, 30.8),
        "alpha 0.05": Published(5, 871_908, 4.0, 30.8),
        "one output": Published(1, 210_622, 10.6, 8.4),
        "gap": Published(0.03, 48_599.5, 0, 100),
    },
    "blocks:15": {
        "alpha 0.95": Published(56, 115_691_681, 0.02, 99.6),
        "alpha 0.9": Published(54, 112_390_208, 0.07, 98.4),
        "alpha 0.75": Published(51, 101_109_757, 0.23, 95.6),
        "alpha 0.5": Published(38, 69_663_441, 1.0, 84.8),
        "alpha 0.25": Published(44, 63_963_572, 4.3, 50.8),
        "alpha 0.1": Published(36, 50_951_658, 9.7, 34.0),
        "alpha 0.05": Published(29, 42_499_655, 13.4, 24.0),
        "one output": Published(21, 31_178_090, 7.1, 38.4),
    },
}


def published_states(puzzle: str, suboptimality: float) -> float | None:
    """What theirs generate for plans so long; None beyond what they have."""
    alphas = [one for name, one in PUBLISHED.get(puzzle, {}).items() if name.startswith("alpha")]
    ordered = sorted(alphas, key=lambda one: one.suboptimality)
    if not ordered or not ordered[0].suboptimality <= suboptimality <= ordered[-1].suboptimality:
        return None
    logarithms = np.log([one.generated for one in ordered])
    return float(np.exp(np.interp(suboptimality, [one.suboptimality for one in ordered], logarithms)))


def lines_of(rows: Sequence[Record]) -> list[list[str]]:
    """A line for each puzzle and heuristic; those of one puzzle are together."""
    lines: list[list[str]] = []
    missing = missing_optimality(rows)
    for (puzzle, name), seeds in optimality_of(rows).items():
        published = PUBLISHED.get(puzzle, {}).get(name)
        cells = [share(share_of([one.solved for one in seeds]))]
        for column in Published._fields:
            found = [value for one in seeds if (value := getattr(one, column)) is not None]
            digits = {"seconds": 2, "generated": 0, "suboptimality": 2, "optimal": 1}[column]
            theirs = f" ({number(getattr(published, column), digits)})" if published else ""
            cells.append(share(share_of(found), digits) + theirs)
        suboptimality = [one.suboptimality for one in seeds if one.suboptimality is not None]
        states = published_states(puzzle, float(np.mean(suboptimality))) if suboptimality else None
        cells.append("–" if states is None else number(states, 0))
        lines.append([puzzle, name, missing.get((puzzle, name), str(len(seeds))), *cells])
    puzzles = list(dict.fromkeys(line[0] for line in lines))
    return sorted(lines, key=lambda line: puzzles.index(line[0]))


def draw(frontiers: Mapping[str, Mapping[str, FrontierPoint]], folder: Path) -> None:
    """A figure for each puzzle, from the points of its contestants; the paper's stand beside them."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "hstar", "svg.fonttype": "none"})
    folder.mkdir(parents=True, exist_ok=True)
    for puzzle, points in frontiers.items():
        figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
        theirs = {
            f"paper, {name}": FrontierPoint(
                Share(one.generated), Share(one.optimal), Share(one.suboptimality)
            )
            for name, one in PUBLISHED.get(puzzle, {}).items()
            if name.startswith("alpha")
        }
        draw_frontier(axes, {**theirs, **points})
        file = folder / f"frontier_{puzzle.replace(':', '_')}.svg"
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)
        note(str(file))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Likely-admissible heuristics of puzzles, beside the paper.")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of results")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="where figures go")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="a heuristic")
    options = parser.parse_args(words)
    found = [row for run in read_runs(options.runs) for row in run.rows]
    rows = [row for row in found if row["contestant"] not in options.without]
    lines = lines_of(rows)
    if not lines:
        raise InputError("no plans of known optimal cost", file=options.runs[0])
    header = [
        "puzzle",
        "heuristic",
        "runs",
        "solved (%)",
        "s",
        "generated",
        "suboptimality (%)",
        "optimal (%)",
        "theirs, equally long",
    ]
    print(table(header, lines, words=(0, 1)))
    if options.figures is not None:
        puzzles = dict.fromkeys(puzzle for puzzle, _ in optimality_of(rows))
        draw({puzzle: frontier_of(rows, puzzle) for puzzle in puzzles}, options.figures)
    return 0


if __name__ == "__main__":
    finish(main)
