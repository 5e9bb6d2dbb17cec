"""A job: one process to run, described so that any machine can run it and anybody can repeat it.

A job knows its command, the files it needs by their content, the files it leaves, and its limits. `execute`
is a function of the job and these contents alone: it makes a folder of its own, runs the command there under
hard limits, and hands back a record, the files and the log. Nothing is shared with the caller, so a job runs
the same in a thread here and on a worker elsewhere.

Invariant: `key` depends on everything that decides the outcome and on nothing else; labels are for tables.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hstar import __version__
from hstar.experiments import fast_downward
from hstar.experiments.fast_downward import GRACE_S
from hstar.experiments.machine import machine
from hstar.experiments.process import Finished, run_limited

LOG_CHARACTERS = 200_000  # of a log are kept: its beginning and its end

HSTAR = ("{python}", "-m", "hstar")

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

    kind: str  # how the output is read: a name of READERS
    command: tuple[str, ...]
    inputs: Mapping[str, str | Made] = field(
        default_factory=dict
    )  # name: digest of the content, or who makes it
    outputs: tuple[str, ...] = ()
    time_limit: float = 3600.0
    memory_limit: int | None = None  # of address space, for programs that have no limit of their own
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})
    labels: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """The identity of the run."""
        decides = {name: value for name, value in asdict(self).items() if name != "labels"}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:32]

    def needs(self) -> set[str]:
        """Keys of the jobs that have to be done before."""
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


def execute(job: Job, contents: Mapping[str, bytes], scratch: Path | None = None) -> Outcome:
    """Runs a job, given the contents of its input files by name, in a folder below `scratch`."""
    started, clock = time.time(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hstar-job-", dir=scratch) as home:
        paths = {name: Path(home, name) for name in (*job.inputs, *job.outputs)}
        for name, content in contents.items():
            paths[name].write_bytes(content)
        words = {name: str(path) for name, path in paths.items()} | _programs(job)
        command = [_fill(word, words) for word in job.command]
        finished = run_limited(
            command,
            time_limit=job.time_limit + GRACE_S,
            address_space=job.memory_limit,
            environment={"OMP_NUM_THREADS": "1"},  # jobs run side by side
        )
        record = READERS[job.kind](finished)
        outputs = {name: paths[name].read_bytes() for name in job.outputs if paths[name].is_file()}
    if record["status"] in DONE and (missing := [name for name in job.outputs if name not in outputs]):
        record = {"status": "error", "error": f"left no {missing[0]}", "exit_code": finished.exit_code}
    log = _shortened("\n".join((" ".join(command), finished.errors, finished.output)))
    return Outcome(record, outputs, log, machine(), started, time.monotonic() - clock)


DONE = frozenset({"solved", "trained", "made"})
"""Statuses of jobs that did what they were for."""


# How the output of a command is read.


def _read_json(finished: Finished) -> Record:
    """`hstar solve --json`."""
    try:
        record: Record = json.loads(finished.output)
    except ValueError:
        return _failure(finished)
    record.pop("plan", None)
    return record


def _read_training(finished: Finished) -> Record:
    """`hstar train --json`."""
    try:
        return {**json.loads(finished.output), "status": "trained"}
    except ValueError:
        return _failure(finished)


def _read_nothing(finished: Finished) -> Record:
    """A command that is run for the files it leaves."""
    return {"status": "made"} if finished.exit_code == 0 else _failure(finished)


def _read_fast_downward(finished: Finished) -> Record:
    record = fast_downward.parse_log(finished.output, finished)
    return record if record["status"] != "error" else {**record, **_failure(finished)}


READERS: dict[str, Callable[[Finished], Record]] = {
    "search": _read_json,
    "train": _read_training,
    "fast_downward": _read_fast_downward,
    "make": _read_nothing,
}


def _failure(finished: Finished) -> Record:
    status = "time_limit" if finished.timed_out else "error"
    return {"status": status, "exit_code": finished.exit_code, "error": finished.last_line()}


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
