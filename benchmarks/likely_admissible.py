"""Likely-admissible heuristics of planning tasks: how often are plans optimal, and what does that take?

For each setting `hstar train likely-admissible` learns one task from its goal alone, and A* plans from fresh
starts with the value that is admissible with probability alpha, for several alpha, and with symbolic
heuristics. Everything counts expansions and costs; only the training has a time, that of the processor.

python benchmarks/likely_admissible.py --out runs/likely_admissible.jsonl [--starts 50] [--seeds 3]
python benchmarks/likely_admissible.py --print runs/likely_admissible.jsonl [--table plans]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

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
)

import hstar
from hstar.estimates import Quantile
from hstar.generators import GENERATORS
from hstar.generators.blocksworld import random_towers
from hstar.generators.npuzzle import random_tiles
from hstar.recipes import train
from hstar.spaces.task import load_task

PART = "likely-admissible"
NAMES = ("part", "build", "setting", "seed", "starts", "options")
TABLES = {"plans": "Plans of A* from fresh starts.", "training": "What the training took."}
ALPHAS = (0.95, 0.9, 0.75, 0.5, 0.25)
SYMBOLIC = ("blind", "lmcut")
LIMIT = 4_000_000  # evaluated states of a search
FIRST_START = 1_000_000  # seeds of starts, far from those of problems


@dataclass(frozen=True)
class Setting:
    """A task by its generator, how its fresh starts are drawn, and options of the training."""

    domain: str
    sizes: dict[str, int]
    start: Callable[[dict[str, int], random.Random], set[str]]
    options: dict[str, Any]


def random_puzzle(sizes: dict[str, int], rng: random.Random) -> set[str]:
    """The atoms of a uniformly random arrangement that can be solved."""
    rows, columns = sizes["rows"], sizes["columns"]
    cells = [f"c{row}-{column}" for row in range(rows) for column in range(columns)]
    tiles = random_tiles(rows, columns, rng)
    return {f"at(t{t}, {c})" if t else f"empty({c})" for t, c in zip(tiles, cells, strict=True)}


def random_blocks(sizes: dict[str, int], rng: random.Random) -> set[str]:
    """The atoms of uniformly random towers."""
    atoms = {"arm-empty()"}
    for tower in random_towers(sizes["blocks"], rng):
        atoms |= {f"on(b{upper}, b{lower})" for lower, upper in pairwise(tower)}
        atoms |= {f"on-table(b{tower[0]})", f"clear(b{tower[-1]})"}
    return atoms


OPTIONS = {"iterations": 30, "hidden": 32, "planner_steps": 600, "known_steps": 400, "max_steps": 100}
SETTINGS = {
    "npuzzle 3x3": Setting("npuzzle", {"rows": 3, "columns": 3}, random_puzzle, OPTIONS),
    "blocksworld 8": Setting("blocksworld", {"blocks": 8}, random_blocks, OPTIONS),
}


def base_task(setting: Setting) -> hstar.Task:
    """The task that is learned; its own start plays no part in that."""
    texts = GENERATORS.get(setting.domain)(**setting.sizes, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{name}.pddl") for name in ("domain", "problem")]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        task = load_task(*files)
        assert task.lifted  # read, and kept, while the files are there
        return task


def starts(setting: Setting, task: hstar.Task, number: int) -> Iterator[hstar.Task]:
    """Fresh starts, the same for all trainings; none of them a goal."""
    seed = FIRST_START
    while number:
        atoms = setting.start(setting.sizes, random.Random(seed))
        seed += 1
        start = task.with_initial_state(atoms, ignore_unknown=True)
        goal = dict(start.core.goal)
        if any(start.core.initial_state[variable] != value for variable, value in goal.items()):
            number -= 1
            yield start


def search(name: str, number: int, heuristics: dict[str, Any]) -> dict[str, list[tuple[int | None, int]]]:
    """By each heuristic the cost, None if it was not found, and the expansions for each start."""
    setting = SETTINGS[name]
    results: dict[str, list[tuple[int | None, int]]] = {what: [] for what in heuristics}
    for place, start in enumerate(starts(setting, base_task(setting), number), 1):
        note(f"{name}: start {place} of {number}")
        for what, heuristic in heuristics.items():
            result = hstar.solve(start, heuristic, "astar", max_evaluations=LIMIT)
            results[what].append((result.plan_cost, result.expanded))
    return results


def measure(name: str, seed: int, number: int) -> Record:
    """One training, and all searches with it."""
    setting = SETTINGS[name]

    def show(record: Any) -> None:
        note(f"{name}, seed {seed}: iteration {record.iteration}, {record.states} states, {record.doing}")

    before = time.process_time()
    model = train("likely-admissible", base_task(setting), seed=seed, progress=show, **setting.options)
    cpu_s = round(time.process_time() - before, 1)
    learned = {f"alpha {alpha:g}": model.with_rule(Quantile(1 - alpha)) for alpha in ALPHAS}
    return {
        "training": {key: value for key, value in model.summary.items() if key != "curve"} | {"cpu_s": cpu_s},
        "curve": [(row["solved"], row["longest"], row["alpha"]) for row in model.summary["curve"]],
        "results": search(name, number, learned),
    }


# --- tables ---------------------------------------------------------------------------------------


def mean_and_spread(values: Sequence[float], form: str) -> str:
    """Over seeds: the mean, and the standard deviation if there are several."""
    text = format(statistics.fmean(values), form)
    return f"{text} ± {format(statistics.stdev(values), form)}" if len(set(values)) > 1 else text


def of_run(record: Record, name: str, optimum: Sequence[int | None]) -> dict[str, float]:
    """What one training gives by this heuristic; costs count where both are known."""
    found = record["results"][name]
    both = zip((cost for cost, _ in found), optimum, strict=True)
    pairs = [(cost, best) for cost, best in both if cost is not None and best is not None]
    return {
        "solved": 100 * sum(cost is not None for cost, _ in found) / len(found),
        "optimal": 100 * sum(cost == best for cost, best in pairs) / len(pairs) if pairs else 0.0,
        "suboptimality": 100 * statistics.fmean(cost / best - 1 for cost, best in pairs) if pairs else 0.0,
        "expanded": statistics.fmean(expanded for _, expanded in found),
    }


def plans(records: Sequence[Record]) -> Iterator[list[str]]:
    """The symbolic heuristics, which need no training, before the learned ones."""
    columns = [("solved", ".0f"), ("optimal", ".1f"), ("suboptimality", ".2f"), ("expanded", ",.0f")]
    for name in SETTINGS:
        symbolic = those(records, setting=name, seed=None)
        if not symbolic:
            continue
        optimum = [cost for cost, _ in symbolic[0]["results"]["lmcut"]]
        trained = [one for one in those(records, setting=name) if one["seed"] is not None]
        for runs in (symbolic, trained):
            for heuristic in runs[0]["results"] if runs else ():
                found = [of_run(run, heuristic, optimum) for run in runs]
                numbers = [mean_and_spread([one[key] for one in found], form) for key, form in columns]
                yield [name, f"{len(runs)}" if runs is trained else "", heuristic, *numbers]


def trainings(records: Sequence[Record]) -> Iterator[list[str]]:
    for name in SETTINGS:
        for run in (one for one in those(records, setting=name) if one["seed"] is not None):
            found = run["training"]
            solved = f"{found['solved']} of {found['tasks']}"
            longest = max(longest or 0 for _, longest, _ in run["curve"])
            row = [
                name,
                f"{run['seed']}",
                f"{found['iterations']}",
                solved,
                f"{longest}",
                f"{found['states']:,}",
            ]
            yield [
                *row,
                f"{found['generated']:,}",
                f"{found['alpha']:g}",
                f"{found['cpu_s']:.0f}" if "cpu_s" in found else UNKNOWN,
            ]


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    header = [
        "task",
        "trainings",
        "heuristic of A*",
        "solved %",
        "optimal %",
        "suboptimality %",
        "expansions",
    ]
    training = [
        "task",
        "seed",
        "iterations",
        "tasks solved",
        "longest plan",
        "states",
        "generated",
        "last alpha",
        "processor s",
    ]
    return {
        "plans": (TABLES["plans"], table(header, plans(records), (0, 2))),
        "training": (TABLES["training"], table(training, trainings(records), (0,))),
    }


# --- command line ---------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add: Callable[..., Any] = parser.add_argument
    add("--setting", choices=list(SETTINGS), action="append", help="only this one; may be repeated")
    add("--starts", type=int, default=50, metavar="N", help="fresh starts of each task")
    add("--seeds", type=int, default=3, metavar="N", help="trainings of each task")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, (PART,), NAMES)
        print(shown(sections(known), known, options.table, options.file))
        return 0
    records = Records(options.out, NAMES)
    for name in options.setting or SETTINGS:
        common = {"part": PART, "build": build(), "setting": name, "starts": options.starts}
        given = " ".join(f"{key}={value}" for key, value in SETTINGS[name].options.items())
        symbolic = {one: one for one in SYMBOLIC}
        records.get(
            {**common, "seed": None, "options": ""},
            lambda: {"results": search(name, options.starts, symbolic)},  # noqa: B023
        )
        for seed in range(options.seeds):
            what = {**common, "seed": seed, "options": given}
            records.get(what, lambda: measure(name, seed, options.starts))  # noqa: B023
    print(shown(sections(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
