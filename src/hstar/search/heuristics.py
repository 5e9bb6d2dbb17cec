"""Which heuristic a search uses: by name, learned, combined, or a function of a batch of states.

Names and claims are those of the problem's space (`Problem.claims`); for planning tasks they come from the
core's catalogue (`heuristics()`), where each algorithm has its own file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.registry import unknown
from hstar.spaces.problem import Problem
from hstar.spaces.task import Task

if TYPE_CHECKING:  # a search by a symbolic heuristic starts without NumPy, which takes a tenth of a second
    import numpy as np
    import numpy.typing as npt

States: TypeAlias = "npt.NDArray[np.int32]"
BatchFunction: TypeAlias = "Callable[[Any], npt.ArrayLike]"


@dataclass(frozen=True)
class BatchHeuristic:
    """A Python function as a heuristic, for prototypes.

    `function` gets the states of a batch and returns one number for each; infinity means dead end, negative
    numbers count as 0. States are an int32 array (states, numbers): the values of a task's variables, the
    numbers of a puzzle, row and column of a cell; of an own space they are what its functions take. The
    function is called once for all new successors of an expansion. The search works with integers: values are
    rounded to 1/`resolution`. `admissible` is the author's claim; `hstar check` tries it on samples.
    """

    function: BatchFunction
    name: str = "python"
    resolution: int = 1024
    admissible: bool = False


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
    """Anything that makes a native heuristic for a problem, such as a trained model."""

    def build(self, problem: Any) -> Any:
        """The heuristic for this problem; a `ModelError` if it does not fit."""
        ...


Heuristic: TypeAlias = "str | BatchFunction | BatchHeuristic | Buildable | Max | Sum"


def heuristics() -> list[_core.HeuristicInfo]:
    """All symbolic heuristics of planning tasks with what they claim."""
    return _core.heuristics()


def build(problem: Problem, heuristic: Any, costs: str = "normal") -> _core.Heuristic:
    """The native heuristic for a problem, for the general searches; `costs` as in `SearchConfig`."""
    if isinstance(heuristic, str):
        return _named(problem, heuristic, costs)
    if isinstance(heuristic, Max | Sum):
        parts = [build(problem, part, costs) for part in heuristic.parts]
        return _core.combined_heuristic(problem.native, heuristic.rule, parts)
    if isinstance(heuristic, BatchHeuristic):
        return _callback(problem, heuristic)
    if isinstance(heuristic, _core.Heuristic):
        return heuristic
    if hasattr(heuristic, "build"):
        return build(problem, cast("Buildable", heuristic).build(problem))
    if hasattr(problem, "own_heuristic"):  # what only one kind of space has: databases, networks, value maps
        native: _core.Heuristic | None = problem.own_heuristic(heuristic)
        if native is not None:
            return native
    if callable(heuristic):
        return _callback(problem, BatchHeuristic(heuristic, getattr(heuristic, "__name__", "python")))
    raise InputError(f"not a heuristic: {heuristic!r:.60}")


def _named(problem: Problem, name: str, costs: str) -> _core.Heuristic:
    if name == "zero":
        return _core.zero_heuristic(problem.native)
    names = [claim.name for claim in problem.claims]
    if name not in names:
        what = "heuristic" if problem.kind == "task" else f"heuristic of {problem.name}"
        raise unknown(what, name, names)
    if isinstance(problem, Task):
        return _core.symbolic_heuristic(problem.core, name, costs)
    if costs != "normal":
        raise InputError(f"costs are for planning tasks, and {problem.name} is none")
    return problem.named_heuristic(name)


def _callback(problem: Problem, heuristic: BatchHeuristic) -> _core.Heuristic:
    unit = problem.native.unit

    def values(rows: States) -> npt.ArrayLike:
        found: npt.ArrayLike = heuristic.function(problem.states_of(rows))
        if unit == 1:
            return found
        import numpy as np

        return np.asarray(found, dtype=np.float64) * unit

    return _core.callback_heuristic(
        problem.native, values, heuristic.name, heuristic.resolution if unit == 1 else 1, heuristic.admissible
    )


def anchor(problem: Problem, heuristic: Any, guide: _core.Heuristic) -> _core.Heuristic | None:
    """The admissible heuristic of a bounded search; none if the guide is one and no other was asked for."""
    if heuristic is not None:
        native = build(problem, heuristic)
        if not native.admissible:
            able = ", ".join(claim.name for claim in problem.claims if claim.admissible)
            raise InputError(f"the anchor must be admissible, and {native.name} is not; use one of {able}")
        return native
    return None if guide.admissible else admissible_heuristic(problem)[1]


def admissible_heuristic(problem: Problem) -> tuple[str, _core.Heuristic]:
    """The strongest one that the space has by name and that can do the problem."""
    for claim in problem.claims:
        if claim.admissible:
            with contextlib.suppress(UnsupportedError):  # conditional effects, axioms: the next one
                return claim.name, problem.named_heuristic(claim.name)
    return "zero", _core.zero_heuristic(problem.native)


def evaluate(
    problem: Problem, heuristic: Heuristic, states: Sequence[Sequence[int]] | States
) -> npt.NDArray[np.float64]:
    """Values of states given by their numbers (values of a task's variables); infinity for dead ends."""
    import numpy as np

    array = np.ascontiguousarray(states, dtype=np.int32)
    return build(problem, heuristic).evaluate(array)


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
