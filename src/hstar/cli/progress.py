"""What long work shows on standard error: a live line on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from hstar.units import format_bytes, format_count

if TYPE_CHECKING:
    from hstar._core import Progress


class ProgressLine:
    """A context that is told what goes on: by `announce`, by `update`, or by the records of a search."""

    LINE_EVERY = 60.0  # seconds, as the others
    LIVE_EVERY = 0.2
    QUIET_FIRST = 0.5  # work shorter than this is over without having shown anything

    def __init__(self, quiet: bool = False) -> None:
        self._live = sys.stderr.isatty()
        self._quiet = quiet
        self._shown = False
        self._next = self.QUIET_FIRST if self._live else self.LINE_EVERY
        self._every = self.LIVE_EVERY if self._live else self.LINE_EVERY
        self._now = 0.0
        self._last = (0.0, 0)
        self._timer: threading.Timer | None = None

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *details: object) -> None:
        self._stop_timer()
        print(self._blank(), end="", file=sys.stderr, flush=True)

    def announce(self, text: str) -> None:
        """Names what goes on until the next call, if it takes long enough to ask."""
        self._stop_timer()
        if self._quiet:
            return
        if self._live and self._shown:  # what stands there is over
            self._show(text)
            return
        delay = self.QUIET_FIRST if self._live else self.LINE_EVERY
        self._timer = threading.Timer(delay, self._show, [text])
        self._timer.daemon = True
        self._timer.start()

    def update(self, seconds: float, text: str) -> None:
        """Shows a text if it is time to, `seconds` after the start."""
        self._stop_timer()
        if self._due(seconds):
            self._show(text)

    def message(self, text: str) -> None:
        """Prints a line above the bar, where it stays."""
        self._stop_timer()
        if not self._quiet:
            print(self._blank() + text, file=sys.stderr, flush=True)

    def __call__(self, record: Progress) -> None:
        """Shows a record of a search if it is time to."""
        self._stop_timer()
        if not self._due(record.time):
            return
        before, evaluated = self._last
        if record.time < before:  # another search
            before, evaluated = 0.0, 0
        rate = (record.evaluated - evaluated) / max(record.time - before, 1e-9)
        self._last = (record.time, record.evaluated)
        best = "-" if record.best_h is None else f"{record.best_h:g}"
        self._show(
            f"{record.time:7.1f} s  {format_count(record.expanded)} expanded  "
            f"{format_count(record.evaluated)} evaluated ({format_count(rate)}/s)  "
            f"best h {best}  {format_bytes(record.memory)}"
        )

    def grounding(self, record: Progress) -> None:
        """Shows a record of a translation if it is time to."""
        counts = f"{format_count(record.evaluated)} facts, {format_count(record.generated)} operators"
        self.update(record.time, f"{record.time:7.1f} s  grounding: {counts}  {format_bytes(record.memory)}")

    def _due(self, seconds: float) -> bool:
        if seconds < self._now:  # of other work, whose time has begun anew
            self._next = seconds + self._every
        self._now = seconds
        if self._quiet or seconds < self._next:
            return False
        self._next = seconds + self._every
        return True

    def _blank(self) -> str:
        """What wipes the live line."""
        return "\r" + " " * (self._width() - 1) + "\r" if self._shown and self._live else ""

    def _show(self, text: str) -> None:
        self._shown = True
        if self._live:
            # A line that wraps could not be overwritten.
            width = self._width() - 1
            print(f"\r{text[:width]:{width}}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # it may be showing its text just now
            self._timer = None

    @staticmethod
    def _width() -> int:
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


def show_outcome(arguments: argparse.Namespace, record: Any, summary: str) -> None:
    """What came of a command that writes --output: a record with --json, and a line unless --quiet."""
    if arguments.json:
        print(json.dumps(record))
    if not arguments.quiet:
        print(f"{arguments.output}: {summary}", file=sys.stderr)
