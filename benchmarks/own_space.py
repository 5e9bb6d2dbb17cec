"""States a second in a user's own space: plain, vectorised, and a hand-written A* in Python, on one problem.

    python benchmarks/own_space.py

The space is Lights Out of examples/own_space.py, without its lower bound. All three are A* with the heuristic
zero and count generated states.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import runpy
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hstar

EXAMPLE = Path(__file__).parents[1] / "examples" / "own_space.py"


def by_hand(space: Any, expansions: int) -> tuple[int, float]:
    """Generated states and seconds of a plain A* with a heap and a dictionary."""
    started, generated, ties = time.perf_counter(), 0, itertools.count()
    best, queue = {space.start: 0}, [(0, next(ties), space.start)]
    for _ in range(expansions):
        g, _, state = heapq.heappop(queue)
        if space.is_goal(state):
            break
        for _, after, cost in space.successors(state):
            generated += 1
            if g + cost < best.get(after, 1 << 30):
                best[after] = g + cost
                heapq.heappush(queue, (g + cost, next(ties), after))
    return generated, time.perf_counter() - started


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--expansions", type=int, default=20_000, help="states to expand (default: 20000)")
    options = parser.parse_args(words)
    example = runpy.run_path(str(EXAMPLE))
    rows = [("by hand, Python", *by_hand(example["Lights"](), options.expansions))]
    for name, kind in (("plain own space", "Lights"), ("vectorised own space", "LightsBatch")):
        result = hstar.solve(example[kind](), "zero", search="astar", max_expansions=options.expansions)
        rows.append((name, result.generated, result.search_time))
    print("| search | generated | seconds | states a second |\n|---|---:|---:|---:|")
    for name, generated, seconds in rows:
        print(f"| {name} | {generated:,} | {seconds:.3f} | {generated / seconds:,.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
