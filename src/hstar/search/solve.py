"""Runs a search on a problem and validates its plan. A limit that runs out is a status of the `Result`.

The general engines of the core (A*, weighted A*, GBFS, lazy, IDA*, focal) run on every kind of space. Two
kinds have faster engines for some searches, with the same options and the same result: IDA* on native puzzles
(`iterative_deepening.py`) and A* on maps (`grid_astar.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hstar import _core
from hstar.errors import InputError
from hstar.options import configured
from hstar.registry import unknown
from hstar.search.config import SearchConfig, native_limits
from hstar.search.heuristics import anchor, build
from hstar.search.result import EXIT_CODES, Found, Result, proven_ratio
from hstar.spaces.problem import Problem
from hstar.spaces.task import Task

__all__ = [
    "EXIT_CODES",
    "Found",
    "Result",
    "SearchConfig",
    "plan_states",
    "proven_ratio",
    "searches",
    "solve",
]

Progress = Callable[[_core.Progress], None]
OnPlan = Callable[[Found], None]

# What Fast Downward's searches have unless they are told otherwise.
BOOST = {"lazy": 1000, "gbfs": 0}
# What is run where neither heuristic nor search is named.
DEFAULT_SEARCH = {"task": "gbfs", "puzzle": "idastar", "map": "astar", "own": "astar"}
# Options of the core that have the same name.
_SAME = (
    *("weight", "seed", "preferred", "goal_at_generation", "evaluate_duplicates"),
    *("anytime", "anchor_every", "optimistic"),
)


def searches() -> list[_core.SearchInfo]:
    """All searches with what they claim."""
    return _core.searches()


def as_problem(problem: Any) -> Problem:
    """The problem, or a user's own space as one; an `InputError` for anything else."""
    if hasattr(problem, "native") and hasattr(problem, "claims"):
        return problem  # type: ignore[no-any-return]
    from hstar.spaces.own import OwnProblem, is_own_space

    if is_own_space(problem):
        return OwnProblem(problem)
    raise InputError(
        f"not a problem: {problem!r:.60}; use hstar.load, or an object with start and successors"
    )


def solve(
    problem: Any,
    heuristic: Any = None,
    search: str | None = None,
    *,
    config: SearchConfig | None = None,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
    **options: Any,
) -> Result:
    """Searches for a plan.

    `problem` is what `hstar.load` returns, or an own space. `heuristic` is a name, a trained model,
    `Max(...)`, `Sum(...)`, a function of a batch of states, or a list of these (then gbfs
    and lazy alternate between them). Without one it is `ff` for tasks and the strongest named one elsewhere.
    `options` are the fields of `SearchConfig`, and `rule` and `alpha` for trained models. `progress` is
    called about ten times a second, `on_plan` for every plan of an anytime search that is better than the
    last one. Ctrl-C ends the search with status `interrupted`.
    """
    problem = as_problem(problem)
    ruled = {name: options.pop(name) for name in ("rule", "alpha") if name in options}
    if config is None:
        config = configured(SearchConfig, options)
    elif options:
        raise InputError("give either config or single options, not both")
    several = isinstance(heuristic, list | tuple)
    chosen = [_ruled(one, **ruled) for one in (heuristic if several else [heuristic])]
    if search is None and len(chosen) == 1:  # what the recipe of a trained model recommends
        search = getattr(chosen[0], "search", {}).get("search")
    chosen = [one.build(problem) if hasattr(one, "build") else one for one in chosen]
    if len(chosen) == 1 and chosen[0] is None:
        chosen = ["ff" if problem.kind == "task" else problem.claims[0].name]
    names = [info.name for info in searches()]
    if search is None:
        search = DEFAULT_SEARCH[problem.kind]
    if search not in names:
        raise unknown("search", search, names)
    return _engine(problem, search, chosen, config)(
        problem, search, chosen, config=config, progress=progress, on_plan=on_plan
    )


def _ruled(heuristic: Any, rule: Any = None, alpha: float | None = None) -> Any:
    """A trained model with another rule."""
    if rule is None and alpha is None:
        return heuristic
    if not hasattr(heuristic, "with_rule"):
        raise InputError(f"rule and alpha are for trained models, and {heuristic!r:.40} is none")
    return heuristic.with_rule(rule if alpha is None else f"likely:{alpha}")


def _engine(problem: Problem, search: str, chosen: list[Any], config: SearchConfig) -> Callable[..., Result]:
    if problem.kind == "puzzle" and search in ("idastar", "focal"):
        from hstar.search import iterative_deepening

        return iterative_deepening.engine(problem, search, chosen, config) or general
    if problem.kind == "map" and search in ("astar", "wastar"):
        from hstar.search import grid_astar

        return grid_astar.engine(problem, chosen) or general
    return general


def general(
    problem: Problem,
    search: str,
    chosen: Sequence[Any],
    *,
    config: SearchConfig,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
) -> Result:
    """A search by one of the general engines."""
    native = [build(problem, one) for one in chosen]
    options, limits = native_options(search, config, problem.kind), native_limits(config)
    told = math.inf

    def better(found: _core.FoundPlan) -> None:
        # A plan may be cheaper than the search knows, by a cheaper way to a state on it: it comes once more.
        nonlocal told
        if on_plan is None:
            return
        replayed, bound = problem.replay(found.plan), found.lower_bound / problem.native.unit
        if replayed.cost < told:
            told = replayed.cost
            plan = replayed.plan, replayed.cost, _whole(bound), found.time
            on_plan(Found(*plan, problem.unit_cost, tuple(found.plan)))

    found = _core.search(
        problem.native,
        search,
        native,
        options=options,
        limits=limits,
        anchor=anchor(problem, config.anchor, native[0]) if search == "focal" else None,
        progress=progress,
        on_plan=better,
    )
    return result_of(problem, found)


def native_options(search: str, config: SearchConfig, kind: str) -> _core.SearchOptions:
    """The options as the core takes them."""
    options = _core.SearchOptions()
    for name in _SAME:
        setattr(options, name, getattr(config, name))
    options.ties = config.ties or ("lifo" if search == "focal" and kind == "puzzle" else "fifo")
    options.boost = BOOST.get(search, 0) if config.boost is None else config.boost
    # An anytime search begins with whatever it finds.
    options.bound = (math.inf if config.anytime else 1.0) if config.bound is None else config.bound
    options.batch = config.batch or 0
    if config.guide_weight is not None:
        options.guide_weight = config.guide_weight
    return options


def result_of(problem: Problem, found: _core.SearchResult, **more: Any) -> Result:
    """What the core found, its plan replayed."""
    unit = problem.native.unit
    replayed = problem.replay(found.plan) if found.status == "solved" or found.plan else None
    impossible = found.status in ("unsolvable", "incomplete")
    bound = None if impossible or found.lower_bound is None else _whole(found.lower_bound / unit)
    if replayed is not None and bound is not None:
        bound = min(bound, replayed.cost)  # a bound in units of the search may be rounded up
    return Result(
        status=found.status,
        plan=None if replayed is None else replayed.plan,
        plan_cost=None if replayed is None else replayed.cost,
        plan_length=None if replayed is None else len(replayed.plan),
        lower_bound=bound,
        expanded=found.expanded,
        evaluated=found.evaluated,
        generated=found.generated,
        reopened=found.reopened,
        dead_ends=found.dead_ends,
        anchored=found.anchored,
        initial_h=None if found.initial_h is None else found.initial_h / unit,
        search_time=found.search_time,
        cpu_time=found.cpu_time,
        peak_memory=_core.peak_memory(),
        registered_states=found.registered_states,
        state_bytes=found.state_bytes,
        memory_before_search=found.memory_before_search,
        unit_cost=problem.unit_cost,
        actions=None if replayed is None else tuple(found.plan),
        states=None if replayed is None else replayed.states,
        **more,
    )


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


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
