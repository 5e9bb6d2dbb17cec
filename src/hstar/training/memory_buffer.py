"""The memory of a learner that makes its own data: states with their cost-to-go, the newest of them.

Invariants: an entry, state and cost, is there at most once; of more than `capacity` the oldest are gone. The
same state may be there with several costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.spaces.puzzle import State


class MemoryBuffer:
    """First in, first out."""

    def __init__(self, capacity: int, entries: Iterable[tuple[State, int]] = ()) -> None:
        self.capacity = capacity
        self._entries: dict[tuple[State, int], None] = {}  # in the order in which they came
        self.add(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entries: Iterable[tuple[State, int]]) -> None:
        """What is new becomes the newest; what is known stays where it is."""
        for entry in entries:
            self._entries.setdefault(entry)
            if len(self._entries) > self.capacity:
                del self._entries[next(iter(self._entries))]

    @property
    def states(self) -> list[State]:
        """From the oldest to the newest."""
        return [state for state, _ in self._entries]

    @property
    def costs(self) -> npt.NDArray[np.float32]:
        """In the order of the states."""
        return np.array([cost for _, cost in self._entries], dtype=np.float32)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """For a file."""
        return {"states": np.array(self.states, dtype=np.int32), "costs": self.costs.astype(np.int32)}

    @classmethod
    def from_arrays(cls, capacity: int, states: npt.NDArray[Any], costs: npt.NDArray[Any]) -> MemoryBuffer:
        """What `to_arrays` gave."""
        rows = (tuple(state) for state in states.tolist())
        return cls(capacity, zip(rows, costs.tolist(), strict=True))


def plan_entries(states: list[State]) -> list[tuple[State, int]]:
    """The states of a plan of unit costs from start to goal, each with what is left; the goal has 0."""
    return [(state, len(states) - 1 - step) for step, state in enumerate(states)]
