"""Runs jobs in the order of their needs, some at a time, and stores each as it ends.

A job starts when all files it needs are there. One that failed is stored like any other, and what needs it is
not run. Jobs that the store knows as finished are not run again. Whoever executes jobs gets a job and the
contents of its input files and answers with an `Outcome`: threads here, a cluster elsewhere.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hstar.experiments.job import DONE, Job, Made, Outcome, Record, execute
from hstar.experiments.process import kill_all
from hstar.experiments.store import Attempt, Store

Contents = Mapping[str, bytes]


class Executor(Protocol):
    """Where jobs run."""

    slots: int  # jobs at a time

    def submit(self, job: Job, contents: Contents) -> Future[Outcome]:
        """Starts a job."""

    def stop(self, pending: Iterable[Future[Outcome]]) -> None:
        """Ends what is running; its outcomes are void."""


@dataclass(frozen=True)
class Standing:
    """How far a run is; handed to `progress` after each job."""

    total: int
    finished: int
    failed: int  # of the finished
    blocked: int  # need a failed job, or one that is blocked itself
    running: int
    seconds: float
    latest: Attempt | None


class LocalExecutor:
    """Threads that each wait for a process."""

    def __init__(self, slots: int | None = None, scratch: Path | None = None) -> None:
        self.slots = slots or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.slots)
        self._scratch = scratch
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed
            scratch.mkdir(parents=True)

    def submit(self, job: Job, contents: Contents) -> Future[Outcome]:
        """Starts a job."""
        return self._pool.submit(execute, job, contents, self._scratch)

    def stop(self, pending: Iterable[Future[Outcome]]) -> None:
        """Ends what is running; its outcomes are void."""
        futures = list(pending)
        self._pool.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in futures):
            kill_all()
            time.sleep(0.05)


def run(
    store: Store,
    jobs: Iterable[Job],
    executor: Executor,
    *,
    progress: Callable[[Standing], None] = lambda standing: None,
    retry_failed: bool = False,
) -> list[Record]:
    """Runs what the store does not have; gives a row for each job that has been run, in their order.

    Jobs that differ in their labels alone are run once.
    """
    wanted = list(jobs)
    ordered = {job.key: job for job in wanted}
    store.add(wanted)
    done = {key: attempt for key, attempt in store.latest().items() if key in ordered}
    if retry_failed:
        done = {key: attempt for key, attempt in done.items() if attempt.status != "error"}
    waiting = {key: job for key, job in ordered.items() if key not in done}
    running: dict[Future[Outcome], Job] = {}
    blocked: set[str] = set()
    started = time.monotonic()

    def standing(latest: Attempt | None) -> Standing:
        failed = sum(attempt.status == "error" for attempt in done.values())
        seconds = time.monotonic() - started
        return Standing(len(ordered), len(done), failed, len(blocked), len(running), seconds, latest)

    try:
        progress(standing(None))
        while waiting or running:
            # 1. Start what can be started; set aside what never can.
            for job in list(waiting.values()):
                if len(running) == executor.slots:
                    break
                needs = job.needs()
                if any(_never(key, ordered, done, blocked) for key in needs):
                    blocked.add(waiting.pop(job.key).key)
                elif needs <= done.keys():
                    running[executor.submit(job, _contents(job, done, store))] = waiting.pop(job.key)
            # 2. Wait for one to end, and keep it.
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                job = running.pop(future)
                done[job.key] = store.record(job, future.result())
                progress(standing(done[job.key]))
    except BaseException:
        executor.stop(running)
        raise
    return [done[job.key].row(job.labels) for job in wanted if job.key in done]


def _never(key: str, known: Mapping[str, Job], done: Mapping[str, Attempt], blocked: set[str]) -> bool:
    """Whether the files of this job will not come."""
    if key in done:
        return done[key].status not in DONE
    return key in blocked or key not in known


def _contents(job: Job, done: Mapping[str, Attempt], store: Store) -> dict[str, bytes]:
    digests = {
        name: done[source.key].outputs[source.name] if isinstance(source, Made) else source
        for name, source in job.inputs.items()
    }
    return {name: store.get(digest) for name, digest in digests.items()}
