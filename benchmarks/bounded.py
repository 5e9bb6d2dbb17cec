"""What a plan of the 15-puzzle within a proven bound costs: focal against weighted A* and weighted IDA*.

Instances are those of Korf (AIJ 1985), whose optimal costs are known, so that every plan and every lower
bound is checked. Anchors are the Manhattan distance and pattern databases; guides are the same, and a model
of `hstar train likely-admissible tiles:4x4` if one is given. Weighted A* is the one of
`core/search/focal_search.h`; weighted IDA* multiplies the Manhattan distance by the bound and rounds down,
which takes a network of the distance, so that its counts are comparable and its times are not. A search
that expands too many states is given up, and counts with what it had expanded; rounds of IDA* may look at a
hundred times as many, which takes about as long. Times are processor times.

python benchmarks/bounded.py ../shared/data/korf15_100.csv --out runs/bounded.jsonl [--model model.hstar]
python benchmarks/bounded.py --print runs/bounded.jsonl [--table bounded]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from records import (
    UNKNOWN,
    Record,
    Records,
    add_file_options,
    build,
    finish,
    note,
    shown,
    stored,
    table,
    those,
    values_of,
)

from hstar.errors import InputError
from hstar.models.trained_model import load_model
from hstar.search.databases import PUZZLE_15, pattern_databases
from hstar.search.iterative_deepening import PuzzleHeuristic
from hstar.search.puzzle_network import PuzzleNetwork, puzzle_features
from hstar.search.solve import Result, solve
from hstar.spaces.puzzle import Instance, Puzzle
from hstar.spaces.tiles import Tiles

PART = "bounded"
NAMES = ("part", "build", "id", "bound", "search", "guide", "anchor", "limit")
TABLES = {"bounded": "Plans of the 15-puzzle within a proven bound; means over all instances."}
PUZZLE = Tiles.solved(4, 4)
DATABASES = {"databases": PUZZLE_15}
BOUNDS = (1.1, 1.5, 2.0)
OPTIMAL = "IDA*"  # beside the least bound: its plans are optimal
ROUNDS = 100  # states that IDA* may look at for one that a queue may expand: about the same time
Search = Callable[[Puzzle, float, int], "Result"]


def weighted_manhattan(puzzle: Puzzle, weight: float) -> PuzzleNetwork:
    """The Manhattan distance times the weight, rounded down, as a network: one unit that sums distances."""
    features, side = puzzle_features(puzzle, "one-hot"), PUZZLE.columns
    weights = np.zeros((features.inputs, 1), dtype=np.float32)
    for tile in range(1, side * side):  # inputs of a number: four columns, four rows
        for line in range(side):
            weights[2 * side * tile + line] = abs(line - tile % side)
            weights[2 * side * tile + side + line] = abs(line - tile // side)
    none, one = np.zeros(1, dtype=np.float32), np.ones((1, 1), dtype=np.float32)
    return PuzzleNetwork(features, weights, none, one, none, factor=weight, shift=0.5 - 1e-3)


# --- the searches ---------------------------------------------------------------------------------


def searches(model: Path | None) -> list[tuple[str, str, str, Search]]:
    """Name, guide and anchor of each search, and how to run it with a bound and a limit of expansions."""
    anchors: dict[str, PuzzleHeuristic] = {"manhattan": "manhattan"}
    anchors |= {name: pattern_databases(PUZZLE, sets) for name, sets in DATABASES.items()}
    guides = dict(anchors)
    if model is not None:
        guides["model"] = load_model(model).build(PUZZLE)

    def weighted_idastar(one: Puzzle, bound: float, limit: int) -> Result:
        return solve(one, weighted_manhattan(one, bound), "idastar", max_evaluations=ROUNDS * limit)

    found: list[tuple[str, str, str, Search]] = [("weighted IDA*", "manhattan", "", weighted_idastar)]
    for name, anchor in anchors.items():
        found.append(("weighted A*", name, "", _weighted_astar(anchor)))
        if name in DATABASES:
            found.append((OPTIMAL, name, "", _idastar(anchor)))
    for name, anchor in anchors.items():
        found += [("focal", other, name, _focal(guide, anchor)) for other, guide in guides.items()]
    return found


def _idastar(heuristic: PuzzleHeuristic) -> Search:
    return lambda puzzle, bound, limit: solve(
        puzzle, heuristic, "idastar", pruning="automaton", max_evaluations=ROUNDS * limit
    )


def _weighted_astar(heuristic: PuzzleHeuristic) -> Search:
    return lambda puzzle, bound, limit: solve(
        puzzle,
        heuristic,
        "focal",
        bound=bound,
        proof="queue",
        guide_weight=bound,
        optimistic=True,
        anchor_every=0,
        max_expansions=limit,
    )


def _focal(guide: PuzzleHeuristic, anchor: PuzzleHeuristic) -> Search:
    if guide is anchor:  # proof by rounds
        return lambda puzzle, bound, limit: solve(
            puzzle, guide, "focal", bound=bound, max_evaluations=ROUNDS * limit
        )
    return lambda puzzle, bound, limit: solve(
        puzzle, guide, "focal", anchor=anchor, bound=bound, max_expansions=limit
    )


def measure(instance: Instance[Tiles], search: Search, bound: float, limit: int) -> Record:
    result = search(instance.puzzle, bound, limit)
    optimum = instance.optimal_cost
    if optimum is None:
        raise InputError(f"instance {instance.id} has no optimal cost")
    lower = result.lower_bound if isinstance(result, Result) else None
    broken = result.solved and result.plan_cost is not None and result.plan_cost > bound * optimum
    return {
        "status": result.status,
        "cost": result.plan_cost if result.solved else None,
        "optimum": optimum,
        "lower_bound": lower,
        "expanded": result.expanded,
        "cpu_time": result.cpu_time,
        "violations": int(broken) + int(lower is not None and lower > optimum),
    }


# --- the table ------------------------------------------------------------------------------------


def bounded_table(records: Sequence[Record]) -> str:
    rows = []
    for bound, search, guide, anchor in values_of(records, "bound", "search", "guide", "anchor"):
        some = those(records, bound=bound, search=search, guide=guide, anchor=anchor)
        solved = [one for one in some if one["cost"] is not None]
        ratios = [one["cost"] / one["optimum"] for one in solved]
        rows.append(
            [
                f"{bound:g}",
                search,
                guide,
                anchor,
                f"{len(solved)} of {len(some)}",
                f"{statistics.fmean(one['expanded'] for one in some):,.0f}",
                f"{statistics.median(one['expanded'] for one in some):,.0f}",
                f"{statistics.fmean(one['cpu_time'] for one in some):.3f}",
                f"{statistics.fmean(ratios):.3f}" if ratios else UNKNOWN,
                str(sum(one["violations"] for one in some)),
            ]
        )
    header = ["W", "search", "guide", "anchor", "solved", "expanded", "median", "s", "cost / optimum"]
    return table([*header, "violations"], rows, words=(1, 2, 3))


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    return {"bounded": (TABLES["bounded"], bounded_table(those(records, part=PART)))}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("instances", nargs="?", type=Path, help="Korf's instances as a CSV file")
    parser.add_argument("--model", type=Path, help="a guide, made by hstar train likely-admissible tiles:4x4")
    parser.add_argument("--first", type=int, default=20, help="so many of the instances")
    parser.add_argument("--limit", type=float, default=3e5, help="expansions at which a search is given up")
    add_file_options(parser, TABLES)
    arguments = parser.parse_args(words)
    if arguments.file is not None:
        kept = stored(arguments.file, {PART}, NAMES)
        print(shown(sections(kept), kept, arguments.table, arguments.file))
        return 0
    if arguments.instances is None:
        raise InputError("give a file of instances")
    instances = PUZZLE.read(arguments.instances)[: arguments.first]
    records, limit = Records(arguments.out, NAMES), int(arguments.limit)
    for bound in sorted(BOUNDS, reverse=True):
        for search, guide, anchor, run in searches(arguments.model):
            if search == OPTIMAL and bound != min(BOUNDS):
                continue
            note(f"{bound:g}: {search} {guide} {anchor}")
            for instance in instances:
                what = {"id": instance.id, "bound": bound, "search": search, "guide": guide, "anchor": anchor}
                records.get(
                    {"part": PART, "build": build(), **what, "limit": limit},
                    partial(measure, instance, run, bound, limit),
                )
    print(shown(sections(records.used), records.used, arguments.table))
    return 0


if __name__ == "__main__":
    finish(main)
