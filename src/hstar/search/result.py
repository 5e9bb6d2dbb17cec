"""How a search ended: one type for all searches and all spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from hstar import _core
from hstar.errors import InputError
from hstar.spaces.problem import Problem, Replay
from hstar.spaces.validate import format_plan

# Exit codes of the command line, those of Fast Downward.
EXIT_CODES = {
    "solved": 0,
    "unsolvable": 11,
    "incomplete": 12,
    "evaluation_limit": 12,
    "expansion_limit": 12,
    "memory_limit": 22,
    "time_limit": 23,
    "interrupted": 130,
}
# The same when there is a plan, though not the one that was asked for.
WITH_PLAN = {"memory_limit": 2, "time_limit": 3}
# Not columns of a table: too large, or only for people.
_NOT_COLUMNS = ("states", "explored", "values", "actions", "picture")
# The names that Downward Lab uses.
_LAB = {"plan_cost": "cost", "expanded": "expansions", "evaluated": "evaluations", "peak_memory": "memory"}


def whole(number: float) -> float:
    """The number, as an int if it is one."""
    return int(number) if number == int(number) else number


def proven_ratio(cost: float, lower_bound: float | None) -> float | None:
    """Cost to lower bound, None if nothing is proven."""
    if lower_bound is None or (lower_bound == 0 and cost > 0):
        return None
    return max(1.0, cost / lower_bound) if cost > 0 else 1.0


def exit_code(status: str, with_plan: bool) -> int:
    return WITH_PLAN.get(status, EXIT_CODES[status]) if with_plan else EXIT_CODES[status]


@dataclass(frozen=True)
class Found:
    """A plan of an anytime search, better than all before it."""

    plan: tuple[str, ...]
    plan_cost: float
    lower_bound: float  # on the cost of all plans, at this time
    time: float  # seconds from the start of the search
    unit_cost: bool
    actions: tuple[int, ...] = ()

    @property
    def ratio(self) -> float | None:
        """What is proven so far: the cost is at most this many times the optimum."""
        return proven_ratio(self.plan_cost, self.lower_bound)

    def plan_text(self) -> str:
        """The plan in IPC format."""
        return format_plan(self.plan, self.plan_cost, self.unit_cost)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """How a search ended. Times in seconds, memory in bytes.

    `status`: `solved`; `unsolvable` (proved); `incomplete` (nothing left to search, but a heuristic that is
    not safe gave up states); or what stopped it: `time_limit`, `memory_limit`, `evaluation_limit`,
    `expansion_limit`, `interrupted`. A search by `focal` that is stopped may have a plan all the same, whose
    `ratio` is above the bound that was asked for.
    """

    status: str
    plan: tuple[str, ...] | None = None
    plan_cost: Any = None  # a whole number where all costs are
    plan_length: int | None = None
    lower_bound: Any = None  # on the cost of all plans, where an admissible heuristic proves one
    expanded: int = 0
    evaluated: int = 0
    generated: int = 0
    reopened: int = 0
    dead_ends: int = 0
    anchored: int = 0  # evaluations by the anchor of focal
    initial_h: float | None = None
    search_time: float = 0.0  # wall clock
    cpu_time: float = 0.0  # processor time of the search, of all its threads
    network_time: float = 0.0  # wall clock of a trained model before the search: the values of a whole map
    peak_memory: int = field(default_factory=_core.peak_memory)
    registered_states: int = 0
    state_bytes: int = 0
    memory_before_search: int = 0
    unit_cost: bool = False
    ran: str = ""  # search and heuristics in words
    rounds: int | None = None  # of iterative deepening
    round_bound: int | None = None  # on f, in the last round
    actions: tuple[int, ...] | None = None  # the plan in the numbers of the native space
    states: Sequence[Any] | None = None  # on the plan, start and goal included; not of planning tasks
    explored: Any = None  # on maps: the expanded states in order, if asked for
    values: Any = None  # on maps: the values of all states that a trained model or the user gave
    picture: Any = None  # on maps: a function that draws the result as SVG text

    @property
    def solved(self) -> bool:
        """Whether there is a plan as it was asked for."""
        return self.status == "solved"

    @property
    def ratio(self) -> float | None:
        """What is proven about the plan: its cost is at most this many times the optimum."""
        return None if self.plan_cost is None else proven_ratio(self.plan_cost, self.lower_bound)

    @property
    def exit_code(self) -> int:
        """The exit code of the command line, as Fast Downward's."""
        return exit_code(self.status, self.plan is not None)

    @property
    def path(self) -> Any:
        """The states of the plan as an array, one row each, for maps and puzzles; None without a plan."""
        if self.states is None:
            return None
        import numpy as np

        return np.asarray(self.states)

    def found(self, lower_bound: float, time: float) -> Found:
        """The plan for `on_plan`, found so many seconds after the start of the first search."""
        plan = self.plan or (), self.plan_cost, lower_bound, time
        return Found(*plan, self.unit_cost, self.actions or ())

    def plan_text(self) -> str:
        """The plan in IPC format."""
        if self.plan is None or self.plan_cost is None:
            raise InputError(f"there is no plan: {self.status}")
        return format_plan(self.plan, self.plan_cost, self.unit_cost)

    def to_json(self) -> dict[str, Any]:
        """Plain data with the column names that Downward Lab uses."""
        names = [entry.name for entry in fields(self) if entry.name not in _NOT_COLUMNS]
        record = {_LAB.get(name, name): getattr(self, name) for name in names}
        if self.rounds is None:  # not a search by iterative deepening
            record = {name: value for name, value in record.items() if not name.startswith("round")}
        return {"coverage": int(self.solved), **record, "ratio": self.ratio}

    def summary(self) -> dict[str, str]:
        """What a person wants to know first, by name."""
        facts = {"status": self.status, "by": self.ran}
        if self.plan_cost is not None:
            facts["cost"] = f"{self.plan_cost:g} in {self.plan_length} steps"
            known = self.lower_bound
            if known is not None:
                proven = "optimal" if self.ratio == 1 else f"at most {self.ratio:.3g} times the optimum"
                facts["proven"] = f"{proven}: the optimum is in [{known:g}, {self.plan_cost:g}]"
        elif self.lower_bound is not None:
            facts["proven"] = f"no plan costs less than {self.lower_bound:g}"
        facts["expanded"] = f"{self.expanded:,} states"
        facts["evaluated"] = f"{self.evaluated:,} states"
        facts["time"] = f"{self.search_time:.3f} s"
        return facts

    def __repr__(self) -> str:
        return "Result(" + "; ".join(f"{name} {text}" for name, text in self.summary().items()) + ")"

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self.summary().items()
        )
        return f"<table>{rows}</table>{self.picture() if self.picture is not None else ''}"


_SUMMED = ("expanded", "evaluated", "generated", "reopened", "dead_ends", "search_time", "cpu_time")
_COUNTS = (*_SUMMED, "anchored", "initial_h", "registered_states", "state_bytes", "memory_before_search")
_PLAN = ("plan", "plan_cost", "plan_length", "actions", "states")


def result_of(problem: Problem, found: Any, replayed: Replay | None, **more: Any) -> Result:
    """What an engine of the core found, with its plan replayed; `more` are fields that it tells otherwise."""
    told: dict[str, Any] = {name: getattr(found, name) for name in _COUNTS if hasattr(found, name)}
    if replayed is not None:
        told |= {"plan": replayed.plan, "plan_cost": replayed.cost, "states": replayed.states}
        told |= {"plan_length": len(replayed.plan)}
        if hasattr(found, "plan"):
            told["actions"] = tuple(found.plan)
    return Result(**{"status": found.status, "unit_cost": problem.unit_cost, **told, **more})


def together(results: Sequence[Result], best: Result | None) -> dict[str, Any]:
    """Fields of a result for several searches: the counts of all, and the plan of the best one."""
    counts = {name: sum(getattr(result, name) for result in results) for name in _SUMMED}
    return counts | ({} if best is None else {name: getattr(best, name) for name in _PLAN})
