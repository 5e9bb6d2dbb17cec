"""Planners and learned knowledge on the tasks of the learning track of IPC 2023, from PDDL to plan.

Every contestant is a command that reads a domain and a problem and writes a plan, under the same limits on
CPU time and resident memory of all its processes, start-up and translation included. Contestants are `ff`
(lazy search with preferred operators), aliases of `hstar solve` such as `lama-first`, `fast-downward`
(lama-first of Fast Downward with its own translator), and folders with DOMAIN.hstar for each domain, as
NAME=FOLDER: knowledge, which `hstar plan` runs, or with options behind the folder models of `hstar train`,
which `hstar solve` runs with these options ('wl+ff=FOLDER --search lazy --heuristic ff --preferred'). Every
plan is validated. Each run is kept (records.py), and the same command goes on where it stopped.

Scores are those of the competition: coverage; quality, the cost of the best known plan (of all runs in the
file) divided by the plan's; and agile, 1 for a second of CPU time and 0 for the whole limit, logarithmic in
between.

python benchmarks/learning_track.py lama-first ff fast-downward learn=runs/knowledge --out build/track.jsonl
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from records import UNKNOWN, Records, add_file_options, build, finish, note, shown, stored, table

from hstar.errors import HstarError, InputError
from hstar.experiments.fast_downward import FastDownward
from hstar.experiments.process import Finished, ProcessLimits, run_limited
from hstar.search.aliases import aliases
from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.pddl import read_task
from hstar.spaces.validate import read_plan

ROOT = Path(__file__).resolve().parents[1]
TRACK = ROOT.parent / "shared" / "benchmarks" / "ipc23lt"
LEVELS = ("easy", "medium", "hard")
PART = "learning track"
KEY = ("part", "planner", "build", "task", "cpu", "memory")
TABLES = ("coverage", "levels", "quality", "agile", "gain", "tasks")
PEER = "fast-downward"
LAZY_FF = ["--search", "lazy", "--heuristic", "ff", "--preferred"]
Run = dict[str, Any]


def tasks(root: Path, domains: Sequence[str], levels: Sequence[str]) -> Iterator[tuple[str, str, Path]]:
    """Level, domain and problem file, the smaller levels first."""
    for level in levels:
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            if domains and folder.name not in domains:
                continue
            for problem in sorted((folder / "dev" / level).glob("*.pddl")):
                yield level, folder.name, problem


def command(contestant: str, domain: Path, problem: Path, plan: Path) -> list[str]:
    """What is run for a contestant on a task."""
    hstar = [sys.executable, "-m", "hstar"]
    files = [str(domain), str(problem)]
    if "=" in contestant:
        folder, *words = contestant.partition("=")[2].split()
        learned = str(Path(folder, f"{domain.parent.name}.hstar"))
        if not words:
            return [*hstar, "plan", learned, *files, str(plan)]
        words = ["--heuristic", learned, *words]
        return [*hstar, "solve", *files, *words, "--plan-file", str(plan), "--quiet"]
    if contestant == PEER:
        planner = FastDownward.find()
        if planner is None or planner.driver is None:
            raise InputError("Fast Downward is not installed: pip install 'hstar[bench]'")
        place = ["--plan-file", str(plan), "--sas-file", str(plan.with_suffix(".sas"))]
        return [sys.executable, str(planner.driver), *place, "--alias", "lama-first", *files]
    words = LAZY_FF if contestant == "ff" else ["--alias", contestant]
    return [*hstar, "solve", *files, *words, "--plan-file", str(plan), "--quiet"]


def run(contestant: str, domain: Path, problem: Path, cpu: int, memory: int) -> Run:
    """One run of a contestant."""
    return planned(partial(command, contestant, domain, problem), domain, problem, cpu, memory)


def planned(command: Callable[[Path], list[str]], domain: Path, problem: Path, cpu: int, memory: int) -> Run:
    """One run of the command for a plan file; solved only if the plan that is there at the end is valid."""
    with tempfile.TemporaryDirectory(prefix="hstar-track-") as place:
        plan = Path(place, "plan")
        limits = ProcessLimits(cpu, cpu=True, resident_memory=memory << 20)
        found = run_limited(command(plan), limits)
        record: Run = {"status": _status(found), "cpu_s": found.cpu_seconds, "memory_used": found.peak_memory}
        if plan.is_file():
            try:
                verdict = validate_pddl(read_task(domain, problem), read_plan(plan))
            except HstarError as error:
                return {**record, "status": "invalid", "error": str(error)}
            if not verdict.valid:
                return {**record, "status": "invalid", "error": verdict.reason}
            return {**record, "status": "solved", "cost": verdict.cost}
        said = {"error": found.last_line()} if record["status"] == "error" else {}
        return {**record, **said}


def _status(found: Finished) -> str:
    if found.timed_out:
        return "time_limit"
    if found.out_of_memory:
        return "memory_limit"
    codes = {22: "memory_limit", 23: "time_limit", 12: "unsolved", 11: "unsolvable"}
    return codes.get(found.exit_code, "error")


# --- report ---------------------------------------------------------------------------------------


def agile(run: Run) -> float:
    if run["status"] != "solved":
        return 0.0
    return max(0.0, min(1.0, 1 - math.log(max(run["cpu_s"], 1.0)) / math.log(run["cpu"])))


def report(runs: Sequence[Run]) -> dict[str, tuple[str, str]]:
    planners = list(dict.fromkeys(run["planner"] for run in runs))
    by_task: dict[str, dict[str, Run]] = {}
    for one in runs:
        by_task.setdefault(one["task"], {})[one["planner"]] = one
    whole = {task: found for task, found in by_task.items() if len(found) == len(planners)}
    best = {
        task: min((run["cost"] for run in found.values() if run["status"] == "solved"), default=None)
        for task, found in by_task.items()
    }

    def quality(run: Run) -> float:
        return best[run["task"]] / max(run["cost"], 1) if run["status"] == "solved" else 0.0

    def solved(run: Run) -> float:
        return float(run["status"] == "solved")

    def rows(value: Any, place: int, digits: int) -> list[list[str]]:
        """Sums by domain (place 0) or level (place 1) of the names of tasks, over tasks that all ran on."""
        groups: dict[str, list[dict[str, Run]]] = {}
        for task, found in whole.items():
            groups.setdefault(task.split("/")[place], []).append(found)
        lines = [*groups.items(), ("all", list(whole.values()))]
        return [
            [
                name,
                str(len(group)),
                *(f"{sum(value(one[who]) for one in group):.{digits}f}" for who in planners),
            ]
            for name, group in lines
        ]

    header = ["tasks", *planners]
    return {
        "coverage": ("## Solved, by domain", table(["domain", *header], rows(solved, 0, 0))),
        "levels": ("## Solved, by level", table(["level", *header], rows(solved, 1, 0))),
        "quality": ("## Quality", table(["domain", *header], rows(quality, 0, 1))),
        "agile": ("## Agile", table(["domain", *header], rows(agile, 0, 1))),
        "gain": ("## Solved by knowledge and by no planner without learning", gain(whole, planners)),
        "tasks": ("## Task by task", table(["task", *planners], task_rows(whole, planners))),
    }


def gain(whole: dict[str, dict[str, Run]], planners: Sequence[str]) -> str:
    """By domain and contestant with knowledge: tasks that no other one solves, and the reverse."""
    learned = [name for name in planners if name not in (PEER, "ff", *aliases())]
    symbolic = [name for name in planners if name not in learned]
    lines = []
    for domain in dict.fromkeys(task.split("/")[0] for task in whole):
        found = [runs for task, runs in whole.items() if task.split("/")[0] == domain]
        for name in learned:
            ours = [one[name]["status"] == "solved" for one in found]
            theirs = [any(one[other]["status"] == "solved" for other in symbolic) for one in found]
            both = list(zip(ours, theirs, strict=True))
            lines.append([domain, name, str(both.count((True, False))), str(both.count((False, True)))])
    return table(["domain", "knowledge", "only knowledge", "only without"], lines, words=(0, 1))


def task_rows(whole: dict[str, dict[str, Run]], planners: Sequence[str]) -> Iterator[list[str]]:
    for task, found in whole.items():
        cells = (found[name] for name in planners)
        yield [
            task,
            *(
                f"{one['cpu_s']:.1f} s, {one['cost']}" if one["status"] == "solved" else UNKNOWN
                for one in cells
            ),
        ]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Planners and knowledge on the tasks of the learning track.")
    add = parser.add_argument
    add("contestants", nargs="*", help="ff, an alias, fast-downward, NAME=FOLDER, or 'NAME=FOLDER OPTIONS'")
    add("--cpu", type=int, default=60, metavar="S", help="CPU time of a run (default: %(default)s)")
    add("--memory", type=int, default=8192, metavar="MIB", help="of a run (default: %(default)s)")
    add("--domains", default="", help="comma-separated (default: all)")
    add("--levels", default=",".join(LEVELS), help="comma-separated (default: %(default)s)")
    add("--tasks", type=Path, default=TRACK, help="the folder of the domains")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        runs = stored(options.file, (PART,), KEY)
        print(shown(report(runs), runs, options.table, options.file))
        return 0
    records = Records(options.out, KEY)
    domains = [name for name in options.domains.split(",") if name]
    for level, domain, problem in tasks(options.tasks, domains, options.levels.split(",")):
        for contestant in options.contestants:
            name, task = contestant.partition("=")[0], f"{domain}/{level}/{problem.stem}"
            what = (PART, name, build(), task, options.cpu, options.memory)
            files = problem.parents[2] / "domain.pddl", problem
            measure = partial(run, contestant, *files, options.cpu, options.memory)
            found = records.get(dict(zip(KEY, what, strict=True)), measure)
            note(f"{task:28} {name:16} {found['status']:12} {found['cpu_s']:6.1f} s {found.get('cost', '')}")
    print(shown(report(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
