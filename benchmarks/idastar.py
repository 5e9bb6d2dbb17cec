"""Nodes a second of IDA* on native puzzles, and whether Korf's counts come out.

Rates are generated states per second of processor time on one core. Networks have random weights, which do
for rates. Large databases are kept in the cache. Puzzles come from fixed seeds, so that counts are the same
on every machine; a search that takes too long ends at the limit of nodes. With --korf the 100 instances of
the 15-puzzle are solved, too; the script exits with 1 if a cost, or of all 100 the mean count, is not right.

python benchmarks/idastar.py [--nodes 20e6] [--large] [--out FILE]
python benchmarks/idastar.py --korf korf15_100.csv [--first 5] [--out FILE]    # 36 billion nodes
python benchmarks/idastar.py --threads 2 [--nodes 20e6] [--large] [--out FILE]    # on an idle machine
Tables of what a file keeps: --print FILE [--table rates --table korf --table threads]
"""

from __future__ import annotations

import argparse
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from records import Record, Records, add_file_options, build, finish, note, shown, stored, table, those

from hstar.errors import InputError
from hstar.search.databases import BLOCKS_15, Databases, pattern_databases
from hstar.search.puzzle_network import PuzzleNetwork, puzzle_features
from hstar.search.solve import Result, SearchConfig, solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.tiles import Tiles

# Of the 100 instances: generated states on average, without the root.
KORF_MEAN = 363_028_079.31

KEY = ("part", "build", "puzzle", "heuristic", "pruning", "nodes", "threads")
TABLES = ("rates", "korf", "threads")

DATABASES = {
    "databases 5-5-5": (((1, 2, 3, 6, 7), (4, 5, 8, 9, 12), (10, 11, 13, 14, 15)),),
    "databases 6x4": (tuple(tuple(range(first, first + 4)) for first in range(0, 24, 4)),),
}
CASES: tuple[tuple[str, Sequence[Puzzle], str, str], ...] = (
    ("8-puzzle", [Tiles.solved(3, 3).random(seed) for seed in range(20)], "manhattan", "undo"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "manhattan", "undo"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "manhattan", "automaton"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "manhattan", "table"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "misplaced", "undo"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "databases 5-5-5", "undo"),
    ("24-puzzle", [Tiles.solved(5, 5).random(seed) for seed in range(5)], "manhattan", "undo"),
    ("24-pancake", [Pancake.solved(24).random(seed) for seed in range(50)], "gap", "undo"),
    ("24-pancake", [Pancake.solved(24).random(seed) for seed in range(5)], "databases 6x4", "undo"),
    ("40-pancake", [Pancake.solved(40).random(seed) for seed in range(20)], "gap", "undo"),
    ("9-blocks", [Blocks.solved(9).walk(5000, seed) for seed in range(10)], "misplaced", "none"),
    ("9-blocks", [Blocks.solved(9).walk(5000, seed) for seed in range(10)], "misplaced", "undo"),
    ("15-blocks", [Blocks.solved(15).walk(5000, seed) for seed in range(5)], "misplaced", "none"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "network one-hot 20", "undo"),
    ("15-puzzle", [Tiles.solved(4, 4).random(seed) for seed in range(5)], "network one-hot 20 floor", "undo"),
    (
        "15-puzzle",
        [Tiles.solved(4, 4).random(seed) for seed in range(5)],
        "network one-hot 20 truncated",
        "undo",
    ),
    ("24-pancake", [Pancake.solved(24).random(seed) for seed in range(5)], "network one-hot 8", "undo"),
    ("15-blocks", [Blocks.solved(15).walk(5000, seed) for seed in range(5)], "network one-hot 8", "none"),
)
# These need databases that take a minute or more to build.
LARGE: tuple[tuple[str, Sequence[Puzzle], str, str], ...] = (
    ("15-blocks", [Blocks.solved(15).walk(5000, seed) for seed in range(5)], "databases 12", "none"),
    ("24-puzzle", [Tiles.solved(5, 5).random(seed) for seed in range(5)], "network databases 8", "undo"),
    ("24-puzzle", [Tiles.solved(5, 5).random(seed) for seed in range(5)], "network databases 8", "table"),
    (
        "24-puzzle",
        [Tiles.solved(5, 5).random(seed) for seed in range(5)],
        "network mirrored-databases 16",
        "undo",
    ),
    ("24-pancake", [Pancake.solved(24).random(seed) for seed in range(5)], "network databases 8", "undo"),
    ("15-blocks", [Blocks.solved(15).walk(5000, seed) for seed in range(5)], "network databases 8", "none"),
)

TABLE_BYTES = 2**26  # of seen states, where `table` says so
SHARED = ("15-puzzle", "24-puzzle", "24-pancake")  # whose trees are large enough for threads


def chosen(name: str, puzzle: Puzzle) -> str | Databases | PuzzleNetwork:
    """A heuristic by the name that a row has."""
    if name.startswith("network"):
        _, kind, width, *bounds = name.split()
        return network(puzzle, kind, int(width), *bounds)
    if name in DATABASES:
        return pattern_databases(puzzle, DATABASES[name], cache=False)
    return pattern_databases(puzzle, [BLOCKS_15]) if name == "databases 12" else name


def network(puzzle: Puzzle, kind: str, width: int, bounds: str = "") -> PuzzleNetwork:
    """Two outputs, of which a quantile is taken; values are a little more than admissible ones."""
    features = puzzle_features(puzzle, kind)
    rng = np.random.default_rng(1)
    admissible = kind != "one-hot"
    return PuzzleNetwork(
        features,
        hidden_weights=rng.normal(size=(features.inputs, width)).astype(np.float32),
        hidden_biases=np.zeros(width, np.float32),
        output_weights=rng.normal(size=(width, 2)).astype(np.float32) / np.float32(10),
        output_biases=np.array([0.5 if admissible else 3.0, 0], np.float32),
        scale=10,
        alpha=0.9,
        floor_admissible=admissible or bounds == "floor",
        truncated=bounds == "truncated",
    )


def measured(results: Sequence[Result]) -> Record:
    """What searches come to; a rate is of all their nodes."""
    costs = [result.plan_cost for result in results if result.plan_cost is not None]
    return {
        "searches": len(results),
        "solved": len(costs),
        "mean_cost": sum(costs) / len(costs) if costs else None,
        "generated": sum(result.generated for result in results),
        "cpu_s": sum(result.cpu_time for result in results),
        "seconds": sum(result.search_time for result in results),
    }


def measure_rate(
    puzzles: Sequence[Puzzle], heuristic: str, pruning: str, nodes: int, threads: int = 1
) -> Record:
    """One row of the table of rates, or of threads."""
    note(f"{len(puzzles)} puzzles, {heuristic}, {pruning}, {threads} threads")
    h = chosen(heuristic, puzzles[0])
    pruned: dict[str, Any] = {"pruning": pruning}
    if pruning == "table":
        pruned = {"pruning": "undo", "table_bytes": TABLE_BYTES}
    config = SearchConfig(max_evaluations=nodes, threads=threads, **pruned)
    return measured([solve(one, h, "idastar", config=config) for one in puzzles])


def measure_korf(path: Path, first: int | None) -> Record:
    """Solves the instances of a file, with Manhattan distance."""
    results: list[Result] = []
    wrong = 0
    for instance in Tiles.solved(4, 4).read(path)[:first]:
        results.append(solve(instance.puzzle, "manhattan", "idastar"))
        wrong += results[-1].plan_cost != instance.optimal_cost
        note(f"{instance.id} {results[-1].plan_cost} {results[-1].generated}")
    return {**measured(results), "wrong": wrong}


def _named(path: Path, first: int | None) -> str:
    """What is solved; another file of the same name is another measurement."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    return f"{path.name} {digest}" + ("" if first is None else f", first {first}")


def report(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    """The sections by name, each with its title."""
    rates = [
        [
            *_case(record),
            f"{record['solved']}/{record['searches']}",
            "–" if record["mean_cost"] is None else f"{record['mean_cost']:.2f}",
            *_nodes(record),
        ]
        for record in those(records, part="rates")
    ]
    korf = [
        [str(record["searches"]), str(record["wrong"]), *_nodes(record, digits=2)]
        for record in those(records, part="korf")
    ]
    shared = those(records, part="threads")
    alone = {_case(record): _rate(record) for record in shared if record["threads"] == 1}
    threads = [
        [
            *_case(record),
            str(record["threads"]),
            f"{_rate(record):.1f}",
            f"{record['generated'] / record['cpu_s'] / 1e6:.1f}",
            f"{_rate(record) / alone[_case(record)]:.2f}",
        ]
        for record in shared
    ]
    effort = ["mean nodes", "million nodes/s"]
    return {
        "threads": (
            "Nodes a second by the clock, and of processor time of all threads:",
            table(
                [
                    *("puzzle", "heuristic", "pruning", "threads"),
                    *("million nodes/s", "of processor time", "times as fast"),
                ],
                threads,
                words=(0, 1, 2),
            ),
        ),
        "rates": (
            "Nodes a second of processor time:",
            table(["puzzle", "heuristic", "pruning", "solved", "mean cost", *effort], rates, words=(0, 1, 2)),
        ),
        "korf": (
            "Korf's instances of the 15-puzzle:",
            table(["instances", "wrong costs", *effort], korf, words=()),
        ),
    }


def _case(record: Record) -> tuple[str, str, str]:
    return record["puzzle"], record["heuristic"], record["pruning"]


def _rate(record: Record) -> float:
    """Millions a second by the clock."""
    return float(record["generated"] / record["seconds"] / 1e6)


def _nodes(record: Record, digits: int = 0) -> list[str]:
    rate = record["generated"] / record["cpu_s"] / 1e6
    return [f"{record['generated'] / record['searches']:,.{digits}f}", f"{rate:.1f}"]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Nodes a second of IDA* on native puzzles.")
    parser.add_argument("--nodes", type=float, default=20e6, help="limit of a search")
    parser.add_argument("--large", action="store_true", help="also with databases that take minutes to build")
    parser.add_argument("--korf", type=Path, help="a file of instances of the 15-puzzle to solve instead")
    parser.add_argument("--first", type=int, help="of these, only so many")
    parser.add_argument("--threads", type=int, help="measure one thread and so many instead")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, TABLES, KEY)
        print(shown(report(known), known, options.table, options.file))
        return 0

    if options.first is not None and options.first < 1:
        raise InputError(f"--first must be at least 1, got {options.first}")
    records, right = Records(options.out, KEY), True
    if options.korf is not None:
        what = {"part": "korf", "build": build(), "puzzle": _named(options.korf, options.first)}
        found = records.get(what, lambda: measure_korf(options.korf, options.first))
        mean = found["generated"] / found["searches"]
        right = found["wrong"] == 0 and (found["searches"] != 100 or round(mean, 2) == KORF_MEAN)
    elif options.threads is not None:
        for name, puzzles, heuristic, pruning in (*CASES, *(LARGE if options.large else ())):
            if name not in SHARED or pruning == "table":  # which threads cannot share
                continue
            for threads in (1, options.threads):
                what = {"part": "threads", "build": build(), "puzzle": name, "heuristic": heuristic}
                records.get(
                    {**what, "pruning": pruning, "nodes": int(options.nodes), "threads": threads},
                    functools.partial(measure_rate, puzzles, heuristic, pruning, int(options.nodes), threads),
                )
    else:
        for name, puzzles, heuristic, pruning in (*CASES, *(LARGE if options.large else ())):
            what = {"part": "rates", "build": build(), "puzzle": name, "heuristic": heuristic}
            records.get(
                {**what, "pruning": pruning, "nodes": int(options.nodes)},
                functools.partial(measure_rate, puzzles, heuristic, pruning, int(options.nodes)),
            )
    print(shown(report(records.used), records.used, options.table))
    return 0 if right else 1


if __name__ == "__main__":
    finish(main)
