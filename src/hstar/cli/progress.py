"""What a running search shows on standard error: a live line on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType

from hstar._core import Progress
from hstar.cli.units import format_bytes, format_count


class ProgressLine:
    """A context that a search's progress records are fed to."""

    LINE_EVERY = 60.0
    # Searches shorter than this finish without having shown anything.
    QUIET_FIRST = 0.5

    def __init__(self, quiet: bool = False) -> None:
        self._live = sys.stderr.isatty()
        self._quiet = quiet
        self._shown = False
        self._next = self.QUIET_FIRST if self._live else self.LINE_EVERY
        self._last = (0.0, 0)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __call__(self, record: Progress) -> None:
        """Shows a record if it is time to."""
        if self._quiet or record.time < self._next:
            return
        before, evaluated = self._last
        rate = (record.evaluated - evaluated) / max(record.time - before, 1e-9)
        self._last = (record.time, record.evaluated)
        self._next = record.time + (0.2 if self._live else self.LINE_EVERY)
        text = (
            f"{record.time:7.1f} s  {format_count(record.expanded)} expanded  "
            f"{format_count(record.evaluated)} evaluated ({format_count(rate)}/s)  "
            f"best h {record.best_h:g}  {format_bytes(record.memory)}"
        )
        self._shown = True
        if self._live:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
