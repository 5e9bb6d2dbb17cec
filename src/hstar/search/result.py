"""How a search ended: one type for all searches and all spaces."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from hstar.errors import InputError
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
_NOT_COLUMNS = ("states", "explored", "actions", "picture")
# The names that Downward Lab uses.
_LAB = {"plan_cost": "cost", "expanded": "expansions", "evaluated": "evaluations", "peak_memory": "memory"}


def proven_ratio(cost: float, lower_bound: float | None) -> float | None:
    """Cost to lower bound, None if nothing is proven."""
    if lower_bound is None or (lower_bound == 0 and cost > 0):
        return None
    return max(1.0, cost / lower_bound) if cost > 0 else 1.0


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
    plan: tuple[str, ...] | None
    plan_cost: Any  # a whole number where all costs are
    plan_length: int | None
    lower_bound: Any  # on the cost of all plans, where an admissible heuristic proves one
    expanded: int
    evaluated: int
    generated: int
    reopened: int
    dead_ends: int
    anchored: int  # evaluations by the anchor of focal
    initial_h: float | None
    search_time: float  # wall clock
    cpu_time: float  # processor time of the search, of all its threads
    peak_memory: int
    registered_states: int
    state_bytes: int
    memory_before_search: int
    unit_cost: bool
    rounds: int | None = None  # of iterative deepening
    round_bound: int | None = None  # on f, in the last round
    actions: tuple[int, ...] | None = None  # the plan in the numbers of the native space
    states: Sequence[Any] | None = None  # on the plan, start and goal included; not of planning tasks
    explored: Any = None  # on maps: the expanded states in order, if asked for
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
        if self.plan is not None:
            return WITH_PLAN.get(self.status, EXIT_CODES[self.status])
        return EXIT_CODES[self.status]

    @property
    def path(self) -> Any:
        """The states of the plan as an array, one row each, for maps and puzzles; None without a plan."""
        if self.states is None:
            return None
        import numpy as np

        return np.asarray(self.states)

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
        facts = {"status": self.status}
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
        rows = "".join(
            f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in self.summary().items()
        )
        return f"<table>{rows}</table>{self.picture() if self.picture is not None else ''}"
