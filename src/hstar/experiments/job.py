"""A job: one process to run, described so that any machine can run it and anybody can repeat it.

A job knows its command, the files it needs by their content, the files it leaves, and its limits. `execute`
is a function of the job and these contents alone: it makes a folder of its own, runs the command there under
hard limits, and hands back a record, the files and the log. Nothing is shared with the caller, so a job runs
the same in a thread here and on a worker elsewhere. A checkpoint, where there is a place for it, saves time
and changes nothing else: a training that goes on from it ends with the same model.

Invariant: `key` depends on everything that decides the outcome and on nothing else; labels are for tables.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hstar import __version__
from hstar.errors import InputError
from hstar.experiments import fast_downward
from hstar.experiments.fast_downward import GRACE_S
from hstar.experiments.fork_server import ForkServers
from hstar.experiments.machine import machine
from hstar.experiments.process import KILLED, Finished, ProcessLimits, Starter, run_limited, start_process
from hstar.files import MODEL
from hstar.units import parse_memory

RESIDENT_LIMIT = 8 << 30  # bytes, of a job that says nothing
# Bytes above a limit that a program watches itself: it looks now and then, and frees its states and writes
# its record after that. So it speaks first, unless it fails to.
HEADROOM = 512 << 20
LOG_CHARACTERS = 200_000  # of a log are kept: its beginning and its end

HSTAR = ("{python}", "-m", "hstar")
OWN_LIMIT = "--memory-limit"  # by which a command is told to watch its memory
TIME_LIMIT, CPU_LIMIT = "--time-limit", "--cpu-time-limit"  # and its time, by the clock or of the processor
CHECKPOINT = "--checkpoint"  # and where to keep how far it is
STEPS = "steps.json"  # a search on a map step by step, for the animation of a report

Record = dict[str, Any]
"""Plain data about a run, columns named as Downward Lab names them."""


@dataclass(frozen=True)
class Made:
    """A file that another job leaves."""

    key: str
    name: str


@dataclass(frozen=True)
class Job:
    """What to run. In the command, `{name}` stands for the path of an input or output file of that name,
    `{python}` for the interpreter and `{fast-downward}` for the driver of Fast Downward, where it runs.
    """

    kind: str  # how the output is read: search, label, train, sample, accuracy, fast_downward or make
    command: tuple[str, ...]
    # By name: the digest of the content, or who makes it.
    inputs: Mapping[str, str | Made] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    time_limit: float = 3600.0
    cpu: bool = False  # whether it is processor time of all processes together
    memory_limit: int | None = None  # of address space, for programs that have no limit of their own
    resident_limit: int = RESIDENT_LIMIT  # of all processes together; see `hard_limit`
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})
    labels: Mapping[str, Any] = field(default_factory=dict)
    resumable: bool = False  # whether the command takes a checkpoint

    @cached_property
    def key(self) -> str:
        decides = {k: value for k, value in asdict(self).items() if k not in ("labels", "resumable")}
        for name, usual in (("resident_limit", RESIDENT_LIMIT), ("cpu", False)):
            if decides[name] == usual:
                del decides[name]  # it is younger than many a run: their keys stay
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def hard_limit(self) -> int:
        """Bytes of resident memory at which the job is killed: above a limit of its own, if it has one."""
        own = self.memory_limit
        if own is None and OWN_LIMIT in self.command[:-1]:
            own = parse_memory(self.command[self.command.index(OWN_LIMIT) + 1])
        return self.resident_limit if own is None else own + HEADROOM

    def needs(self) -> set[str]:
        return {source.key for source in self.inputs.values() if isinstance(source, Made)}


@dataclass(frozen=True)
class Outcome:
    """What came of a job. `record["status"]` says how it ended."""

    record: Record
    outputs: Mapping[str, bytes]
    log: str
    machine: Mapping[str, str]  # where: see `machine`
    started: float  # seconds since the epoch
    seconds: float


def execute(
    job: Job,
    contents: Mapping[str, bytes],
    scratch: Path | None = None,
    watch: Callable[[], None] = lambda: None,
    checkpoints: Path | None = None,
    servers: ForkServers | None = None,
) -> Outcome:
    """Runs a job, given the contents of its input files by name, in a folder below `scratch`.

    `watch` is called now and then while the command runs; what it raises ends the command. A resumable job
    keeps its checkpoint in a folder of its own below `checkpoints`, until it has ended unless by a signal.
    With `servers` commands of hstar that are soon over need not import it each. A command that somebody else
    kills is run once more. A full disk is no outcome but an `InputError`.
    """
    started, clock = time.time(), time.monotonic()
    with _writing(scratch):
        # What cannot be removed is removed with the whole scratch folder, next time.
        folder = tempfile.TemporaryDirectory(prefix="hstar-job-", dir=scratch, ignore_cleanup_errors=True)
    kept = _Kept(job, checkpoints)
    with folder as home:
        paths = {name: Path(home, name) for name in (*job.inputs, *job.outputs)}
        with _writing(scratch):
            for name, content in contents.items():
                paths[name].write_bytes(content)
        words = {name: str(path) for name, path in paths.items()} | _programs(job)
        command = [*(_fill(word, words) for word in job.command), *kept.words]

        def finish() -> Finished:
            return run_limited(
                command,
                ProcessLimits(job.time_limit + GRACE_S, job.cpu, job.hard_limit, job.memory_limit),
                environment={"OMP_NUM_THREADS": "1"},  # jobs run side by side
                watch=watch,
                start=_starter(job, contents, servers),
            )

        finished = finish()
        if kept.resumed and finished.exit_code == InputError.exit_code:
            kept.begin_anew()  # damaged by a power cut, or of another torch
            finished = finish()
        if _killed(finished):
            watch()  # perhaps nobody wants it any more
            for name in job.outputs:
                paths[name].unlink(missing_ok=True)
            kept.look()
            finished = finish()
        _check_disk(finished, scratch)
        record = _read(job.kind, finished)
        outputs = {name: paths[name].read_bytes() for name in job.outputs if paths[name].is_file()}
    if record["status"] in DONE and (missing := [name for name in job.outputs if name not in outputs]):
        record = {"status": "error", "error": f"left no {missing[0]}", "exit_code": finished.exit_code}
    if not any(record.get(name) for name in ("memory", "peak_memory")):  # it did not tell
        record["peak_memory"] = finished.peak_memory
    record["cpu_seconds"] = round(finished.cpu_seconds, 3)
    if job.cpu:
        record["cpu_limit"] = job.time_limit
    if kept.resumed:
        record["resumed"] = True  # times are those of the last part
    if not _killed(finished):
        kept.remove()
    log = _shortened("\n".join((" ".join(command), finished.errors, finished.output)))
    return Outcome(record, outputs, log, machine(), started, time.monotonic() - clock)


def _starter(job: Job, contents: Mapping[str, bytes], servers: ForkServers | None) -> Starter:
    """Trainings take their time: they start alone."""
    if servers is None or job.kind == "train" or job.command[: len(HSTAR)] != HSTAR:
        return start_process
    # What a command imports depends on the model that it reads.
    models = (hashlib.sha256(content).digest() for name, content in contents.items() if name.endswith(MODEL))
    return functools.partial(servers.start, (job.command[len(HSTAR)], *models))


class _Kept:
    """The checkpoint of a job that may have one: a folder, since some trainings have several files."""

    def __init__(self, job: Job, checkpoints: Path | None) -> None:
        self._folder: Path | None = None
        self.words: tuple[str, ...] = ()
        self.resumed = False
        if checkpoints is not None and job.resumable and CHECKPOINT not in job.command:
            self._folder = checkpoints / job.key
            self.words = (CHECKPOINT, str(self._folder / "training"))
        self.look()

    def look(self) -> None:
        """Makes the folder, or sees what a command that was killed has left there."""
        if self._folder is not None:
            with _writing(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                self.resumed = any(not path.name.startswith(".") for path in self._folder.iterdir())

    def begin_anew(self) -> None:
        self.remove()
        self.look()

    def remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def _writing(scratch: Path | None) -> Iterator[None]:
    """A folder that cannot be written is no outcome of a job."""
    try:
        yield
    except OSError as error:
        place = scratch or Path(tempfile.gettempdir())
        raise InputError(f"cannot write the files of a job: {error.strerror}", file=place) from None


# What a command says last when it could not write. The state of a disk is no result: the job runs again.
_DISK = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EROFS, errno.EDQUOT))


def _check_disk(finished: Finished, scratch: Path | None) -> None:
    last = finished.last_line()
    if finished.exit_code > 0 and any(said in last for said in _DISK):
        place = scratch or Path(tempfile.gettempdir())
        raise InputError(f"a job could not write its files: {last}", file=place)


def _killed(finished: Finished) -> bool:
    """Whether somebody else has killed it: a user, or the system for want of memory."""
    return finished.exit_code == KILLED and not finished.timed_out and not finished.out_of_memory


SEARCHES = frozenset({"search", "fast_downward"})
"""Kinds of jobs that look for a plan."""

DONE = frozenset({"solved", "trained", "sampled", "labelled", "compared", "made"})
"""Statuses of jobs that did what they were for."""


FAIR_SHARE = 0.8  # of a core, that a run needs to be judged by a clock


def starved(record: Mapping[str, Any], seconds: float) -> bool:
    """Whether a run reached its time limit on much less than a core: the machine was busy with other work."""
    if record.get("cpu_limit") is not None:
        return False
    clock = record.get("search_time") or seconds
    used = record.get("cpu_time") or record.get("cpu_seconds") or clock
    return record["status"] == "time_limit" and used < FAIR_SHARE * clock


# How the output of a command is read.


_NOT_KEPT = ("plan", "path", "actions", "run", "id", "start", "heuristic")  # of a search: long, or places
_STATUSES = {"train": "trained", "sample": "sampled", "accuracy": "compared"}  # others tell it


def _read(kind: str, finished: Finished) -> Record:
    """What a command says: the JSON that it prints, if it did what it was for."""
    if kind == "fast_downward":
        record = fast_downward.parse_log(finished.output, finished)
        ended_itself = not finished.timed_out and not finished.out_of_memory
        return record if ended_itself and record["status"] != "error" else {**record, **_failure(finished)}
    if kind == "make":  # it is run for the files that it leaves
        return {"status": "made"} if finished.exit_code == 0 else _failure(finished)
    try:
        record = json.loads(finished.output)
    except ValueError:
        return _failure(finished)
    if kind == "search":  # of many problems it prints means over them
        return {name: value for name, value in record.items() if name not in _NOT_KEPT}
    return {**record, "status": _STATUSES.get(kind) or record["status"]}


# What a planner ends with if it reaches a limit before it can print a record: translating, then searching.
_LIMIT_CODES = {20: "memory_limit", 21: "time_limit", 22: "memory_limit", 23: "time_limit"}


def _failure(finished: Finished) -> Record:
    status = "memory_limit" if finished.out_of_memory else "time_limit" if finished.timed_out else None
    status = status or _LIMIT_CODES.get(finished.exit_code, "error")
    said = finished.last_line()
    if status == "error" and finished.exit_code < 0:
        killed = f"killed by signal {-finished.exit_code}"
        said = f"{killed}; last line: {said}" if finished.errors.strip() else killed
    return {"status": status, "exit_code": finished.exit_code, "error": said}


def _programs(job: Job) -> dict[str, str]:
    """Where the programs that the job names are on this machine."""
    found = {"python": sys.executable}
    if "{fast-downward}" in job.command:
        peer = fast_downward.FastDownward.find()
        found["fast-downward"] = str(peer.driver) if peer else "fast-downward.py"
    return found


def _fill(word: str, words: Mapping[str, str]) -> str:
    """`{name}`, alone or after other characters; anything else in braces stays."""
    for name, value in words.items():
        word = word.replace("{" + name + "}", value)
    return word


def _shortened(log: str) -> str:
    if len(log) <= LOG_CHARACTERS:
        return log
    half = LOG_CHARACTERS // 2
    return f"{log[:half]}\n... {len(log) - 2 * half} characters left out ...\n{log[-half:]}"
