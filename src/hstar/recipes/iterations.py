"""What learners share that set themselves tasks, solve them and learn, again and again.

Invariant: with a checkpoint, which is replaced after every iteration, a killed learner goes on after the last
whole one, and ends as if it had not been killed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hstar.recipes.recipe import Run


@dataclass(frozen=True)
class Iteration:
    """Handed to `progress` several times in an iteration."""

    iteration: int
    iterations: int | None  # at most, if that is known
    doing: str  # in words
    states: int  # to learn from
    time_s: float


class Learner(Protocol):
    """The state between iterations."""

    history: list[dict[str, Any]]  # a record for each iteration

    def finished(self) -> bool:
        """Whether there is nothing more to do."""

    def iterate(self) -> None:
        """One iteration."""

    def save(self, path: Path) -> None:
        """Writes everything that the next iteration depends on."""

    def restore(self, path: Path) -> None:
        """Reads what `save` wrote; an `InputError` if it is of another run."""


def iterate(learner: Learner, checkpoint: Path | None) -> None:
    """All iterations that are left."""
    if checkpoint is not None and checkpoint.exists():
        learner.restore(checkpoint)
    try:
        while not learner.finished():
            learner.iterate()
            if checkpoint is not None:
                learner.save(checkpoint)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{len(learner.history)} iterations done") from None


class Teller:
    """Tells the progress of a learner."""

    def __init__(self, run: Run, iterations: int | None = None) -> None:
        self._run, self._iterations, self._started = run, iterations, time.monotonic()

    def __call__(self, doing: str, done: int, states: int) -> None:
        """Says what goes on after so many whole iterations, with so many states to learn from."""
        if self._run.progress is not None:
            time_s = time.monotonic() - self._started
            self._run.progress(Iteration(done + 1, self._iterations, doing, states, time_s))


def summed(history: list[dict[str, Any]]) -> dict[str, Any]:
    """What the records of the iterations come to."""
    return {
        "iterations": len(history),
        "tasks": sum(one["tasks"] for one in history),
        "solved": sum(one["solved"] for one in history),
        "generated": sum(one["generated"] for one in history),
        "time_s": round(sum(one["time_s"] for one in history), 3),
        "curve": history,
    }
