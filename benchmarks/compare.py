"""Two result files beside each other: solved counts, geometric means, a scatter plot.

Reads JSON lines, one run each, with at least `task` and `status`; columns are named as in Lab.
A mean is taken over the tasks that both sides solved, of the ratio B / A, so below 1 means that B
needs less. Zero counts as one expansion, one evaluation or a hundredth of a second.

One file may hold both sides, as `fast_downward.py` writes them:
    python benchmarks/compare.py R.jsonl R.jsonl --planners fast_downward hstar
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import records

from hstar.errors import InputError

Run = dict[str, Any]
Key = tuple[str, str]  # task and configuration

FLOORS = {"expansions": 1.0, "evaluations": 1.0, "search_time": 0.01, "memory": 1.0}


def read(path: Path, planner: str | None) -> dict[Key, Run]:
    """The runs of one side; of runs under the same name the last one counts."""
    runs = {
        (run["task"], run.get("config", "")): run
        for run in records.read(path)
        if "task" in run and planner in (None, run.get("planner"))
    }
    if not runs:
        raise InputError("no runs" + (f" of planner '{planner}'" if planner else ""), file=path)
    return runs


def solved(run: Run) -> bool:
    return bool(run.get("status") == "solved")


def values(a: Run, b: Run, column: str) -> tuple[float, float] | None:
    """The column of both runs, not below its floor; None if one of them lacks it."""
    if a.get(column) is None or b.get(column) is None:
        return None
    floor = FLOORS[column]
    return max(floor, float(a[column])), max(floor, float(b[column]))


def mean_ratio(pairs: Sequence[tuple[Run, Run]], column: str) -> tuple[float, int]:
    """Geometric mean of B / A and the number of pairs that have the column."""
    found = [both for a, b in pairs if (both := values(a, b, column))]
    if not found:
        return math.nan, 0
    return math.exp(sum(math.log(b / a) for a, b in found) / len(found)), len(found)


def markdown(first: dict[Key, Run], second: dict[Key, Run], names: Sequence[str]) -> str:
    """A row per configuration, then all of them together."""
    a_name, b_name = names
    header = ["configuration", "tasks", f"{a_name} solved", f"{b_name} solved", "both", *FLOORS]
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    shared = sorted(first.keys() & second.keys())
    configs = sorted({config for _, config in shared})
    for label, chosen in [(config or "all", {config}) for config in configs] + (
        [("all", set(configs))] if len(configs) > 1 else []
    ):
        pairs = [(first[key], second[key]) for key in shared if key[1] in chosen]
        both = [(a, b) for a, b in pairs if solved(a) and solved(b)]
        ratios = [mean_ratio(both, column)[0] for column in FLOORS]
        counts = [len(pairs), sum(solved(a) for a, _ in pairs), sum(solved(b) for _, b in pairs)]
        cells = [f"{ratio:.3g}" if not math.isnan(ratio) else "–" for ratio in ratios]
        lines.append([label, *map(str, counts), str(len(both)), *cells])
    missing = len(first.keys() ^ second.keys())
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"{table}\n\nRatios {b_name} / {a_name}; {missing} runs are on one side only.\n"


def scatter(first: dict[Key, Run], second: dict[Key, Run], column: str, names: Sequence[str]) -> str:
    """Log-log scatter of one column as a standalone SVG; points below the diagonal favour B."""
    size, margin = 440, 60
    points = [
        (*both, " ".join(key))
        for key in sorted(first.keys() & second.keys())
        if solved(first[key]) and solved(second[key])
        if (both := values(first[key], second[key], column))
    ]
    numbers = [value for a, b, _ in points for value in (a, b)] or [1.0]
    low = math.floor(math.log10(min(numbers)))
    high = max(low + 1, math.ceil(math.log10(max(numbers))))

    def place(value: float) -> float:
        return (math.log10(value) - low) / (high - low) * size

    def x(value: float) -> float:
        return margin + place(value)

    def y(value: float) -> float:
        return margin / 2 + size - place(value)

    def text(left: float, top: float, words: str, more: str = "") -> str:
        anchor = f'text-anchor="middle" {more}'
        return f'<text x="{left:.1f}" y="{top:.1f}" {anchor}>{escape(words)}</text>'

    left, right, top, bottom = x(10.0**low), x(10.0**high), y(10.0**high), y(10.0**low)
    middle = (top + bottom) / 2
    parts = [
        f'<line x1="{left}" y1="{bottom}" x2="{right}" y2="{top}" stroke="#888"/>',
        text((left + right) / 2, bottom + 42, f"{names[0]} ({column})"),
        text(16, middle, f"{names[1]} ({column})", f'transform="rotate(-90 16 {middle:.1f})"'),
    ]
    for power in range(low, high + 1):
        at = 10.0**power
        for line in (f"M{x(at):.1f} {top}V{bottom}", f"M{left} {y(at):.1f}H{right}"):
            parts.append(f'<path d="{line}" stroke="#ddd" fill="none"/>')
        parts += [text(x(at), bottom + 18, f"1e{power}"), text(left - 22, y(at) + 4, f"1e{power}")]
    for a, b, name in points:
        circle = f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.5" fill="#1f6fb4" fill-opacity="0.6">'
        parts.append(f"{circle}<title>{escape(name)}: {a:g}, {b:g}</title></circle>")
    width, height = size + margin * 1.5, size + margin * 1.5
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
    style = 'width="660" font-family="sans-serif" font-size="12">'
    return "\n".join(
        [f"{head} {style}", '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>\n"]
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compares two result files.")
    parser.add_argument("a", type=Path, help="JSON lines, the base of the ratios")
    parser.add_argument("b", type=Path, help="JSON lines")
    parser.add_argument("--planners", nargs=2, metavar=("A", "B"), help="take only these runs")
    parser.add_argument("--svg", type=Path, help="write a scatter plot to this file")
    parser.add_argument("--column", choices=list(FLOORS), default="expansions", help="of the plot")
    options = parser.parse_args(words)
    planners = options.planners or [None, None]
    first, second = read(options.a, planners[0]), read(options.b, planners[1])
    names = options.planners or ["A", "B"]
    print(markdown(first, second, names))
    if options.svg:
        options.svg.write_text(scatter(first, second, options.column, names))
        print(f"plot: {options.svg}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    records.finish(main)
