"""Runs jobs in the order of their needs, some at a time, and stores each as it ends.

A job starts when all files it needs are there. One that failed is stored like any other, and what needs it is
not run. Jobs that the store knows as finished are not run again. Whoever executes jobs gets a job and the
contents of its input files and answers with an `Outcome`: threads here, a cluster elsewhere.
"""

from __future__ import annotations

import functools
import heapq
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hstar.experiments.fork_server import ForkServers
from hstar.experiments.job import DONE, Job, Made, Outcome, Record, execute, starved
from hstar.experiments.process import kill_all
from hstar.experiments.store import Attempt, Store
from hstar.limits import cores

logger = logging.getLogger(__name__)

Contents = Mapping[str, bytes]

LOOK_S = 1.0  # between two looks at how many slots there are, while nothing ends


class Executor(Protocol):
    """Runs jobs as processes, here or on other machines."""

    @property
    def slots(self) -> int:
        """Jobs at a time; may change, and be 0 for a while."""

    def submit(self, job: Job, contents: Contents) -> Future[Outcome]:
        """Starts a job and returns at once."""

    def stop(self, pending: Iterable[Future[Outcome]]) -> None:
        """Ends what is running; its outcomes are void."""


@dataclass(frozen=True)
class Running:
    """A job that has been started and not ended."""

    job: Job
    started: float  # by the clock of `time.monotonic`


@dataclass(frozen=True)
class Standing:
    """How far a run is; handed to `progress` at first, when jobs have been started, and after each job."""

    total: int
    finished: int
    failed: int  # of the finished
    blocked: int  # need a failed job, or one that is blocked itself
    running: int
    seconds: float
    latest: Attempt | None  # what has just ended
    active: tuple[Running, ...]  # the running ones, first started first
    done: Mapping[str, Attempt]  # the finished ones by key, as they are now; not to be changed


class LocalExecutor:
    """Threads that each wait for a process. Trainings that are killed with us go on from `checkpoints`."""

    def __init__(
        self, slots: int | None = None, scratch: Path | None = None, checkpoints: Path | None = None
    ) -> None:
        self.slots = slots or cores()
        self._pool = ThreadPoolExecutor(self.slots)
        self._stopping, self._servers = threading.Event(), ForkServers()
        self._execute = functools.partial(
            execute, scratch=scratch, watch=self._watch, checkpoints=checkpoints, servers=self._servers
        )
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed
            scratch.mkdir(parents=True, exist_ok=True)

    def submit(self, job: Job, contents: Contents) -> Future[Outcome]:
        return self._pool.submit(self._execute, job, contents)

    def close(self) -> None:
        """Ends what lets jobs start quickly: processes with hundreds of megabytes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._servers.close()

    def _watch(self) -> None:
        if self._stopping.is_set():  # or what is killed would be tried once more
            raise CancelledError

    def stop(self, pending: Iterable[Future[Outcome]]) -> None:
        futures = list(pending)
        self._stopping.set()
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
    deadline: float | None = None,
) -> list[Record]:
    """Runs what the store does not have; gives a row for each job that has been run, in their order.

    Jobs that differ in their labels alone are run once. `retry_failed`: what ended in an error, or at a time
    limit on a busy machine, is run again. At the `deadline` by the clock of `time.monotonic` what is running
    is stopped, and has no row.
    """
    wanted = list(jobs)
    ordered = {job.key: job for job in wanted}
    if hidden := store.add(wanted):
        why = "since other jobs have their names now"
        logger.warning("%s: %d results are no longer in tables, %s", store.folder, hidden, why)
    done = {key: attempt for key, attempt in store.latest().items() if key in ordered}
    for key, attempt in list(done.items()) if retry_failed else ():
        if attempt.status == "error" or starved(attempt.record, attempt.seconds):
            del done[key]
    waiting = _Waiting(ordered, done)
    running: dict[Future[Outcome], Running] = {}
    failed = sum(attempt.status == "error" for attempt in done.values())
    started = time.monotonic()

    def standing(latest: Attempt | None) -> Standing:
        counts = (len(ordered), len(done), failed, len(waiting.blocked), len(running))
        return Standing(*counts, time.monotonic() - started, latest, tuple(running.values()), done)

    try:
        progress(standing(None))
        while waiting.ready or running:
            # 1. Start what can be started.
            slots, before = executor.slots, len(running)
            while waiting.ready and len(running) < slots:
                job = waiting.pop()
                future = executor.submit(job, _contents(job, done, store))
                running[future] = Running(job, time.monotonic())
            if len(running) > before:
                progress(standing(None))
            # 2. Wait for one to end, and keep it.
            if not running and not slots:
                time.sleep(LOOK_S)  # `wait` does not wait for nothing
            left = LOOK_S if deadline is None else min(LOOK_S, max(0.0, deadline - time.monotonic()))
            ended, _ = wait(running, timeout=left, return_when=FIRST_COMPLETED)
            for future in ended:
                job = running.pop(future).job
                attempt = done[job.key] = store.record(job, future.result())
                failed += attempt.status == "error"
                waiting.settle(job.key, attempt.status in DONE)
                progress(standing(attempt))
            if deadline is not None and time.monotonic() >= deadline:
                executor.stop(running)
                break
    except BaseException:
        executor.stop(running)
        raise
    return [done[job.key].row(job.labels) for job in wanted if job.key in done]


class _Waiting:
    """Jobs that have not been started: those that can be, in their order, and those that never can."""

    def __init__(self, jobs: Mapping[str, Job], done: Mapping[str, Attempt]) -> None:
        self.blocked: set[str] = set()
        self.ready: list[tuple[int, str]] = []  # a heap
        self._jobs = {key: job for key, job in jobs.items() if key not in done}
        self._place = {key: place for place, key in enumerate(self._jobs)}
        self._missing = {key: job.needs() for key, job in self._jobs.items()}
        self._users: dict[str, list[str]] = {}
        for key, needs in self._missing.items():
            for need in needs:
                self._users.setdefault(need, []).append(key)
            if not needs:
                heapq.heappush(self.ready, (self._place[key], key))
        for need in self._users:
            if need not in self._jobs:
                self.settle(need, need in done and done[need].status in DONE)

    def pop(self) -> Job:
        return self._jobs[heapq.heappop(self.ready)[1]]

    def settle(self, key: str, made: bool) -> None:
        """The files of a job are there, or will not come: then those of its users will not, either."""
        lost = [] if made else [key]
        for user in self._users.get(key, ()) if made else ():
            self._missing[user].discard(key)
            if not self._missing[user] and user not in self.blocked:
                heapq.heappush(self.ready, (self._place[user], user))
        while lost:
            users = [user for user in self._users.get(lost.pop(), ()) if user not in self.blocked]
            self.blocked.update(users)
            lost += users


def _contents(job: Job, done: Mapping[str, Attempt], store: Store) -> Contents:
    contents = {}
    for name, source in job.inputs.items():
        digest = done[source.key].outputs[source.name] if isinstance(source, Made) else source
        contents[name] = store.get(digest)
    return contents
