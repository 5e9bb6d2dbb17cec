"""`hstar demo`: the main job, end to end."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from hstar.cli.app import Parser, checked
from hstar.cli.units import parse_count, parse_time
from hstar.errors import InputError

DESCRIPTION = "The same task with different guidance: what the heuristic is worth."
EXAMPLES = ("hstar demo", "hstar demo --blocks 6 --seed 1 --time-limit 5s")

# Search and heuristic; the task is solved by each of them.
_RUNS = (
    ("astar", "blind"),
    ("astar", "hmax"),
    ("astar", "lmcut"),
    ("gbfs", "goalcount"),
    ("gbfs", "add"),
    ("gbfs", "ff"),
    ("lazy", "ff"),
)
_ROW = "{:8}{:16}{:>18}{:>6}{:>13}{:>13}{:>10}"


def configure(parser: Parser) -> None:
    """The arguments."""
    parser.add_argument(
        "--blocks", type=checked(parse_count), default=8, metavar="N", help="size of the task, 3 to 30 (8)"
    )
    parser.add_argument("--seed", type=checked(parse_count), default=4, metavar="N", help="which task (4)")
    parser.add_argument(
        "--time-limit", "-t", type=checked(parse_time), default=20.0, metavar="T", help="of each search (20s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Solves the task in several ways, a line each."""
    from hstar.generators import GENERATORS
    from hstar.search.solve import solve
    from hstar.spaces.task import load

    blocks, seed = arguments.blocks, arguments.seed
    if not 3 <= blocks <= 30:
        raise InputError(f"--blocks takes 3 to 30, got {blocks}")
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        for path, text in zip(paths, GENERATORS.get("blocksworld")(blocks=blocks, seed=seed), strict=True):
            path.write_text(text)
        task = load(*paths, cache=False)
    _show(f"A random blocks-world task with {blocks} blocks (seed {seed}).")
    _show(_ROW.format("search", "heuristic", "status", "cost", "expanded", "evaluated", "seconds"))
    for search, heuristic in _RUNS:
        preferred = search == "lazy"
        result = solve(task, heuristic, search, time_limit=arguments.time_limit, preferred=preferred)
        name = heuristic + (" + preferred" if preferred else "")
        cost = str(result.plan_cost) if result.solved else "-"
        counts = f"{result.expanded:,}", f"{result.evaluated:,}", f"{result.search_time:.3f}"
        _show(_ROW.format(search, name, result.status, cost, *counts))
        if result.status == "interrupted":
            return result.exit_code
    return 0


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
