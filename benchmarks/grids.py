"""Expansions and labels a second on grids and lattices, how many labels each prolongation gives, and queries.

Rates are per second of processor time on one core: expansions of A*, labelled states of prolonged search.
Maps come from fixed seeds, so that counts are the same on every machine.

With --queries MODEL, a model that `hstar train prolonged` wrote, it measures one thing, when learning pays:
on maps of 30 x 30 to 512 x 512 cells, one goal and many starts, the value map of the network is made once and
guides every search, beside A* and weighted A* without it, and beside exact values by one backward Dijkstra.

python benchmarks/grids.py [--size 1000] [--scenarios 100]
python benchmarks/grids.py --queries MODEL [--sides 30,64,128] [--starts 50] [--out runs/queries.jsonl]
python benchmarks/grids.py --print runs/queries.jsonl --table queries --table versions
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from records import Record, Records, add_file_options, build, finish, note, shown, stored, table, those

from hstar.models.trained_model import TrainedModel, load_model
from hstar.sampling.prolonged import Labels, OptimalPath, Problem, Prolonged
from hstar.search.solve import Result, solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.grid import Cell, Grid, GridLike, GridProblem, LatticeProblem
from hstar.spaces.grid_maps import random_problems
from hstar.spaces.pancake import Pancake
from hstar.spaces.tiles import Tiles

LIMIT = 20_000_000  # expansions with noise, which opens states again and again
SWEEP = (1.0, 1.5, 2.0, 3.0, 5.0, math.inf)
SIDES = (30, 64, 128, 256, 512)
NAMES = ("part", "build", "model", "side", "starts", "eps")
TABLES = {"queries": "One goal and many starts: milliseconds of processor time."}
REPEATS = 3  # of a value map; the least time counts


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
        cases: list[tuple[str, Result]] = [
            ("blind", solve(problem, "blind", "astar")),
            (problem.heuristic, solve(problem, None, "astar")),
            (f"2 x {problem.heuristic}", solve(problem, None, "wastar", weight=2)),
            ("noise, eps 1.5", solve(problem, noise, "astar", eps=1.5, max_expansions=LIMIT)),
        ]
        for heuristic, result in cases:
            row = [name, heuristic, f"{result.plan_cost or math.nan:.2f}", f"{result.expanded:,}"]
            speed = rate(result.expanded, result.cpu_time)
            print(f"| {' | '.join(row)} | {result.reopened:,} | {speed} |", flush=True)


def labels(size: int) -> None:
    spaces: list[tuple[str, Problem]] = [
        *problems(size),
        ("8-puzzle", Tiles.solved(3, 3).random(0)),
        ("9 pancakes", Pancake.solved(9).random(0)),
        ("7 blocks", Blocks.solved(7).random(0)),
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


# --- queries --------------------------------------------------------------------------------------


def queries(model: TrainedModel[Any], side: int, starts: int, eps: float) -> Record:
    """Milliseconds for a value map, and means for a search from each of some starts to one goal."""
    (problem,) = random_problems(1, seed=side, rows=side, columns=side)
    there = np.argwhere(np.isfinite(problem.grid.distances(problem.goal))).tolist()
    rng = random.Random(side)
    some = [GridProblem(problem.grid, tuple(rng.choice(there)), problem.goal) for _ in range(starts)]
    values, network_s = timed(lambda: model.build(problem).values)
    exact, dijkstra_s = timed(lambda: problem.grid.distances(problem.goal))
    optimal = [solve(one, None, "astar") for one in some]
    ways = {
        "A*": optimal,
        "weighted": [solve(one, None, "wastar", weight=eps) for one in some],
        "network": [solve(one, values, "astar", eps=eps) for one in some],
        "exact": [solve(one, exact, "astar") for one in some],
    }
    record: Record = {"network_ms": 1e3 * network_s, "dijkstra_ms": 1e3 * dijkstra_s}
    for name, found in ways.items():
        record[name] = {
            "search_ms": 1e3 * statistics.fmean(one.cpu_time for one in found),
            "expanded": statistics.fmean(one.expanded for one in found),
            "cost": sum(one.plan_cost or 0.0 for one in found) / sum(one.plan_cost or 0.0 for one in optimal),
        }
    return record


def timed(
    work: Callable[[], npt.NDArray[np.floating]],
) -> tuple[npt.NDArray[np.floating], float]:
    """The result and the least processor time of some calls, after one that is not counted."""
    result, times = work(), []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return result, min(times)


def pays_from(record: Record, rival: str) -> str:
    """From how many starts on the value map has paid for itself."""
    saved = record[rival]["search_ms"] - record["network"]["search_ms"]
    return f"{math.ceil(record['network_ms'] / saved):,}" if saved > 0 else "never"


def query_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    for one in those(records, part="queries"):
        ways = [one[name] for name in ("A*", "weighted", "network", "exact")]
        yield [
            f"{one['side']} x {one['side']}",
            *(f"{way['search_ms']:.3f} ({way['expanded']:,.0f}; {way['cost']:.3f})" for way in ways),
            f"{one['network_ms']:.1f}",
            f"{one['dijkstra_ms']:.2f}",
            pays_from(one, "A*"),
            pays_from(one, "weighted"),
        ]


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    heads = ["map", "A*", "weighted A*", "A* with the network", "A* with exact values"]
    heads += ["value map", "Dijkstra", "pays beside A* from", "beside weighted A* from"]
    return {"queries": (TABLES["queries"], table(heads, query_rows(records)))}


def measure_queries(options: argparse.Namespace) -> list[Record]:
    import torch

    torch.set_num_threads(1)
    model, records = load_model(options.queries), Records(options.out, NAMES)
    for side in map(int, options.sides.split(",")):
        note(f"{side} x {side}")
        what = {"part": "queries", "build": build(), "model": options.queries.stem, "side": side}
        what |= {"starts": options.starts, "eps": options.eps}
        records.get(what, lambda: queries(model, side, options.starts, options.eps))  # noqa: B023
    return records.used


# --- command line ---------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Expansions and labels a second on grids.")
    add: Callable[..., object] = parser.add_argument
    add("--size", type=int, default=1000, help="rows and columns of the large maps")
    add("--scenarios", type=int, default=100, help="small ones, for the sweep over k_pr")
    add("--queries", type=Path, metavar="MODEL", help="only this: when does a model of maps pay?")
    add("--sides", default=",".join(map(str, SIDES)), help="rows and columns of the maps of --queries")
    add("--starts", type=int, default=50, metavar="N", help="of --queries, all to one goal")
    add("--eps", type=float, default=2.0, metavar="X", help="of --queries, and the weight of weighted A*")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None or options.queries is not None:
        found = (
            stored(options.file, ("queries",), NAMES)
            if options.file is not None
            else measure_queries(options)
        )
        print(shown(sections(found), found, options.table, options.file))
        return 0
    searches(options.size)
    print()
    labels(options.size)
    print()
    sweep(options.scenarios)
    return 0


if __name__ == "__main__":
    finish(main)
