"""Expansions and labels a second on grids and lattices, and how many labels each prolongation gives.

Rates are per second of processor time on one core: expansions of A*, labelled states of prolonged search.
Maps come from fixed seeds, so that counts are the same on every machine.

python benchmarks/grids.py [--size 1000] [--scenarios 100]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import numpy as np

from hstar.sampling.prolonged import Labels, OptimalPath, Problem, Prolonged
from hstar.search.grid_astar import GridAStarResult, grid_astar
from hstar.spaces.blocks import Blocks
from hstar.spaces.grid import Cell, Grid, GridLike, GridProblem, LatticeProblem
from hstar.spaces.grid_maps import random_problems
from hstar.spaces.pancake import Pancake
from hstar.spaces.tiles import Tiles

LIMIT = 20_000_000  # expansions with noise, which opens states again and again
SWEEP = (1.0, 1.5, 2.0, 3.0, 5.0, math.inf)


def problems(size: int) -> list[tuple[str, GridLike]]:
    """Large maps, from one corner to the other."""
    rng = np.random.default_rng(0)
    blank = np.zeros((size, size), dtype=bool)
    blocked = rng.random((size, size)) < 0.2
    costs = rng.integers(1, 6, (size, size)).astype(np.float64)
    ends: tuple[Cell, Cell] = ((0, 0), (size - 1, size - 1))
    for corner in ends:
        blocked[corner] = False
        for neighbour in ((0, 1), (1, 0)):  # a way out of it
            blocked[abs(corner[0] - neighbour[0]), abs(corner[1] - neighbour[1])] = False
    return [
        ("open, 4 neighbours", GridProblem(Grid(blank), *ends)),
        ("20 % blocked, 4 neighbours", GridProblem(Grid(blocked), *ends)),
        ("20 % blocked, 4 neighbours, costs 1 to 5", GridProblem(Grid(blocked, costs), *ends)),
        ("open, 8 neighbours", GridProblem(Grid(blank, None, 8), *ends)),
        ("20 % blocked, 8 neighbours", GridProblem(Grid(blocked, None, 8), *ends)),
        ("20 % blocked, 8 headings", LatticeProblem(Grid(blocked), (*ends[0], 3), ends[1])),
    ]


def rate(count: int, seconds: float) -> str:
    return f"{count / max(seconds, 1e-9) / 1e6:.1f}"


def searches(size: int) -> None:
    print("| map | heuristic | cost | expanded | re-opened | million expansions/s |")
    print("|---|---|---:|---:|---:|---:|")
    rng = np.random.default_rng(1)
    for name, problem in problems(size):
        noise = rng.uniform(0, 2 * size, problem.shape).astype(np.float32)
        cases: list[tuple[str, GridAStarResult]] = [
            ("blind", grid_astar(problem, "blind")),
            (problem.heuristic, grid_astar(problem)),
            (f"2 x {problem.heuristic}", grid_astar(problem, weight=2)),
            ("noise, eps 1.5", grid_astar(problem, noise, eps=1.5, max_expansions=LIMIT)),
        ]
        for heuristic, result in cases:
            row = [name, heuristic, f"{result.path_cost or math.nan:.2f}", f"{result.expanded:,}"]
            speed = rate(result.expanded, result.cpu_time)
            print(f"| {' | '.join(row)} | {result.reopened:,} | {speed} |", flush=True)


def labels(size: int) -> None:
    spaces: list[tuple[str, Problem]] = [
        *problems(size),
        ("8-puzzle", Tiles.random(3, 3, 0)),
        ("9 pancakes", Pancake.random(9, 0)),
        ("7 blocks", Blocks.random(7, 0)),
    ]
    print("| space | k_pr | exact labels | upper bounds | million labels/s |")
    print("|---|---:|---:|---:|---:|")
    for name, problem in spaces:
        for k_pr in (1.0, 2.0, math.inf):
            found = Prolonged(k_pr=k_pr).sample(problem)
            exact = int(found.exact.sum())
            speed = rate(len(found), found.cpu_time)
            print(f"| {name} | {k_pr:g} | {exact:,} | {len(found) - exact:,} | {speed} |", flush=True)


def sweep(number: int) -> None:
    """Data points of the scenarios of the paper: 30 x 30 cells, 33 % blocked."""
    scenarios = random_problems(number, seed=0)
    vanilla = points([OptimalPath().sample(problem) for problem in scenarios])
    print(f"| {number} scenarios | data points | times optimal-path |")
    print("|---|---:|---:|")
    print(f"| optimal-path | {vanilla:,} | 1.0 |")
    for k_pr in SWEEP:
        found = points([Prolonged(k_pr=k_pr, open=False).sample(problem) for problem in scenarios])
        print(f"| prolonged, k_pr = {k_pr:g} | {found:,} | {found / vanilla:.1f} |", flush=True)


def points(found: Sequence[Labels]) -> int:
    return sum(len(one) for one in found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Expansions and labels a second on grids.")
    parser.add_argument("--size", type=int, default=1000, help="rows and columns of the large maps")
    parser.add_argument("--scenarios", type=int, default=100, help="small ones, for the sweep over k_pr")
    options = parser.parse_args()
    searches(options.size)
    print()
    labels(options.size)
    print()
    sweep(options.scenarios)


if __name__ == "__main__":
    main()
