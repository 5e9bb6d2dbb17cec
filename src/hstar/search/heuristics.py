"""Which heuristic a search uses: by name, combined, or a function of a batch of states.

Names and claims are those of the core's catalogue (`heuristics()`), where each algorithm has its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from hstar import _core
from hstar.errors import InputError
from hstar.registry import unknown
from hstar.spaces.task import Task

if TYPE_CHECKING:  # a search by a symbolic heuristic starts without NumPy, which takes a tenth of a second
    import numpy as np
    import numpy.typing as npt

States: TypeAlias = "npt.NDArray[np.int32]"
BatchFunction: TypeAlias = "Callable[[States], npt.ArrayLike]"


@dataclass(frozen=True)
class BatchHeuristic:
    """A Python function as a heuristic, for prototypes.

    `function` gets an int32 array (states, variables) with the values of the task's variables and returns one
    number for each state; infinity means dead end, negative numbers count as 0. It is called once for all new
    successors of an expansion. The search works with integers: values are rounded to 1/`resolution`.
    """

    function: BatchFunction
    name: str = "python"
    resolution: int = 1024


class _Combination:
    """Several heuristics made one."""

    rule: str

    def __init__(self, *parts: Heuristic) -> None:
        if not parts:
            raise InputError(f"{self.rule} needs at least one heuristic")
        self.parts = parts


class Max(_Combination):
    """The greatest of several heuristics; admissible if all of them are."""

    rule = "max"


class Sum(_Combination):
    """The sum of several heuristics."""

    rule = "sum"


class Buildable(Protocol):
    """Anything that makes a native heuristic for a task, such as a learned model."""

    def build(self, task: Task) -> _core.Heuristic:
        """The heuristic for this task; a `ModelError` if it does not fit."""
        ...


Heuristic: TypeAlias = "str | BatchFunction | BatchHeuristic | Buildable | Max | Sum"


def heuristics() -> list[_core.HeuristicInfo]:
    """All symbolic heuristics with what they claim."""
    return _core.heuristics()


def build(task: Task, heuristic: Heuristic) -> _core.Heuristic:
    """The native heuristic for a task."""
    if isinstance(heuristic, str):
        names = [info.name for info in heuristics()]
        if heuristic not in names:
            raise unknown("heuristic", heuristic, names)
        return _core.symbolic_heuristic(task.core, heuristic)
    if isinstance(heuristic, Max | Sum):
        parts = [build(task, part) for part in heuristic.parts]
        return _core.combined_heuristic(task.core, heuristic.rule, parts)
    if isinstance(heuristic, BatchHeuristic):
        return _core.callback_heuristic(task.core, heuristic.function, heuristic.name, heuristic.resolution)
    if hasattr(heuristic, "build"):
        return cast("Buildable", heuristic).build(task)
    if callable(heuristic):
        name = getattr(heuristic, "__name__", "python")
        return build(task, BatchHeuristic(heuristic, name))
    raise InputError(f"not a heuristic: {heuristic!r}")


def evaluate(
    task: Task, heuristic: Heuristic, states: Sequence[Sequence[int]] | States
) -> npt.NDArray[np.float64]:
    """Values of states given by the values of their variables; infinity for dead ends."""
    import numpy as np

    array = np.ascontiguousarray(states, dtype=np.int32)
    return build(task, heuristic).evaluate(array)


@dataclass(frozen=True)
class RelaxedPlan:
    """What `ff` finds for a state: a plan that ignores deletes."""

    operators: tuple[str, ...]
    cost: int
    ignored_deletes: int  # atoms that the operators delete, summed


def relaxed_plan(task: Task, state: Sequence[int] | None = None) -> RelaxedPlan | None:
    """The relaxed plan of `ff` for a state (default: the initial one); None for a dead end."""
    values = task.core.initial_state if state is None else list(state)
    found, deletes = _core.relaxed_plan(task.core, values)
    if found is None:
        return None
    operators = [task.core.operator(op) for op in found]
    return RelaxedPlan(tuple(op.name.strip() for op in operators), sum(op.cost for op in operators), deletes)
