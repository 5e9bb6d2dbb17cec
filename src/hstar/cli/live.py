"""How a run of many jobs goes, on a terminal: a bar, coverage by contestant, and what is running now.

Drawn by Rich a few times a second, also while nothing ends, and wiped when the run is over. Importing this
takes longer than `hstar --help` does: only who draws does so.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hstar.experiments.job import DONE, SEARCHES
from hstar.units import format_time

if TYPE_CHECKING:
    from hstar.experiments.driver import Standing
    from hstar.experiments.job import Job
    from hstar.experiments.store import Attempt

DRAWN_PER_SECOND = 4.0
MOST_CONTESTANTS = 12  # rows; a screen has some 24, and what does not fit cannot be redrawn
MOST_RUNNING = 6
_BAR_WIDTH = 24
_COUNTS = ("solved", "searched", "searches")


class LiveView:
    """A context that is told of every `Standing` of a run of these jobs."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._contestants: dict[str, list[str]] = defaultdict(list)  # by key of a job
        self._unfinished: Counter[str] = Counter()  # by kind
        # By contestant: searches that there are, have ended and were solved; other jobs, and those made.
        self._tallies: dict[str, Counter[str]] = defaultdict(Counter)
        for job in jobs:
            if job.key not in self._contestants:
                self._unfinished[job.kind] += 1
            contestant = str(job.labels.get("contestant", "all"))
            self._contestants[job.key].append(contestant)
            self._tallies[contestant]["searches" if job.kind in SEARCHES else "others"] += 1
        self._seconds: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # by kind: sum, number
        self._standing: Standing | None = None
        self._live = Live(
            console=Console(stderr=True),
            get_renderable=self.drawn,
            refresh_per_second=DRAWN_PER_SECOND,
            transient=True,
            redirect_stdout=False,  # results go there
        )

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *details: object) -> None:
        self._live.stop()

    def __call__(self, standing: Standing) -> None:
        """Takes note; Rich's thread draws it when it is time to."""
        if self._standing is None:
            for attempt in standing.done.values():
                self._count(attempt)
        elif standing.latest is not None:
            self._count(standing.latest)
        self._standing = standing
        if standing.finished + standing.blocked < standing.total:
            self._live.start()  # the first time

    def drawn(self) -> RenderableType:
        """The picture as of now."""
        standing = self._standing
        if standing is None:
            return Text()
        now = time.monotonic()
        return Group(self._bar(standing, now), self._coverage(), self._active(standing, now))

    def _count(self, attempt: Attempt) -> None:
        self._unfinished[attempt.kind] -= 1
        spent = self._seconds[attempt.kind]
        spent[0] += attempt.seconds
        spent[1] += 1
        for contestant in self._contestants[attempt.key]:
            tally = self._tallies[contestant]
            if attempt.kind in SEARCHES:
                tally.update(searched=1, solved=attempt.status == "solved")
            else:
                tally["made"] += attempt.status in DONE

    def _bar(self, standing: Standing, now: float) -> RenderableType:
        text = Text(f"{standing.finished}/{standing.total} done, {standing.running} running")
        if standing.failed:
            text.append(f", {standing.failed} failed", style="red")
        if standing.blocked:
            text.append(f", {standing.blocked} blocked", style="yellow")
        left = self._time_left(standing, now)
        text.append(f", {format_time(left)} left" if left is not None else "")
        row = Table.grid(padding=(0, 1))
        row.add_row(ProgressBar(standing.total, standing.finished, width=_BAR_WIDTH), text)
        return row

    def _time_left(self, standing: Standing, now: float) -> float | None:
        """At the mean time of a job of each kind; None while one of them is unknown."""
        unfinished = Counter(self._unfinished)
        unfinished["search"] -= standing.blocked  # what is blocked waits for a model
        work = 0.0
        for kind, number in unfinished.items():
            if number > 0:
                total, known = self._seconds.get(kind, (0.0, 0.0))
                if not known:
                    return None
                work += number * total / known
                active = (now - one.started for one in standing.active if one.job.kind == kind)
                work -= sum(min(spent, total / known) for spent in active)
        return work / max(1, standing.running)

    def _coverage(self) -> RenderableType:
        rows = []
        for name, tally in self._tallies.items():
            counts = [str(tally[count]) if tally["searches"] else "" for count in _COUNTS]
            rows.append([name, *counts, f"{tally['made']}/{tally['others']}" if tally["others"] else ""])
        return _table(("contestant", "solved", "of run", "of all", "made"), rows, MOST_CONTESTANTS)

    def _active(self, standing: Standing, now: float) -> RenderableType:
        rows = [[_title(one.job), format_time(now - one.started)] for one in standing.active]
        return _table(("running", "for"), rows, MOST_RUNNING)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> RenderableType:
    """A table whose first column is a name, with at most so many rows."""
    table = Table(box=None, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    for name, *values in rows[:most]:
        table.add_row(Text(name), *values)
    if (more := len(rows) - most) > 0:
        table.add_row(Text(f"and {more} more"))
    return table


def _title(job: Job) -> str:
    """`training fsm, seed 1, on blocks/p10`."""
    labels = job.labels
    what = "training" if job.kind == "train" else str(labels.get("step", job.kind))
    seed = f", seed {labels['seed']}" if labels.get("seed") else ""
    where = " ".join(str(labels[name]) for name in ("instance", "start") if name in labels)
    return f"{what} {labels.get('contestant', '')}".strip() + seed + (f", on {where}" if where else "")
