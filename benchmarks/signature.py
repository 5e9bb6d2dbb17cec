"""The signature: expansions summed over a fixed small set of generated tasks and searches.

One integer that changes exactly when the behaviour of the core changes: the order of successors,
the ties of an open list, the value of a heuristic. A commit that touches `core/` says "Search
unchanged." or "Signature: N → M, because …". The idea is Stockfish's.

Invariant: no clock takes part. Searches are bounded by expansions only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import hstar
from hstar.generators import GENERATORS

EXPECTED = Path(__file__).with_name("signature.txt")
MAX_EXPANSIONS = 2_000

TASKS: tuple[tuple[str, dict[str, int]], ...] = (
    ("blocksworld", {"blocks": 6, "seed": 1}),
    ("blocksworld", {"blocks": 9, "seed": 2}),
    ("npuzzle", {"rows": 3, "columns": 3, "seed": 1}),
    ("ferry", {"locations": 4, "cars": 4, "seed": 1}),
)
SEARCHES: tuple[tuple[str, str], ...] = (
    ("astar", "blind"),
    ("astar", "hmax"),
    ("astar", "lmcut"),
    ("gbfs", "goalcount"),
    ("gbfs", "add"),
    ("gbfs", "ff"),
    ("lazy", "ff"),
    ("wastar", "add"),
)


def parts() -> list[tuple[str, int]]:
    """Name and expansions of every run."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for generator, parameters in TASKS:
            domain, problem = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
            texts = GENERATORS.get(generator)(**parameters)
            domain.write_text(texts[0])
            problem.write_text(texts[1])
            task = hstar.load(domain, problem)
            label = " ".join(f"{key}={value}" for key, value in parameters.items())
            for search, heuristic in SEARCHES:
                result = hstar.solve(task, search=search, heuristic=heuristic, max_expansions=MAX_EXPANSIONS)
                found.append((f"{generator} {label} {search} {heuristic}", int(result.expanded)))
    return found


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Prints the sum of expansions over a fixed set.")
    parser.add_argument("--check", action="store_true", help=f"compare with {EXPECTED.name}")
    parser.add_argument("--parts", action="store_true", help="list every run on standard error")
    options = parser.parse_args(words)
    runs = parts()
    if options.parts:
        for name, expansions in runs:
            print(f"{expansions:8} {name}", file=sys.stderr)
    signature = sum(expansions for _, expansions in runs)
    print(signature)
    if not options.check:
        return 0
    expected = EXPECTED.read_text().strip() if EXPECTED.exists() else "nothing (no file)"
    if expected != str(signature):
        print(f"signature: expected {expected}, got {signature}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
