"""`hstar train truncated DOMAIN` without options beside `ff`, in the searches of its paper.

For every domain with data that come with hstar, a model of each seed is trained on these. Greedy best-first
search then gets 10,000 evaluations on the first large problems of the domain (`hstar generate --split
large`), with the model and with `ff`. Evaluations are counted as in the paper (duplicates count again, goals
are tested at generation), and as hstar does (no state is evaluated twice). The third search is the default:
lazy, with preferred operators, alternating between the model and `ff`. A failure counts 10,000. All of it is
a function of the seeds: no limit depends on a clock.

--attempt 1 and 2 take other problems of the same sizes: defaults are chosen on 1 and measured on 2.

python benchmarks/truncated_default.py --out build/truncated_default.jsonl
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from records import Record, Records, add_file_options, build, finish, note, shown, stored, table, those

import hstar
from hstar.generators.splits import split_attempts
from hstar.sampling.relational import shipped

PART = "truncated default"
KEY = ("part", "build", "domain", "heuristic", "seed", "counting", "attempt", "number")
LIMIT = 10_000
LAZY = "lazy, preferred operators"
SEARCHES: dict[str, dict[str, Any]] = {
    "as in the paper": {"search": "gbfs", "goal_at_generation": True, "evaluate_duplicates": True},
    "each state once": {"search": "gbfs"},
    LAZY: {"search": "lazy", "preferred": True},
}
FF, MODEL = "ff", "truncated"


def large_problems(domain: str, attempt: int, number: int, folder: Path) -> list[Any]:
    """The first large problems; or of each the one that would take its place, where there is one."""
    found = [some[attempt] for some in split_attempts(domain, "large", attempt + 1) if len(some) > attempt]
    tasks: list[Any] = []
    for instance in found[:number]:
        files = folder / f"{domain}.pddl", folder / f"{domain}-{len(tasks)}.pddl"
        for file, text in zip(files, (instance.domain, instance.problem), strict=True):
            file.write_text(text)
        tasks.append(hstar.load(*files))
    return tasks


def searched(tasks: Sequence[Any], of: Callable[[], Any], counting: str) -> Record:
    """How many tasks are solved, and the mean of the evaluations."""
    heuristics = [of()]
    if counting == LAZY and heuristics != [FF]:
        heuristics.append(FF)  # the default search with a model of a domain
    runs = [hstar.solve(task, heuristics, max_evaluations=LIMIT - 1, **SEARCHES[counting]) for task in tasks]
    counts = [run.evaluated if run.plan is not None else LIMIT for run in runs]
    return {
        "solved": sum(run.plan is not None for run in runs),
        "of": len(tasks),
        "evaluations": fmean(counts),
    }


def plans(records: Sequence[Record]) -> str:
    """Solved tasks in percent and evaluations, by domain; of a model for each seed."""
    domains = list(dict.fromkeys(record["domain"] for record in records))
    lines = []
    for counting in SEARCHES:
        for heuristic in (FF, MODEL):
            rows = those(records, counting=counting, heuristic=heuristic)
            for seed in dict.fromkeys(record["seed"] for record in rows):
                cells = [
                    f"{100 * row['solved'] / row['of']:.0f} %, {row['evaluations']:,.0f}"
                    for domain in domains
                    for row in those(rows, domain=domain, seed=seed)
                ]
                name = heuristic if heuristic == FF else f"{heuristic}, seed {seed}"
                lines.append([name, counting, *cells])
    return table(["heuristic", "search", *domains], lines, words=(0, 1))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The defaults of the recipe truncated beside ff.")
    add = parser.add_argument
    add("--number", type=int, default=50, metavar="N", help="problems of a domain (default: %(default)s)")
    add("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="SEED", help="of the trainings")
    add("--attempt", type=int, default=0, metavar="I", help="0: the problems of the split; 1, 2: others")
    add_file_options(parser, ["plans"])
    options = parser.parse_args(words)
    title = "## Large problems: solved, and mean number of evaluations"
    if options.file is not None:
        runs = stored(options.file, (PART,), KEY)
        print(shown({"plans": (title, plans(runs))}, runs, options.table, options.file))
        return 0
    records = Records(options.out, KEY)
    with tempfile.TemporaryDirectory() as folder:
        for domain in shipped():
            tasks = large_problems(domain, options.attempt, options.number, Path(folder))
            for seed in (None, *options.seeds):
                name = FF if seed is None else MODEL
                heuristic = cache(
                    partial(hstar.train, MODEL, domain, seed=seed) if seed is not None else lambda: FF
                )
                for counting in SEARCHES:
                    what = (PART, build(), domain, name, seed, counting, options.attempt, options.number)
                    measure = partial(searched, tasks, heuristic, counting)
                    row = records.get(dict(zip(KEY, what, strict=True)), measure)
                    note(f"{domain:12} {name:10} {counting:16} {row['solved']} of {row['of']}")
    print(shown({"plans": (title, plans(records.used))}, records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
