"""A command in a process of its own, under hard limits.

Whatever the command does (crash, hang, eat memory, start children), the caller gets an answer: its output and
how it ended. The whole process group is killed at the limit and when the caller is interrupted; where the
system can do it (`setpriv` of util-linux), the command also ends when the caller is killed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KILLED = -signal.SIGKILL

_running: set[subprocess.Popen[str]] = set()  # for `kill_all`, from whatever thread


@dataclass(frozen=True)
class Finished:
    """How a command ended. `exit_code` is negative for a signal; `timed_out`: it was killed at the limit."""

    exit_code: int
    output: str
    errors: str
    timed_out: bool = False

    def last_line(self) -> str:
        """What it said last on standard error, or on standard output."""
        said = (self.errors.strip() or self.output.strip()).splitlines()
        return said[-1] if said else "no message"


def run_limited(
    command: Sequence[str],
    *,
    time_limit: float,
    address_space: int | None = None,
    stdin: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Runs a command for at most `time_limit` seconds of wall clock and in `address_space` bytes."""
    with Path(os.devnull if stdin is None else stdin).open("rb") as source:
        process = subprocess.Popen(
            [*_with_parent(), *command],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
        )
    _running.add(process)
    if address_space is not None:
        with contextlib.suppress(ProcessLookupError):  # it is over already
            resource.prlimit(process.pid, resource.RLIMIT_AS, (address_space, address_space))
    try:
        output, errors = process.communicate(timeout=time_limit)
    except subprocess.TimeoutExpired:
        _kill(process)
        output, errors = process.communicate()
        return Finished(KILLED, output, errors, timed_out=True)
    except BaseException:
        _kill(process)
        process.wait()
        raise
    finally:
        _running.discard(process)
    return Finished(process.returncode, output, errors)


@functools.cache
def _with_parent() -> tuple[str, ...]:
    """What starts a command so that it does not outlive us."""
    setpriv = shutil.which("setpriv")
    able = setpriv and subprocess.run([setpriv, "--pdeathsig", "KILL", "true"], capture_output=True)
    return (str(setpriv), "--pdeathsig", "KILL", "--") if able and able.returncode == 0 else ()


def kill_all() -> None:
    """Ends all commands that are running, in every thread; for the thread that gets Ctrl-C."""
    for process in list(_running):
        _kill(process)


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
