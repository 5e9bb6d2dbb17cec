"""Optimal plans over generated states: a run of suites/likely_admissible.toml, and what the paper tells.

The lines are those of Tables 1 and 3 of Marom and Rosman (ICAPS 2020) for IDA* with y^alpha, from alpha .05
to .95; the points are those of the run, the mean over its trainings.

python benchmarks/frontier.py RUN FOLDER    # frontier_PUZZLE.svg for each puzzle of the run
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from records import finish, note

from hstar.errors import InputError
from hstar.experiments.report import read_runs
from hstar.experiments.report.figures import draw_frontier
from hstar.experiments.statistics import optimality_of

# Generated states and percent of optimal plans for alpha .05, .1, .25, .5, .75, .9 and .95.
PAPER = {
    "tiles:4x4": (
        (4_189_753, 4_285_483, 5_107_840, 5_284_645, 9_357_055, 29_342_747, 78_787_262),
        (25.3, 30.7, 38.3, 52.3, 59.0, 65.2, 67.8),
    ),
    "tiles:5x5": (
        (40_046_361, 46_988_530, 66_147_586, 99_244_234, 274_003_465, 628_101_474, 1_233_965_823),
        (0, 0, 0, 1.2, 5.2, 20.0, 28.8),
    ),
    "pancake:24": (
        (871_908, 1_162_755, 2_511_066, 4_530_281, 13_001_211, 54_089_822, 104_132_601),
        (30.8, 30.8, 37.2, 53.2, 59.2, 72.4, 76.0),
    ),
    "blocks:15": (
        (42_499_655, 50_951_658, 63_963_572, 69_663_441, 101_109_757, 112_390_208, 115_691_681),
        (24.0, 34.0, 50.8, 84.8, 95.6, 98.4, 99.6),
    ),
}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Optimal plans over generated states, beside the paper's.")
    parser.add_argument("run", type=Path, help="a folder of results")
    parser.add_argument("folder", type=Path, help="where the figures go")
    options = parser.parse_args(words)
    (run,) = read_runs([options.run])
    puzzles = list(dict.fromkeys(domain for domain, _ in optimality_of(run.rows)))
    if not puzzles:
        raise InputError("no plans of known optimal cost", file=options.run)

    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "hstar", "svg.fonttype": "none"})
    options.folder.mkdir(parents=True, exist_ok=True)
    for puzzle in puzzles:
        figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        if puzzle in PAPER:
            axes.plot(*PAPER[puzzle], "s--", color="grey", markersize=3, linewidth=0.8, label="paper")
            axes.legend(fontsize=7)
        draw_frontier(axes, run.rows, puzzle)
        file = options.folder / f"frontier_{puzzle.replace(':', '_')}.svg"
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)
        note(str(file))
    return 0


if __name__ == "__main__":
    finish(main)
