"""`hstar bench`: an experiment from a file."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.options import Parser
from hstar.cli.runs import add_run_options, run_and_print
from hstar.files import check_files, replace_file, shipped
from hstar.limits import cores
from hstar.registry import unknown
from hstar.units import format_time

if TYPE_CHECKING:
    from hstar.experiments.job import Job
    from hstar.experiments.store import Attempt

SUITES = {path.stem: path for path in sorted(shipped("suites").glob("*.toml"))}
"""The suites that come with hstar, by name."""

DESCRIPTION = f"""\
SUITE is a TOML file with tasks, trainings and searches (docs/suites.md describes it), or the name of a suite
that comes with hstar:
  {", ".join(SUITES)}
Each job is a process of its own under hard limits. What is finished is kept in RUN: after a kill the same
command goes on, and a suite that has grown runs only what is new."""
EXAMPLES = (
    "hstar bench demo -o runs/demo --profile quick --dry-run",
    "hstar bench suite.toml -o runs/first --dry-run",
    "hstar bench suite.toml -o runs/first --profile quick",
)


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] SUITE -o RUN"
    add("suite", "SUITE", "The experiment: a TOML file, or one of the names above.", type=Path)
    add("--profile", "NAME", "Apply the changes of this profile of the suite.")
    add("--data", "FOLDER", "Folder that relative paths of instances start from (default: that of SUITE).")
    add("--dry-run", None, "Only tell what would be run, and for how long.")
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments.report.runs import DESCRIPTION
    from hstar.experiments.store import Store, is_run
    from hstar.experiments.suite import read_suite
    from hstar.experiments.suite_jobs import suite_jobs

    file = _file(arguments.suite)
    suite = read_suite(file, arguments.profile)
    home = (arguments.data or file.parent).absolute()
    if arguments.dry_run and not is_run(arguments.output):  # leave nothing behind
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
            return _tell(suite_jobs(suite, home, store), {}, arguments.jobs)
    with Store(arguments.output) as store:
        jobs = suite_jobs(suite, home, store)
        if arguments.dry_run:
            return _tell(jobs, store.latest(), arguments.jobs)
        if suite.description:
            replace_file(store.folder / DESCRIPTION, suite.description.encode())
        return run_and_print(store, jobs, arguments)


def _file(suite: Path) -> Path:
    """The file of a suite; a file that is there comes before a suite of hstar with the same name."""
    if suite.exists() or suite.suffix or suite.parent != Path():
        check_files(suite)
        return suite
    if suite.name not in SUITES:
        raise unknown("suite", suite.name, list(SUITES))
    return SUITES[suite.name]


# In the order in which they need each other.
_STEPS = ("sample", "label", "train", "accuracy", "search")


def _tell(jobs: list[Job], done: dict[str, Attempt], slots: int | None) -> int:
    """How many jobs of each kind, and how long they take: at most, and at the pace of those that are done."""
    slots = slots or cores()
    missing = [job for job in jobs if job.key not in done]
    counts = Counter(job.labels["step"] for job in jobs)
    shown = ", ".join(f"{counts[step]} of step {step}" for step in sorted(counts, key=_STEPS.index))
    print(f"{len(jobs)} jobs ({shown}), {len(jobs) - len(missing)} finished", file=sys.stderr)
    trainings = [job.time_limit for job in missing if job.kind == "train"]
    at_most = (sum(job.time_limit for job in missing) - sum(trainings)) / slots
    told = f"without trainings at most {format_time(at_most)} with {slots} at a time"
    if trainings:
        latest = format_time(max(trainings))
        told += f"; {len(trainings)} trainings end by themselves, at the latest after {latest} each"
    print(told, file=sys.stderr)
    spent: dict[str, list[float]] = {}
    for job in jobs:
        if job.key in done:
            spent.setdefault(job.kind, []).append(done[job.key].seconds)
    if spent:
        means = {kind: sum(times) / len(times) for kind, times in spent.items()}
        expected = sum(means.get(job.kind, job.time_limit) for job in missing) / slots
        print(f"about {format_time(expected)} at the pace so far", file=sys.stderr)
    return 0
