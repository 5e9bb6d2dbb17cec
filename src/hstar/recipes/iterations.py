"""What learners share that set themselves tasks, solve them and learn, again and again.

Invariant: with a checkpoint, which is replaced after every iteration, a killed learner goes on after the last
whole one, and ends as if it had not been killed.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec

from hstar.recipes.recipe import INTERRUPTED, Run

if TYPE_CHECKING:
    from hstar.container import Tensors

_Number: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**53)]  # in a checkpoint


@dataclass(frozen=True)
class Iteration:
    """Handed to `progress` several times in an iteration."""

    iteration: int
    iterations: int | None  # at most, if that is known
    doing: str  # in words
    states: int  # to learn from
    time_s: float


class Learner(ABC):
    """The state between iterations; `history` has a record of each."""

    def __init__(self, run: Run, iterations: int | None = None) -> None:
        self.history: list[dict[str, Any]] = []
        self._run, self._iterations, self._started = run, iterations, time.monotonic()
        self._stopped: dict[str, str] = {}

    @abstractmethod
    def step(self) -> dict[str, Any]:
        """One iteration, and its record with at least `tasks`, `solved` and `generated`."""

    @property
    @abstractmethod
    def states(self) -> int:
        """How many labelled states there are to learn from."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What has to be equal for going on from a checkpoint."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], Tensors]:
        """Plain data and arrays: everything that the next iteration depends on, but for the history."""

    @abstractmethod
    def restore(self, header: Mapping[str, Any], tensors: Tensors) -> None:
        """Goes back to what `state` gave."""

    def finished(self) -> bool:
        return self._iterations is not None and len(self.history) >= self._iterations

    def iterate(self) -> None:
        before = time.monotonic()
        record = {"iteration": len(self.history) + 1, **self.step(), "states": self.states}
        self.history.append({**record, "time_s": round(time.monotonic() - before, 3)})

    def run(self) -> None:
        """All iterations that are left."""
        from hstar.training import checkpoint

        path, keep = self._run.checkpoint, self._run.keep_interrupted
        last: tuple[Mapping[str, Any], Tensors] | None = None  # after the last whole iteration
        if path is not None and path.exists():
            last = header, tensors = checkpoint.read(path, self.identity())
            with checkpoint.restoring(path):
                self.history = msgspec.convert(header["history"], list[dict[str, Any]])
                numbers = {name: header[name] for name in header if name not in ("identity", "history")}
                msgspec.convert(numbers, dict[str, _Number])
                self.restore(header, tensors)
                self.summary()  # finds what it needs
        try:
            while not self.finished():
                self.iterate()
                if path is not None or keep:
                    header, tensors = self.state()
                    state = {"history": [*self.history], **header}
                    last = state, {name: array.copy() for name, array in tensors.items()}
                if path is not None:
                    checkpoint.write(path, self.identity(), state, tensors)
        except KeyboardInterrupt:
            if last is None or not keep:
                raise KeyboardInterrupt(f"{len(self.history)} iterations done") from None
            self.history = last[0]["history"]
            self.restore(*last)
            self._stopped = {"stopped": INTERRUPTED}

    def tell(self, doing: str) -> None:
        if self._run.progress is not None:
            time_s = time.monotonic() - self._started
            done = len(self.history)
            self._run.progress(Iteration(done + 1, self._iterations, doing, self.states, time_s))

    def summary(self) -> dict[str, Any]:
        """What the records of the iterations come to."""
        sums = {name: sum(one[name] for one in self.history) for name in ("tasks", "solved", "generated")}
        return {
            "iterations": len(self.history),
            **sums,
            "states": self.states,
            "time_s": round(sum(one["time_s"] for one in self.history), 3),
            "curve": self.history,
            **self._stopped,
        }
