"""A problem: a state space and a start. Planning tasks, puzzles, maps and users' own spaces are all problems.

`hstar.solve` asks a problem for its native space, for heuristics by name, and for a replay of the plan that
a search returns. The replay is plain Python and shares no code with the core. What a problem cannot do raises
an `UnsupportedError` that says what to use instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from hstar import _core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

S = TypeVar("S")
C = TypeVar("C")


@dataclass(frozen=True)
class HeuristicClaim:
    """A heuristic that a space has by name, and whether its values are admissible."""

    name: str
    admissible: bool


@dataclass(frozen=True)
class Replay:
    """A plan that was replayed step by step: the names of its steps, its cost, and the states on it."""

    plan: tuple[str, ...]
    cost: float
    states: Sequence[Any] | None  # start and goal included; None where a space does not list them


class Problem(Protocol):
    """What `hstar.solve` asks of a problem."""

    kind: ClassVar[str]  # task, puzzle, map or own

    @property
    def name(self) -> str:
        """The name of the problem or of its space, for messages."""

    @property
    def native(self) -> _core.Problem:
        """The native space with its start; the same object at every call."""

    @property
    def claims(self) -> Sequence[HeuristicClaim]:
        """The heuristics that this space has by name; the first admissible one proves bounds."""

    @property
    def unit_cost(self) -> bool:
        """Whether every step costs 1."""

    def named_heuristic(self, name: str) -> _core.Heuristic:
        """The native heuristic of that name, which is one of `claims`."""

    def states_of(self, rows: npt.NDArray[np.int32]) -> Any:
        """The states that a Python heuristic sees for rows of the native space."""

    def replay(self, actions: Sequence[int]) -> Replay:
        """The plan, checked; a `PlanError` if it does not lead from the start to a goal."""

    def at(self, start: Any) -> Problem:
        """The same space from another start."""


def end_of_walk(
    start: S, steps: int, seed: int, choices: Callable[[S], Sequence[C]], follow: Callable[[S, C], S]
) -> S:
    """The state after a random walk of so many steps, or where nothing can be chosen any more."""
    import random

    generator, state = random.Random(seed), start
    for _ in range(steps):
        found = choices(state)
        if not found:
            break
        state = follow(state, generator.choice(found))
    return state
