"""A user's own state space: an object with `start`, `is_goal` and `successors`, and options that it may add.

    class Lights:                                     # Lights Out, 5 x 5
        start = (1 << 12) | 7
        def is_goal(self, s): return s == 0
        def successors(self, s): return [(f"press {i}", s ^ MASKS[i], 1) for i in range(25)]

Plain functions take one state, anything hashable. Vectorised ones take an array of states, one row each, and
are called for many states at once; a space with `successors_batch` is searched by them alone:

    successors_batch(states) -> (successors, parents, costs)   # of each successor: the row of its parent
    is_goal_batch(states) -> flags

Optional: `predecessors(state)` like `successors`, for recipes that search backwards from `goals` (a list of
goal states); `lower_bound(state)` or `lower_bound_batch(states)`, an admissible heuristic; `encode(states)`,
an array of network inputs; `random(seed)`, a start; `cost_scale`, by which costs are multiplied before they
are rounded to the whole numbers that searches add up (default 1: costs are whole numbers).

Invariant: a packed state is the bytes of its row, or the number of an object that was seen before. Equal
states have equal packed states. Whatever a function returns is checked before the core sees it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, PlanError, UnsupportedError
from hstar.spaces.problem import HeuristicClaim, Replay, end_of_walk

MOST_COST = 1 << 29
BATCH = 1024  # states that vectorised functions get at a time
Words = npt.NDArray[np.uint32]


def is_own_space(candidate: object) -> bool:
    has = [callable(getattr(candidate, name, None)) for name in ("successors", "successors_batch")]
    return any(has) and hasattr(candidate, "start")


class OwnProblem:
    """A user's space as a `Problem`."""

    kind: ClassVar[str] = "own"

    def __init__(self, space: Any, name: str | None = None) -> None:
        self.space = space() if isinstance(space, type) else space
        self.name = name or type(self.space).__name__
        if not is_own_space(self.space):
            raise InputError(f"{self.name} is no space: it needs start and successors or successors_batch")
        batched = callable(getattr(self.space, "successors_batch", None))
        goal = "is_goal_batch" if batched else "is_goal"
        if not callable(getattr(self.space, goal, None)):
            raise InputError(f"{self.name} is no space: it has no function {goal}")
        scale = getattr(self.space, "cost_scale", 1)
        if not isinstance(scale, int) or isinstance(scale, bool) or not 1 <= scale <= 1 << 20:
            raise InputError(
                f"cost_scale of {self.name} must be a whole number from 1 to 1048576, got {scale!r}"
            )
        self.scale = scale
        self.functions = _Functions(self.space, self.name, scale)
        self._states: _Rows | _Objects = _Rows(self.functions) if batched else _Objects(self.functions)

    def __repr__(self) -> str:
        return f"OwnProblem({self.name}, start={self.start!r:.60})"

    @property
    def start(self) -> Any:
        return self.space.start

    @property
    def unit_cost(self) -> bool:
        """Unknown before a search, and so False."""
        return False

    @cached_property
    def native(self) -> _core.Problem:
        states = self._states
        start = states.pack([self.start])[0].tolist()
        return _core.own_problem(states.expand, states.goals, start, self.scale, states.batch)

    @property
    def claims(self) -> Sequence[HeuristicClaim]:
        """`lower_bound` if the space has one, and `zero`."""
        return [HeuristicClaim(name, True) for name in ("lower_bound", "zero")[not self.bounded :]]

    @property
    def bounded(self) -> bool:
        return self.functions.has("lower_bound_batch") or self.functions.has("lower_bound")

    def named_heuristic(self, name: str) -> _core.Heuristic:
        """`zero`, or the space's own lower bound."""
        if name == "zero":
            return _core.zero_heuristic(self.native)
        return _core.callback_heuristic(
            self.native, lambda rows: self.bounds(self.states_of(rows)) * self.scale, name, 1, True
        )

    def states_of(self, rows: npt.NDArray[np.int32]) -> Any:
        """The states themselves: a list of objects, or an array with a row for each."""
        return self._states.unpack(rows.view(np.uint32))

    def successors(self, state: Any) -> list[tuple[str, Any, float]]:
        return self._states.steps(state)

    def is_goal(self, state: Any) -> bool:
        return bool(self._states.flags([state])[0])

    def predecessors(self, state: Any) -> list[tuple[str, Any, float]]:
        """Name, state and cost of each step that leads to a state."""
        if not self.functions.has("predecessors"):
            raise UnsupportedError(f"{self.name} has no function predecessors(state) to search backwards")
        return self.functions.steps("predecessors", state)

    @property
    def goals(self) -> list[Any]:
        """The goal states, where the space lists them in `goals` or `goal`."""
        if hasattr(self.space, "goals"):
            return list(self.space.goals)
        if hasattr(self.space, "goal"):
            return [self.space.goal]
        raise UnsupportedError(f"{self.name} lists no goals; add a list `goals` of its goal states")

    def bounds(self, states: Any) -> npt.NDArray[np.float64]:
        """The space's own lower bound of each state."""
        if not self.bounded:
            raise UnsupportedError(f"{self.name} has no function lower_bound(state)")
        states, called = self._states.together(states), self.functions.called
        if self.functions.has("lower_bound_batch"):
            values = np.asarray(called("lower_bound_batch", states), dtype=np.float64)
        else:
            values = np.array([called("lower_bound", state) for state in states], dtype=np.float64)
        if values.shape != (len(states),):
            raise InputError(
                f"{self.name}: lower bounds of {len(states)} states have the shape {values.shape}"
            )
        if np.isnan(values).any():
            raise InputError(
                f"{self.name}: the lower bound of {states[int(np.argmax(np.isnan(values)))]!r:.60} is NaN"
            )
        return values

    def encoded(self, states: Any) -> npt.NDArray[np.float32]:
        """The inputs of a network (states, inputs), by the space's own `encode`."""
        if not self.functions.has("encode"):
            raise UnsupportedError(
                f"{self.name} has no function encode(states), which gives a network its inputs: "
                "add one that returns an array with a row of numbers for each state"
            )
        found = self.functions.called("encode", self._states.together(states))
        try:
            inputs = np.ascontiguousarray(found, dtype=np.float32)
        except (TypeError, ValueError):
            raise InputError(
                f"{self.name}.encode must return an array of numbers, got {found!r:.60}"
            ) from None
        if inputs.ndim != 2 or len(inputs) != len(states) or not inputs.shape[1]:
            raise InputError(
                f"{self.name}.encode must return the shape ({len(states)}, inputs) for {len(states)} states, "
                f"got {inputs.shape}"
            )
        if not np.isfinite(inputs).all():
            state = states[int(np.argmin(np.isfinite(inputs).all(axis=1)))]
            raise InputError(f"{self.name}.encode gives {state!r:.60} an input that is not finite")
        return inputs

    def keys(self, states: Sequence[Any]) -> list[bytes]:
        """The packed states; equal states have equal ones."""
        return [row.tobytes() for row in self._states.pack(states)] if len(states) else []

    def packed(self, state: Any) -> bytes:
        return self._states.pack([state]).tobytes()

    def same(self, one: Any, two: Any) -> bool:
        return self.packed(one) == self.packed(two)

    def replay(self, actions: Sequence[int]) -> Replay:
        state, names, costs, states = self.start, [], [], [self.start]
        for number, action in enumerate(actions, 1):
            steps = self.successors(state)
            if not 0 <= action < len(steps):
                raise PlanError(
                    f"step {number} of the plan is not among the {len(steps)} steps of {state!r:.60}"
                )
            name, state, cost = steps[action]
            names.append(name)
            costs.append(cost)
            states.append(state)
        if not self.is_goal(state):
            raise PlanError(f"the plan ends in {state!r:.60}, which is no goal")
        total = math.fsum(costs)
        return Replay(tuple(names), int(total) if total == int(total) else total, states)

    def at(self, start: Any) -> OwnProblem:
        space = copy.copy(self.space)
        space.start = start
        return OwnProblem(space, self.name)

    def random(self, seed: int) -> OwnProblem:
        """The same space from a random start, if the space has a function `random`."""
        if not self.functions.has("random"):
            raise UnsupportedError(f"{self.name} has no function random(seed); use walk(steps, seed)")
        return self.at(self.space.random(seed))

    def walk(self, steps: int, seed: int) -> OwnProblem:
        """The same space from the end of a random walk of so many steps from its start."""
        return self.at(end_of_walk(self.start, steps, seed, self.successors, lambda _, step: step[1]))


class _Functions:
    """The user's functions, called with care. They do not know the problem: it would keep itself alive."""

    def __init__(self, space: Any, name: str, scale: int) -> None:
        self.space = space
        self.name = name
        self.scale = scale

    def has(self, function: str) -> bool:
        return callable(getattr(self.space, function, None))

    def called(self, function: str, states: Any) -> Any:
        """What a function of the space returns; whatever it raises becomes an `InputError` of one line."""
        try:
            return getattr(self.space, function)(states)
        except Exception as error:
            text = " ".join(str(error).split())
            raise InputError(
                f"{self.name}.{function}({states!r:.60}) raised {type(error).__name__}: {text:.200}"
            ) from error

    def steps(self, function: str, state: Any) -> list[tuple[str, Any, float]]:
        """The triples (name, state, cost) that `successors` or `predecessors` returns."""
        found = self.called(function, state)
        try:
            return [(str(name), other, cost) for name, other, cost in found]
        except (TypeError, ValueError):
            raise InputError(
                f"{self.name}.{function}({state!r:.60}) must return triples (name, state, cost), "
                f"got {found!r:.60}"
            ) from None

    def whole_cost(self, cost: Any, state: Any) -> int:
        """A cost in the units of the search."""
        try:
            value = float(cost)
        except (TypeError, ValueError):
            value, wrong = math.nan, "which is no number"
        else:
            wrong = "but costs are finite and not negative"
        if 0 <= value < math.inf:
            whole = round(value * self.scale)
            if abs(whole - value * self.scale) > 1e-9 and "cost_scale" not in dir(self.space):
                wrong = "which is no whole number; set cost_scale, e.g. 1000 to count in thousandths"
            elif whole > MOST_COST:
                wrong = f"above {MOST_COST // self.scale}"
            else:
                return whole
        raise InputError(f"{self.name}: a step from {state!r:.60} costs {cost!r:.40}, {wrong}")


class _Objects:
    """States that are any hashable Python objects, numbered in the order in which they are seen."""

    batch = 1

    def __init__(self, functions: _Functions) -> None:
        self.functions = functions
        self.numbers: dict[Any, int] = {}
        self.objects: list[Any] = []

    def number(self, state: Any) -> int:
        try:
            found = self.numbers.get(state)
        except TypeError:
            raise InputError(
                f"{self.functions.name}: the state {state!r:.60} is not hashable; use a tuple"
            ) from None
        if found is None:
            found = self.numbers[state] = len(self.objects)
            self.objects.append(state)
        return found

    def pack(self, states: Iterable[Any]) -> Words:
        return np.array([[self.number(state)] for state in states], dtype=np.uint32)

    def unpack(self, rows: Words) -> list[Any]:
        objects = self.objects
        return [objects[number] for number in rows[:, 0].tolist()]

    def together(self, states: Iterable[Any]) -> list[Any]:
        """Several states as functions of many take them."""
        return list(states)

    def flags(self, states: Sequence[Any]) -> npt.NDArray[np.bool_]:
        return np.array([bool(self.functions.called("is_goal", state)) for state in states])

    def goals(self, rows: Words) -> npt.NDArray[np.bool_]:
        return self.flags(self.unpack(rows))

    def steps(self, state: Any) -> list[tuple[str, Any, float]]:
        return self.functions.steps("successors", state)

    def expand(self, rows: Words) -> tuple[Words, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        # The inner loop of plain spaces: one Python call and one dictionary look-up for each successor.
        numbers: list[int] = []
        costs: list[int] = []
        ends: list[int] = []
        known, functions = self.numbers, self.functions
        for state in self.unpack(rows):
            found = functions.called("successors", state)
            try:
                for _, after, cost in found:
                    number = known.get(after)
                    numbers.append(self.number(after) if number is None else number)
                    plain = cost.__class__ is int and functions.scale == 1 and 0 <= cost <= MOST_COST
                    costs.append(cost if plain else functions.whole_cost(cost, state))
            except (TypeError, ValueError):
                self.steps(state)  # tells what is wrong with the list, or
                self.number(after)  # with the state
                raise
            ends.append(len(numbers))
        return (
            np.array(numbers, dtype=np.uint32).reshape(-1, 1),
            np.array(costs, dtype=np.int32),
            np.array(ends, dtype=np.int32),
        )


class _Rows:
    """States that are rows of an array of one type; a packed state is the bytes of its row."""

    batch = BATCH

    def __init__(self, functions: _Functions) -> None:
        self.functions = functions
        start = np.asarray(functions.space.start)
        if start.ndim > 1 or start.dtype.kind not in "biuf":
            raise InputError(
                f"{functions.name}: start must be a number or a row of numbers, got {start!r:.40}"
            )
        self.scalar = start.ndim == 0  # states are numbers, and arrays of them have one dimension
        self.dtype = start.dtype
        self.width = max(start.size, 1)
        self.words = -(-self.width * self.dtype.itemsize // 4)

    def pack(self, states: Any) -> Words:
        return self._packed(states, "the state")

    def _packed(self, states: Any, what: str) -> Words:
        name = self.functions.name
        try:
            array = np.asarray(states)
            table = array.reshape(len(array), -1)
        except (TypeError, ValueError):
            raise InputError(f"{name}: {what} must be an array of states") from None
        if table.shape[1] != self.width and len(table):
            raise InputError(
                f"{name}: {what} has {table.shape[1]} numbers a state, the start has {self.width}"
            )
        cast = np.ascontiguousarray(table, dtype=self.dtype)
        if cast.dtype != array.dtype and not np.array_equal(cast, table):
            raise InputError(f"{name}: {what} does not fit into {self.dtype}, the type of the start")
        if self.dtype.kind == "f":
            cast = cast + 0.0  # -0.0 and 0.0 are the same state, and have other bytes
        size = self.dtype.itemsize * self.width
        padded = np.zeros((len(cast), self.words * 4), dtype=np.uint8)
        padded[:, :size] = cast.view(np.uint8).reshape(len(cast), size)
        return padded.view(np.uint32)

    def unpack(self, rows: Words) -> npt.NDArray[Any]:
        size = self.dtype.itemsize * self.width
        data = np.ascontiguousarray(rows.view(np.uint8)[:, :size]).view(self.dtype)
        return data[:, 0] if self.scalar else data

    def together(self, states: Any) -> npt.NDArray[Any]:
        """Several states as functions of many take them."""
        return np.asarray(states, dtype=self.dtype)

    def flags(self, states: Any) -> npt.NDArray[np.bool_]:
        states = np.asarray(states, dtype=self.dtype)
        found = np.asarray(self.functions.called("is_goal_batch", states))
        if found.shape != (len(states),):
            raise InputError(
                f"{self.functions.name}.is_goal_batch must return {len(states)} flags, not {found.shape}"
            )
        return found.astype(bool)

    def goals(self, rows: Words) -> npt.NDArray[np.bool_]:
        return self.flags(self.unpack(rows))

    def _successors(self, states: npt.NDArray[Any]) -> tuple[Any, npt.NDArray[np.int64], Any]:
        name = self.functions.name
        found = self.functions.called("successors_batch", states)
        if not isinstance(found, tuple) or len(found) != 3:
            raise InputError(f"{name}.successors_batch must return three arrays: successors, parents, costs")
        after, parents, costs = found
        parents = np.asarray(parents)
        if parents.ndim != 1 or parents.dtype.kind not in "iu" or len(parents) != len(after):
            raise InputError(f"{name}.successors_batch must return the row of its parent for each successor")
        if len(parents) and not (parents.min() >= 0 and parents.max() < len(states)):
            raise InputError(f"{name}.successors_batch: a parent is not in 0..{len(states) - 1}")
        costs = np.broadcast_to(np.asarray(costs), parents.shape)
        if len(parents) > 1 and (parents[1:] < parents[:-1]).any():
            order = np.argsort(parents, kind="stable")
            after, parents, costs = np.asarray(after)[order], parents[order], costs[order]
        return after, parents, costs

    def steps(self, state: Any) -> list[tuple[str, Any, float]]:
        after, _, costs = self._successors(np.asarray([state], dtype=self.dtype))
        names = getattr(self.functions.space, "action_names", None)
        return [
            (str(names[i]) if names is not None and i < len(names) else f"step {i}", one, float(cost))
            for i, (one, cost) in enumerate(zip(after, costs, strict=True))
        ]

    def expand(self, rows: Words) -> tuple[Words, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        states = self.unpack(rows)
        after, parents, costs = self._successors(states)
        packed = self._packed(after, "what successors_batch returns")
        ends = np.searchsorted(parents, np.arange(len(states)), side="right").astype(np.int32)
        return packed, self._costs(costs, parents, states), ends

    def _costs(self, costs: Any, parents: npt.NDArray[np.int64], states: Any) -> npt.NDArray[np.int32]:
        scaled = costs * self.functions.scale
        whole = np.rint(scaled) if costs.dtype.kind == "f" else scaled
        wrong = ~((costs >= 0) & (whole <= MOST_COST) & (np.abs(whole - scaled) <= 1e-9))
        if wrong.any():
            whole = whole.copy()
            for i in np.flatnonzero(wrong).tolist():  # the first that is really wrong is told
                whole[i] = self.functions.whole_cost(costs[i].item(), states[parents[i]])
        return np.ascontiguousarray(whole, dtype=np.int32)
