"""A command in a process of its own, under hard limits.

Whatever the command does (crash, hang, eat memory, print without end, start children), the caller gets an
answer: its output, how it ended and what it used. All its processes are killed at a limit, when it has ended
itself, and when the caller is interrupted. When the caller is killed, a guardian ends them; where the system
can do it (`setpriv` of util-linux), the kernel does so too, for the command without its children.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Protocol

from hstar.experiments.process_tree import ProcessTree

KILLED = -signal.SIGKILL
NOT_STARTED = 127  # as shells have it
LOOK_EVERY_S = 0.1  # at the memory; memory grows by some 100 MiB in this time at most
FIRST_LOOK_S = 0.01  # then doubled up to the above, so that short commands are seen, too
WALL_PER_CPU, WALL_S = 10, 600.0  # see `ProcessLimits`
OUTPUT_BYTES = 64 << 20  # of each stream are kept: the first and the last half of it

Ending = Literal["itself", "time", "memory"]


@dataclass(frozen=True)
class Finished:
    """How a command ended. `exit_code` is negative for a signal; `timed_out` and `out_of_memory`: it was
    killed at the limit. Memory and processor time are those of all its processes together.
    """

    exit_code: int
    output: str
    errors: str
    timed_out: bool = False
    out_of_memory: bool = False
    peak_memory: int = 0  # bytes that were resident
    cpu_seconds: float = 0.0

    def last_line(self) -> str:
        """What it said last on standard error, or on standard output."""
        said = (self.errors.strip() or self.output.strip()).splitlines()
        return said[-1] if said else "no message"


@dataclass(frozen=True)
class ProcessLimits:
    """Hard limits of a command and all that it starts. At a limit of time or resident memory it is killed.

    With `cpu` the time is processor time, so that a busy machine changes nothing; a command that waits
    without end is killed after `WALL_PER_CPU` times as much wall clock, and `WALL_S` more.
    """

    time: float  # seconds
    cpu: bool = False
    resident_memory: int | None = None  # bytes of all processes together
    address_space: int | None = None  # bytes of each: beyond, the system gives none, and a program can say so

    @property
    def wall(self) -> float:
        return WALL_PER_CPU * self.time + WALL_S if self.cpu else self.time


@dataclass(frozen=True)
class Used:
    """How a process ended and what it took, as far as the system tells."""

    exit_code: int  # negative for a signal
    peak_memory: int  # bytes
    cpu_seconds: float


class Child(Protocol):
    """A command that has been started: the leader of a session, with its output and errors."""

    pid: int
    output: IO[bytes]
    errors: IO[bytes]

    def ended(self) -> bool:
        """Whether it has; its number stays its own."""

    def wait(self) -> Used:
        """Waits for its end. From here on the number may become another process's."""


Starter = Callable[[Sequence[str], IO[bytes], Mapping[str, str] | None], Child]
"""Starts a command with a standard input and changes to the environment; an `OSError` if that fails."""


class _Started:
    """A process of our own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        self.pid, self.output, self.errors = process.pid, process.stdout, process.stderr
        self._process = process

    def ended(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(self) -> Used:
        _, status, usage = os.wait4(self.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return Used(self._process.returncode, _peak_memory(usage), cpu_seconds)


def start_process(
    command: Sequence[str], stdin: IO[bytes], environment: Mapping[str, str] | None = None
) -> Child:
    return _Started(
        subprocess.Popen(
            [*_with_parent(), *command],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
        )
    )


def run_limited(
    command: Sequence[str],
    limits: ProcessLimits,
    *,
    stdin: Path | None = None,
    environment: Mapping[str, str] | None = None,
    watch: Callable[[], None] = lambda: None,
    start: Starter = start_process,
) -> Finished:
    """Runs a command. `watch` is called now and then meanwhile; what it raises ends the command."""
    with Path(os.devnull if stdin is None else stdin).open("rb") as source:
        try:
            child = start(command, source, environment)
        except OSError as error:
            return Finished(NOT_STARTED, "", f"cannot start {command[0]}: {error.strerror}")
    tree = ProcessTree(child.pid)
    streams = (_Stream(child.output), _Stream(child.errors))
    try:
        _running.add(child.pid, tree)
        if limits.address_space is not None:
            with contextlib.suppress(ProcessLookupError):  # it is over already
                resource.prlimit(child.pid, resource.RLIMIT_AS, (limits.address_space,) * 2)
        ending = _wait(child, streams, tree, limits, watch)
    finally:
        tree.kill()  # all of it, or what it has left behind
        _running.discard(child.pid)
        used = child.wait()
        output, errors = (stream.close() for stream in streams)
    return Finished(
        used.exit_code if ending == "itself" else KILLED,
        output,
        errors,
        timed_out=ending == "time",
        out_of_memory=ending == "memory",
        peak_memory=max(tree.peak, used.peak_memory),
        cpu_seconds=max(tree.cpu_seconds, used.cpu_seconds),
    )


def kill_all() -> None:
    """Ends all commands that are running, in every thread; for the thread that gets Ctrl-C."""
    _running.kill()


def _wait(
    child: Child,
    streams: Sequence[_Stream],
    tree: ProcessTree,
    limits: ProcessLimits,
    watch: Callable[[], None],
) -> Ending:
    """Reads what the command says until it ends or is at a limit. It stays to be waited for."""
    now = time.monotonic()
    deadline, look, pause = now + limits.wall, now + FIRST_LOOK_S, FIRST_LOOK_S
    closed_pause = 0.0005
    with selectors.PollSelector() as selector:
        for stream in streams:
            selector.register(stream.file, selectors.EVENT_READ, stream)
        while not child.ended():
            now = time.monotonic()
            if now >= deadline:
                return "time"
            if now >= look:
                watch()
                if tree.exceeds(limits.resident_memory):
                    return "memory"
                if limits.cpu and tree.cpu_seconds >= limits.time:
                    return "time"
                pause = min(2 * pause, LOOK_EVERY_S)
                look = now + pause
            wake = min(deadline, look) - now
            if selector.get_map():
                for key, _ in selector.select(wake):
                    if not key.data.read():
                        selector.unregister(key.fileobj)
            else:  # mostly it is about to end
                time.sleep(min(wake, closed_pause))
                closed_pause *= 2
    return "itself"


class _Stream:
    """What comes through a pipe: its beginning and its end, if it is too much."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._first, self._last = bytearray(), bytearray()
        self._left_out = 0
        os.set_blocking(file.fileno(), False)

    def read(self) -> bool:
        """Takes some of what is there; False if there is nothing and nothing will come."""
        chunk = os.read(self.file.fileno(), 65536)
        half = OUTPUT_BYTES // 2
        if len(self._first) < half:
            self._first += chunk
        else:
            self._last += chunk
            if len(self._last) > 2 * half:
                self._left_out += len(self._last) - half
                del self._last[:-half]
        return bool(chunk)

    def close(self) -> str:
        """All of it. The command is dead, but what it said last may still be in the pipe."""
        with contextlib.suppress(BlockingIOError):
            while self.read():
                pass
        self.file.close()
        cut = f"\n... {self._left_out} bytes left out ...\n".encode() if self._left_out else b""
        text = (self._first + cut + self._last).decode(errors="replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")


def _peak_memory(usage: resource.struct_rusage) -> int:
    """Bytes of the largest process, where the system tells. A process inherits the figure of the one that
    started it, which is us: not beyond our own it says nothing.
    """
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(usage.ru_maxrss) * 1024 if usage.ru_maxrss > own else 0


@functools.cache
def _with_parent() -> tuple[str, ...]:
    """What starts a command so that it does not outlive us."""
    setpriv = shutil.which("setpriv")
    able = setpriv and subprocess.run([setpriv, "--pdeathsig", "KILL", "true"], capture_output=True)
    return (str(setpriv), "--pdeathsig", "KILL", "--") if able and able.returncode == 0 else ()


# A process that outlives us: at the end of its input, which comes however we end, it kills what we left.
_GUARDIAN = """
import os, sys
running = set()
for line in sys.stdin:
    pid = int(line)
    running.add(pid) if pid > 0 else running.discard(-pid)
for name in os.listdir("/proc") if running else ():
    try:
        if os.getsid(int(name)) in running:
            os.kill(int(name), 9)
    except (ValueError, OSError):
        pass
"""


class _Running:
    """The commands that are running, from whatever thread, and the guardian that knows them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: dict[int, ProcessTree] = {}
        self._guardian: subprocess.Popen[bytes] | None = None

    def add(self, pid: int, tree: ProcessTree) -> None:
        with self._lock:
            self._trees[pid] = tree
            self._tell(pid)

    def discard(self, pid: int) -> None:
        with self._lock:
            self._trees.pop(pid, None)
            self._tell(-pid)

    def kill(self) -> None:
        with self._lock:  # so that nobody waits for one meanwhile and its number becomes another's
            for tree in self._trees.values():
                tree.kill()

    def _tell(self, number: int) -> None:
        try:
            if self._guardian is not None:
                self._write([number])
                return
        except OSError:  # somebody has killed it
            self.end_guardian()
        # Without a guardian the commands run all the same.
        with contextlib.suppress(OSError):
            self._guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _GUARDIAN],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
            atexit.register(self.end_guardian)
            self._write(list(self._trees))

    def _write(self, numbers: Sequence[int]) -> None:
        assert self._guardian is not None and self._guardian.stdin is not None
        self._guardian.stdin.write("".join(f"{number}\n" for number in numbers).encode())

    def end_guardian(self) -> None:
        guardian, self._guardian = self._guardian, None
        if guardian is not None and guardian.stdin is not None:
            guardian.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):  # a fork of ours has its input, too
                guardian.wait(timeout=1)


_running = _Running()
