"""Nodes a second of IDA* on native puzzles, and whether Korf's counts come out.

Rates are generated states per second of processor time on one core. Networks have random weights, which do
for rates. Large databases are kept in the cache. Puzzles come from fixed seeds, so that counts are the same
on every machine; a search that takes too long ends at the limit of nodes.

python benchmarks/idastar.py [--nodes 20e6] [--large]
python benchmarks/idastar.py --korf ../shared/data/korf15_100.csv    # 36 billion nodes; [--first 5]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hstar.search.databases import BLOCKS_15, Databases, additive_databases, block_databases
from hstar.search.idastar import IDAStarResult, idastar
from hstar.search.puzzle_features import puzzle_features
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.tiles import Tiles

# Of the 100 instances: generated states on average, without the root.
KORF_MEAN = 363_028_079.31

DATABASES = {
    "databases 5-5-5": (((1, 2, 3, 6, 7), (4, 5, 8, 9, 12), (10, 11, 13, 14, 15)),),
    "databases 6x4": (tuple(tuple(range(first, first + 4)) for first in range(0, 24, 4)),),
}
CASES: tuple[tuple[str, Sequence[Puzzle], str, str], ...] = (
    ("8-puzzle", [Tiles.random(3, 3, seed) for seed in range(20)], "manhattan", "undo"),
    ("15-puzzle", [Tiles.random(4, 4, seed) for seed in range(5)], "manhattan", "undo"),
    ("15-puzzle", [Tiles.random(4, 4, seed) for seed in range(5)], "manhattan", "automaton"),
    ("15-puzzle", [Tiles.random(4, 4, seed) for seed in range(5)], "misplaced", "undo"),
    ("15-puzzle", [Tiles.random(4, 4, seed) for seed in range(5)], "databases 5-5-5", "undo"),
    ("24-puzzle", [Tiles.random(5, 5, seed) for seed in range(5)], "manhattan", "undo"),
    ("24-pancake", [Pancake.random(24, seed) for seed in range(50)], "gap", "undo"),
    ("24-pancake", [Pancake.random(24, seed) for seed in range(5)], "databases 6x4", "undo"),
    ("40-pancake", [Pancake.random(40, seed) for seed in range(20)], "gap", "undo"),
    ("9-blocks", [Blocks.walk(9, 5000, seed) for seed in range(10)], "misplaced", "none"),
    ("9-blocks", [Blocks.walk(9, 5000, seed) for seed in range(10)], "misplaced", "undo"),
    ("15-blocks", [Blocks.walk(15, 5000, seed) for seed in range(5)], "misplaced", "none"),
    ("15-puzzle", [Tiles.random(4, 4, seed) for seed in range(5)], "network one-hot 20", "undo"),
    ("24-pancake", [Pancake.random(24, seed) for seed in range(5)], "network one-hot 8", "undo"),
    ("15-blocks", [Blocks.walk(15, 5000, seed) for seed in range(5)], "network one-hot 8", "none"),
)
# These need databases that take a minute or more to build.
LARGE: tuple[tuple[str, Sequence[Puzzle], str, str], ...] = (
    ("15-blocks", [Blocks.walk(15, 5000, seed) for seed in range(5)], "databases 12", "none"),
    ("24-puzzle", [Tiles.random(5, 5, seed) for seed in range(5)], "network databases 8", "undo"),
    ("24-pancake", [Pancake.random(24, seed) for seed in range(5)], "network databases 8", "undo"),
    ("15-blocks", [Blocks.walk(15, 5000, seed) for seed in range(5)], "network databases 8", "none"),
)


def rate(results: Sequence[IDAStarResult]) -> float:
    """Millions of generated states a second."""
    return sum(result.generated for result in results) / sum(result.cpu_time for result in results) / 1e6


def chosen(name: str, puzzle: Puzzle) -> str | Databases | PuzzleNetwork:
    """A heuristic by the name that a row has."""
    if name.startswith("network"):
        _, kind, width = name.split()
        return network(puzzle, kind, int(width))
    if name in DATABASES:
        return additive_databases(puzzle, DATABASES[name], cache=False)
    return block_databases(puzzle, BLOCKS_15) if name == "databases 12" else name


def network(puzzle: Puzzle, kind: str, width: int) -> PuzzleNetwork:
    """Two outputs, of which a quantile is taken; values are a little more than admissible ones."""
    features = puzzle_features(puzzle, kind)
    rng = np.random.default_rng(1)
    admissible = kind == "databases"
    return PuzzleNetwork(
        features,
        hidden_weights=rng.normal(size=(features.inputs, width)).astype(np.float32),
        hidden_biases=np.zeros(width, np.float32),
        output_weights=rng.normal(size=(width, 2)).astype(np.float32) / np.float32(10),
        output_biases=np.array([0.5 if admissible else 3.0, 0], np.float32),
        scale=10,
        alpha=0.9,
        floor_admissible=admissible,
    )


def measure(nodes: int, large: bool) -> None:
    print("| puzzle | heuristic | pruning | solved | mean cost | mean nodes | million nodes/s |")
    print("|---|---|---|---:|---:|---:|---:|")
    for name, puzzles, heuristic, pruning in (*CASES, *(LARGE if large else ())):
        h = chosen(heuristic, puzzles[0])
        results = [idastar(one, h, pruning=pruning, max_evaluations=nodes) for one in puzzles]
        costs = [result.plan_cost for result in results if result.plan_cost is not None]
        mean_cost = f"{sum(costs) / len(costs):.2f}" if costs else "-"
        mean_nodes = sum(result.generated for result in results) / len(results)
        row = [name, heuristic, pruning, f"{len(costs)}/{len(results)}", mean_cost, f"{mean_nodes:,.0f}"]
        print(f"| {' | '.join(row)} | {rate(results):.1f} |", flush=True)


def korf(path: Path, first: int | None) -> bool:
    """Solves the instances of a file; whether all costs are right and, of all 100, the mean count."""
    results: list[IDAStarResult] = []
    wrong = 0
    for instance in Tiles.read(path)[:first]:
        results.append(idastar(instance.puzzle, "manhattan"))
        wrong += results[-1].plan_cost != instance.optimal_cost
        print(f"{instance.id} {results[-1].plan_cost} {results[-1].generated}", file=sys.stderr, flush=True)
    mean = sum(result.generated for result in results) / len(results)
    speed = f"{rate(results):.1f} million nodes/s"
    print(f"{len(results)} instances, {wrong} wrong costs, mean {mean:,.2f} nodes, {speed}")
    return wrong == 0 and (len(results) != 100 or round(mean, 2) == KORF_MEAN)


def main() -> None:
    parser = argparse.ArgumentParser(description="Nodes a second of IDA* on native puzzles.")
    parser.add_argument("--nodes", type=float, default=20e6, help="limit of a search")
    parser.add_argument("--large", action="store_true", help="also with databases that take minutes to build")
    parser.add_argument("--korf", type=Path, help="a file of instances of the 15-puzzle to solve instead")
    parser.add_argument("--first", type=int, help="of these, only so many")
    options = parser.parse_args()
    if options.korf is None:
        measure(int(options.nodes), options.large)
    elif not korf(options.korf, options.first):
        sys.exit(1)


if __name__ == "__main__":
    main()
