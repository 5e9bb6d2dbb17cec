"""All processes of a command: who they are, what they use together, and their end. Linux, from /proc.

A command is the leader of a session. Its processes are those of the session and all that descend from them,
also where a descendant has left the session; once seen, a process is kept in view when its parent is gone.

Memory is resident memory, pages that several of the processes share counted once. The sum of their resident
sizes is an upper bound that costs microseconds. What is shared, such as all memory of a parent with a forked
child, only the kernel's walk over the page tables tells (`smaps_rollup`, tens of milliseconds for some GiB),
so it is asked for only where the upper bound is beyond the limit or has grown well beyond what is known.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")
_GROWTH = 1.1  # of the upper bound, before the shared pages of several processes are counted again
_COUNTING_SHARE = 0.1  # of the time may go into counting shared pages
_SCAN_EVERY_S = 0.1
_SCANNING_SHARE = 0.02  # of the time may go into finding the processes of all sessions
_KILL_ROUNDS = 20  # a process that starts others faster than they are killed does not hold us up


@dataclass(frozen=True)
class Process:
    """What /proc/PID/stat says. A number is used again for another process, but not with the same start."""

    pid: int
    started: int  # ticks since the machine started
    cpu_seconds: float
    of_children: float  # seconds of the processor that children took which it has waited for
    resident: int  # bytes


class ProcessTree:
    """The processes of a command, from its start to `kill`; until then nobody may wait for the leader."""

    def __init__(self, leader: int) -> None:
        self.peak = 0  # bytes; of several processes it may be less than a tenth too low
        self._leader = leader
        self._seen: dict[int, Process] = {}
        self._spent: dict[tuple[int, int], float] = {}
        self._of_leader = 0.0
        self._bound_counted = 0.0  # the upper bound when shared pages were counted last
        self._count_again = 0.0  # not before this time

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all processes, as of when each was seen last, or as the leader knows it.

        Neither is ever too much, and children that are over between two looks are in the second one alone.
        """
        return max(sum(self._spent.values()), self._of_leader)

    def exceeds(self, limit: int | None) -> bool:
        """Looks at all processes: whether they use more than `limit` bytes now."""
        processes = self._find(_sessions().get(self._leader, ()))
        bound = sum(process.resident for process in processes)
        beyond = limit is not None and bound > limit
        if len(processes) <= 1:
            self.peak = max(self.peak, bound)
            return beyond
        now = time.monotonic()
        if now < self._count_again or not (beyond or bound > _GROWTH * self._bound_counted):
            return False
        memory = sum(_proportional(process) for process in processes)
        # When one ends while they are counted, its share goes to those that are counted after it.
        ended = sum(process.resident for process in processes if _has_ended(process))
        memory -= ended
        self.peak = max(self.peak, memory)
        if not ended:
            self._bound_counted = max(self._bound_counted, bound)
        after = time.monotonic()
        self._count_again = after + (after - now) / _COUNTING_SHARE
        return limit is not None and memory > limit

    def kill(self) -> None:
        """Ends all of them, in whatever group or session they are."""
        for _ in range(_KILL_ROUNDS):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, signal.SIGKILL)
            left = self._find(_scan().get(self._leader, ()))
            if not left:
                return
            for process in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.001)

    def _find(self, of_session: Iterable[int]) -> list[Process]:
        before, found = self._seen, dict[int, Process]()
        new = {self._leader, *of_session, *before}
        while new:
            processes = [process for pid in new if (process := _read(pid)) is not None]
            for process in processes:
                known = before.get(process.pid)
                # A number that was seen before may belong to somebody else by now.
                if known is None or known.started == process.started:
                    found[process.pid] = process
                    self._spent[process.pid, process.started] = process.cpu_seconds
                    if process.pid == self._leader:
                        self._of_leader = process.cpu_seconds + process.of_children
            new = {child for pid in new if pid in found for child in _children(pid)} - found.keys()
        self._seen = found
        return list(found.values())


_guard = threading.Lock()
_last_scan: tuple[float, dict[int, list[int]]] = (0.0, {})


def _sessions() -> dict[int, list[int]]:
    """Processes by session, not quite as of now: the jobs of this process share one look."""
    global _last_scan
    with _guard:
        valid, found = _last_scan
        start = time.monotonic()
        if start >= valid:
            found = _scan()
            took = time.monotonic() - start
            _last_scan = (start + max(0.9 * _SCAN_EVERY_S, took / _SCANNING_SHARE), found)
        return found


def _scan() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (ten times a second, Path objects would be felt)
        if name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                found.setdefault(os.getsid(int(name)), []).append(int(name))
    return found


def _read(pid: int) -> Process | None:
    """None if it has ended, also if nobody has waited for it yet."""
    text = _content(f"/proc/{pid}/stat")
    # The name, in parentheses, may have anything in it; the state follows as field 3 of the manual page.
    fields = text.rpartition(b")")[2].split()
    if len(fields) < 22 or fields[0] in (b"Z", b"X"):
        return None
    own, of_children = (sum(map(int, fields[i : i + 2])) / _TICKS for i in (11, 13))
    return Process(pid, int(fields[19]), own, of_children, int(fields[21]) * _PAGE)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            found += map(int, _content(f"/proc/{pid}/task/{thread}/children").split())
    return found


def _proportional(process: Process) -> int:
    """Bytes, a page that n processes have counted as one n-th of it."""
    for line in _content(f"/proc/{process.pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    # Somebody else's or an old kernel, unless it is about to end.
    return 0 if _has_ended(process) else process.resident


def _has_ended(process: Process) -> bool:
    """Also if it is about to: its memory goes first."""
    now = _read(process.pid)
    return now is None or now.started != process.started or not now.resident


def _content(path: str) -> bytes:
    """Of a small file of /proc; empty if the process has ended."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, 65536)
    except OSError:
        return b""
    finally:
        os.close(file)
