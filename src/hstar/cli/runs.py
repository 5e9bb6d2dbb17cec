"""What `hstar evaluate` and `hstar bench` share: jobs are run, progress is shown, tables are printed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING

from hstar.cli.options import Parser
from hstar.cli.progress import ProgressLine
from hstar.units import format_time

if TYPE_CHECKING:
    from hstar.experiments.driver import Executor, Standing
    from hstar.experiments.job import Job, Record
    from hstar.experiments.store import Attempt, Store

JOBS_FAILED, INTERRUPTED = 1, 130


def add_run_options(parser: Parser) -> None:
    """The folder of results, and how it is filled."""
    parser.option("--output -o", "RUN", "Folder of results, models and logs.", required=True)
    add_running_options(parser)


def add_running_options(parser: Parser) -> None:
    """Adds the options that say how jobs are run: number at a time, cluster, retry."""
    add = parser.option
    add("--jobs -j", "N", "Number of processes at a time (default: all cores, or threads of the cluster).")
    text = "Run on a Dask cluster: tcp://HOST:PORT of its scheduler, or slurm:FILE (docs/clusters.md)."
    add("--cluster", "WHERE", text)
    add("--retry", None, "Run again what ended in an error, or too late on a busy machine.")
    add("--json", None, "Print the records, a JSON object per line, instead of tables.")
    add("--quiet -q", None, "Show no progress.")


def run_and_print(store: Store, jobs: Sequence[Job], arguments: argparse.Namespace) -> int:
    """Runs what is missing; prints tables, or with --json records. The exit code."""
    from hstar.experiments.tables import summarise

    rows = run_jobs_of(arguments, store, jobs)
    if rows is None:
        return INTERRUPTED
    if not arguments.json:
        print(summarise(rows), end="")
    failed = sum(row["status"] == "error" for row in rows)
    if failed:
        how = "the same command with --retry runs them again"
        print(f"hstar: {failed} of {len(rows)} jobs ended in an error; {how}", file=sys.stderr)
    return JOBS_FAILED if failed else 0


def run_jobs_of(arguments: argparse.Namespace, store: Store, jobs: Sequence[Job]) -> list[Record] | None:
    """Runs what is missing as the options say, prints rows with --json, and tells how to go on."""
    options = {name: getattr(arguments, name) for name in ("cluster", "retry", "quiet")}
    rows = run_jobs(store, jobs, slots=arguments.jobs, **options)
    if rows is None:
        how = f"to go on with {store.folder}, run the same command again"
        print(f"hstar: interrupted; {how}", file=sys.stderr)
    elif arguments.json:
        for row in rows:
            print(json.dumps(row))
    return rows


def run_jobs(
    store: Store,
    jobs: Sequence[Job],
    *,
    slots: int | None = None,
    cluster: str | None = None,
    retry: bool = False,
    quiet: bool = False,
) -> list[Record] | None:
    """Runs what is missing and shows how it goes; a row for each job, None if interrupted."""
    from hstar.experiments.driver import run

    with _executor(store, slots, cluster) as executor, _shown(jobs, quiet) as progress:
        try:
            return run(store, jobs, executor, progress=progress, retry_failed=retry)
        except KeyboardInterrupt:
            return None


def _executor(store: Store, slots: int | None, cluster: str | None) -> AbstractContextManager[Executor]:
    """Where the jobs run."""
    if cluster is not None:
        from hstar.experiments.cluster import open_cluster

        return open_cluster(cluster, slots)
    from hstar.experiments.driver import LocalExecutor

    folders = {name: store.folder / name for name in ("scratch", "checkpoints")}
    return closing(LocalExecutor(slots, **folders))


@contextmanager
def _shown(jobs: Sequence[Job], quiet: bool) -> Iterator[Callable[[Standing], None]]:
    """What goes on: drawn on a terminal, a line a minute elsewhere."""
    if not quiet and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from hstar.cli.live import LiveView

        with LiveView(jobs) as view:
            yield view
    else:
        with ProgressLine(quiet) as line:
            yield _in_lines(line)


def _in_lines(line: ProgressLine) -> Callable[[Standing], None]:
    """Shows jobs done, running and failed, coverage so far, and the time left at this pace."""
    from hstar.experiments.job import SEARCHES

    before: int | None = None  # finished before this run
    searches: list[Attempt] = []

    def show(standing: Standing) -> None:
        nonlocal before
        before = standing.finished if before is None else before
        if standing.latest is not None and standing.latest.kind in SEARCHES:
            searches.append(standing.latest)
        done = standing.finished - before
        left = standing.total - standing.finished - standing.blocked
        text = f"{standing.finished}/{standing.total} done, {standing.running} running"
        text += f", {standing.failed} failed" if standing.failed else ""
        if searches:
            solved = sum(attempt.status == "solved" for attempt in searches)
            text += f", coverage {100 * solved / len(searches):.0f} %"
        text += f", {format_time(left * standing.seconds / done)} left" if done else ""
        line.update(standing.seconds, text)

    return show
