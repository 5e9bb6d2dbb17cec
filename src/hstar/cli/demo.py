"""`hstar demo`: the main job, end to end."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

# Search, heuristic and whether its plan is optimal; the blocks-world task below is solved by each of them.
_RUNS = [
    ("astar", "blind"),
    ("astar", "hmax"),
    ("astar", "lmcut"),
    ("gbfs", "goalcount"),
    ("gbfs", "add"),
    ("gbfs", "ff"),
    ("lazy", "ff"),
]


def demo(
    blocks: Annotated[int, typer.Option(help="Size of the blocks-world task.", min=3, max=30)] = 8,
    seed: Annotated[int, typer.Option(help="Which task.")] = 4,
    time_limit: Annotated[float, typer.Option(help="Seconds for each search.", min=0.1)] = 20.0,
) -> None:
    """Generate a blocks-world task and solve it with several searches and heuristics."""
    from rich.console import Console
    from rich.table import Table

    from hstar.generators import GENERATORS
    from hstar.search.solve import solve
    from hstar.spaces.task import load

    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        for path, text in zip(paths, GENERATORS.get("blocksworld")(blocks=blocks, seed=seed), strict=True):
            path.write_text(text)
        task = load(*paths, cache=False)
    print(f"A random blocks-world task with {blocks} blocks (seed {seed}).", file=sys.stderr)
    table = Table(title="Same task, different guidance")
    for column in ("search", "heuristic", "status", "cost", "expanded", "evaluated", "seconds"):
        table.add_column(column, justify="left" if column in ("search", "heuristic") else "right")
    for search, heuristic in _RUNS:
        preferred = search == "lazy"
        result = solve(task, heuristic, search, time_limit=time_limit, preferred=preferred)
        table.add_row(
            search,
            heuristic + (" + preferred" if preferred else ""),
            result.status,
            str(result.plan_cost if result.solved else "-"),
            f"{result.expanded:,}",
            f"{result.evaluated:,}",
            f"{result.search_time:.3f}",
        )
        if result.status == "interrupted":
            break
    Console(stderr=True).print(table)
