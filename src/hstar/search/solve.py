"""Runs a search and validates what it returns. A limit that runs out is a status of the `Result`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from hstar import _core
from hstar.errors import InputError, PlanError, UnsupportedError
from hstar.options import configured, option
from hstar.registry import unknown
from hstar.search.heuristics import Heuristic, build
from hstar.search.validate import format_plan, validate_sas
from hstar.spaces.task import Task

Progress = Callable[[_core.Progress], None]

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

# What Fast Downward's searches have unless they are told otherwise.
BOOST = {"lazy": 1000, "gbfs": 0}


@dataclass(frozen=True)
class SearchConfig:
    """Options of a search. What does not apply to the chosen search is ignored by it."""

    time_limit: float | None = option(None, "Seconds.")
    memory_limit: int | None = option(None, "Bytes of resident memory.")
    max_evaluations: int | None = option(None, "Evaluated states.")
    max_expansions: int | None = option(None, "Expanded states.")
    weight: float = option(1.0, "Of the heuristic, for wastar: f = g + weight * h.")
    ties: str = option("fifo", "Order among equals: fifo, lifo or random.")
    seed: int = option(0, "Of random ties.")
    preferred: bool = option(False, "Use preferred operators (gbfs, lazy; with ff).")
    boost: int | None = option(None, "Head start of preferred operators after progress (lazy 1000, gbfs 0).")
    goal_at_generation: bool = option(False, "gbfs: test for the goal at generation.")
    evaluate_duplicates: bool = option(False, "gbfs: count an evaluation for duplicates too.")
    bound: float | None = option(None, "focal: proven cost of the plan to the optimum, at most (default 1).")
    anytime: bool = option(False, "focal: better and better plans, until one is optimal or a limit ends it.")
    anchor: str | None = option(None, "focal: the admissible heuristic (default: lmcut if possible).")
    anchor_every: int = option(5, "focal: of so many expansions one is by the anchor; 0: as few as possible.")

    def __post_init__(self) -> None:
        for name, least in (("time_limit", 0), ("weight", 0), ("bound", 1)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and value >= least):
                raise InputError(f"{name} must be a number from {least} on, got {value!r}")
        most = {"max_evaluations": 2**64, "max_expansions": 2**64, "memory_limit": 2**64}
        for name, bound in {**most, "seed": 2**64, "boost": 2**31, "anchor_every": 2**31}.items():
            value = getattr(self, name)
            if value is None and name in (*most, "boost"):
                continue
            if not isinstance(value, int | float) or value != value // 1 or not 0 <= value < bound:
                raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
            object.__setattr__(self, name, int(value))  # 1e6 is a whole number, too


@dataclass(frozen=True)
class Result:
    """How a search ended. Times in seconds, memory in bytes.

    `status`: `solved`; `unsolvable` (proved); `incomplete` (nothing left to search, but a heuristic that is
    not safe gave up states); or what stopped it: `time_limit`, `memory_limit`, `evaluation_limit`,
    `expansion_limit`, `interrupted`. A search by `focal` that is stopped may have a plan all the same, whose
    `ratio` is above the bound that was asked for.
    """

    status: str
    plan: tuple[str, ...] | None
    plan_cost: int | None
    plan_length: int | None
    lower_bound: int | None  # on the cost of all plans, where an admissible heuristic proves one
    expanded: int
    evaluated: int
    generated: int
    reopened: int
    dead_ends: int
    anchored: int  # evaluations by the anchor of focal
    initial_h: float | None
    search_time: float  # wall clock
    cpu_time: float  # processor time of the search
    peak_memory: int
    registered_states: int
    state_bytes: int
    memory_before_search: int
    unit_cost: bool

    @property
    def solved(self) -> bool:
        """Whether there is a plan."""
        return self.status == "solved"

    @property
    def ratio(self) -> float | None:
        """What is proven about the plan: its cost is at most this many times the optimum."""
        return None if self.plan_cost is None else proven_ratio(self.plan_cost, self.lower_bound)

    @property
    def exit_code(self) -> int:
        """As Fast Downward's."""
        if self.plan is not None:
            return WITH_PLAN.get(self.status, EXIT_CODES[self.status])
        return EXIT_CODES[self.status]

    def plan_text(self) -> str:
        """The plan in IPC format."""
        if self.plan is None or self.plan_cost is None:
            raise InputError(f"there is no plan: {self.status}")
        return format_plan(self.plan, self.plan_cost, self.unit_cost)

    def to_json(self) -> dict[str, Any]:
        """Plain data with the column names that Downward Lab uses."""
        lab = {
            "plan_cost": "cost",
            "expanded": "expansions",
            "evaluated": "evaluations",
            "peak_memory": "memory",
        }
        record = {lab.get(name, name): value for name, value in asdict(self).items()}
        return {"coverage": int(self.solved), **record, "ratio": self.ratio}


@dataclass(frozen=True)
class Found:
    """A plan of an anytime search, better than all before it."""

    plan: tuple[str, ...]
    plan_cost: int
    lower_bound: int  # at this time
    time: float  # seconds from the start of the search
    unit_cost: bool

    @property
    def ratio(self) -> float | None:
        """What is proven so far: the cost is at most this many times the optimum."""
        return proven_ratio(self.plan_cost, self.lower_bound)

    def plan_text(self) -> str:
        """The plan in IPC format."""
        return format_plan(self.plan, self.plan_cost, self.unit_cost)


def proven_ratio(cost: int, lower_bound: int | None) -> float | None:
    """Cost to lower bound, None if nothing is proven."""
    if lower_bound is None or (lower_bound == 0 and cost > 0):
        return None
    return cost / lower_bound if cost > 0 else 1.0


def searches() -> list[_core.SearchInfo]:
    """All searches with what they claim."""
    return _core.searches()


def solve(
    task: Task,
    heuristic: Heuristic | Sequence[Heuristic] = "ff",
    search: str = "gbfs",
    *,
    config: SearchConfig | None = None,
    progress: Progress | None = None,
    on_plan: Callable[[Found], None] | None = None,
    **options: Any,
) -> Result:
    """Searches for a plan.

    `heuristic` is a name, `Max(...)`, `Sum(...)`, a function of a batch of states, or a list of these (then
    gbfs and lazy alternate between them). `options` are the fields of `SearchConfig`. `progress` is called
    about ten times a second, `on_plan` for every plan of an anytime search that is better than the last one.
    Ctrl-C ends the search with status `interrupted`.
    """
    names = [info.name for info in searches()]
    if search not in names:
        raise unknown("search", search, names)
    if config is None:
        config = configured(SearchConfig, options)
    elif options:
        raise InputError("give either config or single options, not both")
    several = isinstance(heuristic, list | tuple)
    chosen = cast("Sequence[Heuristic]", heuristic) if several else [cast("Heuristic", heuristic)]
    native = [build(task, one) for one in chosen]
    settings = asdict(config)
    if config.boost is None:
        settings["boost"] = BOOST.get(search, 0)
    if config.bound is None:  # an anytime search begins with whatever it finds
        settings["bound"] = math.inf if config.anytime else 1.0
    settings["anchor"] = _anchor(task, config.anchor, native[0]) if search == "focal" else None

    told = math.inf

    def better(found: _core.FoundPlan) -> None:
        # A plan may be cheaper than the search knows, by a cheaper way to a state on it: it comes once more.
        nonlocal told
        if on_plan is None:
            return
        plan, cost = _validated(task, found.plan)
        if cost < told:
            told = cost
            on_plan(Found(plan, cost, found.lower_bound, found.time, task.core.unit_cost))

    found = _core.search(task.core, search, native, progress=progress, on_plan=better, **settings)
    return _result(task, found)


def plan_states(task: Task, plan: Sequence[str]) -> list[list[int]]:
    """The states of a plan that `solve` returned, from the initial one to the last.

    Of several operators with one name it takes one that is applicable.
    """
    named: dict[str, list[int]] = {}
    for number in range(task.core.num_operators):
        named.setdefault(task.core.operator(number).name.strip(), []).append(number)
    states = [list(task.core.initial_state)]
    for name in plan:
        possible = set(task.core.applicable_operators(states[-1]))
        operator = next(number for number in named[name] if number in possible)
        states.append(list(task.core.successor(states[-1], operator)))
    return states


def _anchor(task: Task, name: str | None, guide: _core.Heuristic) -> _core.Heuristic | None:
    """The admissible heuristic of a bounded search; none if the guide is one and no other was asked for."""
    if name is not None:
        anchor = build(task, name)
        if not anchor.admissible:
            able = ", ".join(info.name for info in _core.heuristics() if info.admissible)
            raise InputError(f"the anchor must be admissible, and {name} is not; use one of {able}")
        return anchor
    if guide.admissible:
        return None
    for name in ("lmcut", "hmax"):
        with contextlib.suppress(UnsupportedError):  # conditional effects, axioms
            return build(task, name)
    return build(task, "blind")


def _validated(task: Task, operators: Sequence[int]) -> tuple[tuple[str, ...], int]:
    """Names of the steps, and their cost."""
    verdict = validate_sas(task.core, operators)
    if not verdict.valid:
        raise PlanError(f"the search returned an invalid plan: {verdict.reason}")
    # The translator ends the names of actions without parameters with a space.
    return tuple(task.core.operator(op).name.strip() for op in operators), verdict.cost


def _result(task: Task, found: _core.SearchResult) -> Result:
    plan = cost = length = None
    if found.status == "solved" or found.plan:
        plan, cost = _validated(task, found.plan)
        length = len(plan)
    impossible = found.status in ("unsolvable", "incomplete")
    return Result(
        status=found.status,
        plan=plan,
        plan_cost=cost,
        plan_length=length,
        lower_bound=None if impossible else found.lower_bound,
        expanded=found.expanded,
        evaluated=found.evaluated,
        generated=found.generated,
        reopened=found.reopened,
        dead_ends=found.dead_ends,
        anchored=found.anchored,
        initial_h=found.initial_h,
        search_time=found.search_time,
        cpu_time=found.cpu_time,
        peak_memory=_core.peak_memory(),
        registered_states=found.registered_states,
        state_bytes=found.state_bytes,
        memory_before_search=found.memory_before_search,
        unit_cost=task.core.unit_cost,
    )
