"""The memory of a learner that makes its own data: states with their cost-to-go, the newest of them.

Invariants: an entry, state and cost, is there at most once; of more than `capacity` the oldest are gone. The
same state may be there with several costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.spaces.puzzle import State

Entry: TypeAlias = tuple[State, float]  # what stands for a state, whole numbers or inputs, and its cost


class MemoryBuffer:
    """The newest labelled states, up to a number; the oldest leave first."""

    def __init__(self, capacity: int, entries: Iterable[Entry] = ()) -> None:
        self.capacity = capacity
        self._entries: dict[Entry, None] = {}  # in the order in which they came
        self.add(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entries: Iterable[Entry]) -> None:
        """What is new becomes the newest; what is known stays where it is."""
        for entry in entries:
            self._entries.setdefault(entry)
            if len(self._entries) > self.capacity:
                del self._entries[next(iter(self._entries))]

    @property
    def states(self) -> list[State]:
        return [state for state, _ in self._entries]

    @property
    def costs(self) -> npt.NDArray[np.float32]:
        return np.array([cost for _, cost in self._entries], dtype=np.float32)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"states": _compact(np.array(self.states)), "costs": _compact(self.costs)}

    @classmethod
    def from_arrays(cls, capacity: int, states: npt.NDArray[Any], costs: npt.NDArray[Any]) -> MemoryBuffer:
        rows = (tuple(state) for state in states.tolist())
        return cls(capacity, zip(rows, costs.tolist(), strict=True))


def _compact(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers in four bytes, others in float32, from which they come."""
    return array.astype(np.float32 if (array != array.astype(np.int64)).any() else np.int32)


def plan_entries(states: list[State]) -> list[Entry]:
    """The states of a plan of unit costs from start to goal, each with what is left; the goal has 0."""
    return [(state, len(states) - 1 - step) for step, state in enumerate(states)]
