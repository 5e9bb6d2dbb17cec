"""Tasks where the network is unsure, or ever longer walks: which of them teach the 15-puzzle quicker?

The study of efficiency of Marom and Rosman (ICAPS 2020, Table 2). A learner has 20 iterations of ten tasks
and a short limit for each; its network has one output and plans with the mean. How many tasks does it solve
while it learns, and how many of 100 test tasks, ends of walks of 1, 2, ... 100 moves, in that order, until a
budget for all of them is used up? Their 1 s for a task and 60 s for a test are numbers of nodes here.

python benchmarks/task_generation.py --out runs/task_generation.jsonl    # two hours; --runs 1 --sets 1: less
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from records import (
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
)

from hstar.experiments.statistics import share_of
from hstar.experiments.tables import share
from hstar.recipes import train
from hstar.search.iterative_deepening import PuzzleHeuristic
from hstar.search.solve import SearchConfig, solve
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.puzzles import parse_puzzle

PART = "task generation"
NAMES = ("part", "build", "puzzle", "tasks_by", "length_inc", "seed", "iterations", "sets", "budget")
WAYS: tuple[tuple[str, int | None], ...] = (
    *(("length-inc", moves) for moves in (1, 2, 4, 6, 8, 10)),
    ("uncertainty", None),
)
# The published percentages, in training and in the test, to be read beside ours.
PUBLISHED = {1: (100, 38.6), 2: (95.1, 48.2), 4: (61.8, 51.4), 6: (36.2, 39.6), 8: (19.2, 35.2)}
PUBLISHED |= {10: (11.8, 31.8)}
PUBLISHED_UNCERTAINTY = (93.3, 60.6)
TASKS = 100


def tested(size: Puzzle, heuristic: PuzzleHeuristic, sets: int, budget: int) -> list[int]:
    """Solved tasks of each set of tests; all learners have the same sets."""
    found = []
    for number in range(sets):
        solved, left = 0, budget
        for moves in range(1, TASKS + 1):
            task = size.walk(moves, seed=1_000_000 + number * TASKS + moves)
            result = solve(task, heuristic, "idastar", config=SearchConfig(max_evaluations=max(1, left)))
            solved += result.solved
            left -= result.generated
            if left <= 0:
                break
        found.append(solved)
    return found


def measure(size: Puzzle, tasks_by: str, length_inc: int | None, options: argparse.Namespace) -> Record:
    """A training, and its tests."""
    chosen: dict[str, Any] = {} if length_inc is None else {"length_inc": length_inc}
    model = train(
        "likely-admissible",
        size,
        profile="efficiency",
        tasks_by=tasks_by,
        iterations=options.iterations,
        samples=0,
        loss_samples=0,
        seed=options.seed,
        **chosen,
    )
    solved = tested(size, model.build(size), options.sets, options.budget)
    summary = {name: model.summary[name] for name in ("tasks", "solved", "generated", "time_s")}
    return {**summary, "tested": solved}


def report(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    rows = []
    for tasks_by, length_inc in WAYS:
        found = those(records, tasks_by=tasks_by, length_inc=length_inc)
        if not found:
            continue
        name = "uncertainty" if length_inc is None else f"walks, {length_inc} longer each time"
        learned = [100 * record["solved"] / record["tasks"] for record in found]
        test = [sum(record["tested"]) / len(record["tested"]) for record in found]
        published = PUBLISHED_UNCERTAINTY if length_inc is None else PUBLISHED[length_inc]
        times = [record["time_s"] for record in found]
        cells = [share(share_of(values)) for values in (learned, test, times)]
        rows.append([name, str(len(found)), *cells, *(f"{value:g}" for value in published)])
    header = ["tasks by", "runs", "solved in training (%)", "in the test (%)", "training, s"]
    header += ["published: training", "test"]
    return {"tasks": ("What tasks teach:", table(header, rows))}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Tasks by uncertainty or by ever longer walks.")
    add = parser.add_argument
    add("--puzzle", default="tiles:4x4", help="what is learned (tiles:4x4)")
    add("--runs", type=int, default=5, help="trainings of each way (5)")
    add("--sets", type=int, default=5, help="sets of tests of each training (5)")
    add("--iterations", type=int, default=20, help="of a training (20)")
    add("--budget", type=float, default=70e6, help="nodes of a set of tests (70e6)")
    add_file_options(parser, ["tasks"])
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, [PART], NAMES)
        print(shown(report(known), known, options.table, options.file))
        return 0
    options.budget, size = int(options.budget), parse_puzzle(options.puzzle)
    records = Records(options.out, NAMES)
    for seed in range(options.runs):
        for tasks_by, length_inc in WAYS:
            what = {"part": PART, "build": build(), "puzzle": str(size), "tasks_by": tasks_by, "seed": seed}
            what |= {"length_inc": length_inc, "iterations": options.iterations}
            what |= {"sets": options.sets, "budget": options.budget}
            options.seed = seed

            def one(way: tuple[str, int | None] = (tasks_by, length_inc)) -> Record:
                return measure(size, *way, options)

            record = records.get(what, one)
            percent = sum(record["tested"]) / len(record["tested"])
            note(
                f"{tasks_by} {length_inc or ''} {seed}: {record['solved']}/{record['tasks']}, {percent:.1f} %"
            )
    print(shown(report(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
