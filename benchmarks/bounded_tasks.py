"""Plans of planning tasks with a proven bound: runs of suites/bounded.toml.

Focal search, with lmcut as the anchor and a guide that need not be admissible, beside weighted A* with lmcut,
both within the same bound W. Expansions and times are geometric means over the tasks that all contestants of
a bound have solved. Every plan is checked. A violation is a cost above W times the optimum, where A* has
found it; a lower bound above the cost of a plan, whoever found that; and, of focal search, a cost above W
times its own lower bound. Tasks with an error, as that lmcut knows no axioms, are left out and counted.

python benchmarks/bounded_tasks.py RUN ... [--table domains]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from records import finish, table

from hstar.errors import InputError
from hstar.experiments.report import read_runs
from hstar.experiments.statistics import Record, geometric, mean, searches_of
from hstar.experiments.tables import number

OPTIMAL = "astar"  # the contestant whose plans are optimal
Task = tuple[str, str]


def bound_of(contestant: str) -> tuple[float, str]:
    """What is promised, and the contestant without it: names of the suite end with W."""
    name, _, bound = contestant.rpartition(" ")
    return (float(bound), name) if name else (1.0, contestant)


def task_of(row: Record) -> Task:
    """The problem, or the instance and its start."""
    return row["instance"], row["start"]


def violations(rows: Iterable[Record]) -> dict[int, int]:
    """By the place of a row: how many of its promises are broken."""
    rows = list(rows)
    cheapest: dict[Task, int] = {}
    optimum: dict[Task, int] = {}
    for row in rows:
        if row["status"] == "solved":
            task = task_of(row)
            cheapest[task] = min(row["cost"], cheapest.get(task, row["cost"]))
            if row["contestant"] == OPTIMAL:
                optimum[task] = row["cost"]
    found = {}
    for place, row in enumerate(rows):
        task, bound = task_of(row), bound_of(row["contestant"])[0]
        lower = row.get("lower_bound")
        broken = lower is not None and task in cheapest and lower > cheapest[task]
        if row["status"] == "solved":
            cost = row["cost"]
            if row["search"] == "focal":  # ends when it has proven that; weighted A* knows it by theory
                broken = broken or lower is None or cost > bound * lower + 1e-9
            broken = broken or (task in optimum and not optimum[task] <= cost <= bound * optimum[task] + 1e-9)
        found[place] = int(broken)
    return found


def lines_of(rows: Sequence[Record], title: str) -> list[list[str]]:
    """A line for each bound and contestant."""
    broken = violations(rows)
    optimum = {
        task_of(row): row["cost"]
        for row in rows
        if row["contestant"] == OPTIMAL and row["status"] == "solved"
    }
    by: dict[tuple[float, str], list[tuple[Record, int]]] = {}
    for place, row in enumerate(rows):
        by.setdefault(bound_of(row["contestant"]), []).append((row, broken[place]))
    lines = []
    for bound in sorted({bound for bound, _ in by}):
        names = [name for other, name in by if other == bound]
        solved = {
            name: {task_of(row): row for row, _ in by[bound, name] if row["status"] == "solved"}
            for name in names
        }
        common = set.intersection(*(set(tasks) for tasks in solved.values()))
        for name in names:
            shared = [solved[name][task] for task in common]
            above = [row["cost"] / optimum[task] for task, row in solved[name].items() if optimum.get(task)]
            lines.append(
                [
                    title,
                    f"{bound:g}",
                    name,
                    f"{len(solved[name])} of {len(by[bound, name])}",
                    str(len(common)),
                    number(geometric(row["expansions"] for row in shared)),
                    number(geometric((row["search_time"] for row in shared), 1e-4), 4),
                    number(mean(above), 3),
                    number(mean(row["ratio"] for row in solved[name].values() if row.get("ratio")), 3),
                    str(sum(count for _, count in by[bound, name])),
                ]
            )
    return lines


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Plans of planning tasks with a proven bound.")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of results")
    parser.add_argument(
        "--table", choices=("all", "domains"), default="all", help="one for all tasks, or by domain"
    )
    options = parser.parse_args(words)
    lines, left_out = [], 0
    for run in read_runs(options.runs):
        found = searches_of(run.rows)
        errors = {task_of(row) for row in found if row["status"] == "error"}
        rows = [row for row in found if task_of(row) not in errors]
        left_out += len(errors)
        if not rows:
            raise InputError("no searches", file=run.folder)
        if options.table == "all":
            lines += lines_of(rows, run.folder.name)
        else:
            for domain in dict.fromkeys(row["domain"] for row in rows):
                lines += lines_of([row for row in rows if row["domain"] == domain], domain)
    header = ["tasks", "W", "search", "solved", "solved by all", "expansions", "s"]
    print(table([*header, "cost / optimum", "proven ratio", "violations"], lines, words=(0, 2)))
    if left_out:
        print(f"\nTasks left out, since a search of them ended with an error: {left_out}.")
    return 0


if __name__ == "__main__":
    finish(main)
