"""How much a heuristic saves: draws the states that searches expand on one blocks-world task as an SVG.

python examples/guidance.py docs/guidance.svg
"""

import math
import sys
import tempfile
from pathlib import Path

import hstar
from hstar.generators import GENERATORS

RUNS = [
    ("astar", "blind", "A*, blind"),
    ("astar", "hmax", "A*, hmax"),
    ("astar", "lmcut", "A*, lmcut"),
    ("gbfs", "goalcount", "GBFS, goalcount"),
    ("gbfs", "ff", "GBFS, ff"),
]


def blocks_task(blocks: int, seed: int) -> hstar.Task:
    """A random task, through PDDL and the translator like any other."""
    domain, problem = GENERATORS.get("blocksworld")(blocks=blocks, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        paths[0].write_text(domain)
        paths[1].write_text(problem)
        return hstar.load(*paths)


def bar_chart(title: str, rows: list[tuple[str, int, str]]) -> str:
    """Horizontal bars on a logarithmic scale."""
    width, left, height = 640, 130, 26
    longest = math.log10(max(count for _, count, _ in rows) * 1.05)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{len(rows) * height + 40}" '
        'font-family="sans-serif" font-size="13">',
        f'<text x="8" y="20" font-weight="bold">{title}</text>',
    ]
    for index, (label, count, note) in enumerate(rows):
        y = 34 + index * height
        length = max(3, (width - left - 170) * math.log10(max(count, 1)) / longest)
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{label}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{length:.0f}" height="{height - 8}" fill="#3b6ea8"/>')
        parts.append(f'<text x="{left + length + 6:.0f}" y="{y + 14}">{count:,} {note}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Runs the searches and writes the picture."""
    task = blocks_task(blocks=9, seed=1)
    rows = []
    for search, heuristic, label in RUNS:
        result = hstar.solve(task, heuristic, search, time_limit=60)
        rows.append((label, result.expanded, f"(plan of cost {result.plan_cost})"))
    Path(sys.argv[1]).write_text(bar_chart("States expanded on one task with 9 blocks (log scale)", rows))


if __name__ == "__main__":
    main()
