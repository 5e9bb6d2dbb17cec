"""Limits of work that is not a search: loading, random maps, pattern databases, sampling.

A search keeps its limits itself, and returns what it has found. Other work has nothing to show before it is
done: it runs inside `limited`, and a `LimitError` ends it. Loops ask by `keep_limits`. A command also lets a
timer of the process ask (`alarm`), between any two steps of Python and wherever the core looks for signals.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hstar.errors import LimitError

_EVERY_S = 0.1
_AGAIN_S = 1.0  # after an alarm whose exception got lost; work that ends has so long to clean up


@dataclass
class Limits:
    """Until when, and how many resident bytes."""

    end: float  # of the monotonic clock
    memory: float
    armed: bool = False

    def keep(self, more_bytes: int = 0) -> None:
        """Raises a `LimitError` if a limit is reached, or would be with so many bytes more."""
        if time.monotonic() >= self.end:
            raise LimitError("time_limit")
        if self.memory < math.inf and _resident() + more_bytes >= self.memory:
            raise LimitError("memory_limit")


def cores() -> int:
    """Of the processors those that we may use: in a container or a job of a cluster not all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_ACTIVE: ContextVar[Limits | None] = ContextVar("limits", default=None)


def active_limits() -> Limits | None:
    """Those that hold here; a thread is told of those that hold where it was started."""
    return _ACTIVE.get()


def time_left() -> float | None:
    """Seconds, not below 0; None without a limit."""
    limits = _ACTIVE.get()
    return None if limits is None or limits.end == math.inf else max(0.0, limits.end - time.monotonic())


@contextlib.contextmanager
def limited(time_s: float | None, memory_bytes: int | None, *, alarm: bool = False) -> Iterator[None]:
    """Limits of what is done inside; `alarm` is for commands, whose process has signals of its own."""
    memory = math.inf if memory_bytes is None else memory_bytes
    limits = Limits(time.monotonic() + (math.inf if time_s is None else time_s), memory)
    unlimited = time_s is None and memory_bytes is None
    token = _ACTIVE.set(None if unlimited else limits)
    try:
        with _alarmed(limits) if alarm and not unlimited else contextlib.nullcontext():
            yield
    finally:
        _ACTIVE.reset(token)


@contextlib.contextmanager
def _alarmed(limits: Limits) -> Iterator[None]:
    quiet_until = 0.0

    def ask(number: int, frame: Any) -> None:
        nonlocal quiet_until
        if time.monotonic() >= quiet_until:
            try:
                limits.keep()
            except LimitError:
                quiet_until = time.monotonic() + _AGAIN_S
                raise

    before = signal.signal(signal.SIGALRM, ask)
    limits.armed = True
    signal.setitimer(signal.ITIMER_REAL, _EVERY_S, _EVERY_S)
    try:
        yield
    finally:
        disarm()
        signal.signal(signal.SIGALRM, before)


def disarm() -> None:
    """From here on the work keeps the limits itself, since it has something to show when they end it."""
    limits = _ACTIVE.get()
    if limits is not None and limits.armed:
        signal.setitimer(signal.ITIMER_REAL, 0)
        limits.armed = False


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
