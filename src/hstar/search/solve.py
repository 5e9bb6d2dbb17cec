"""Runs a search on a problem and validates its plan. A limit that runs out is a status of the `Result`.

The general engines of the core (A*, weighted A*, GBFS, lazy, IDA*, focal) run on every kind of space. Two
kinds have faster engines for some searches, with the same options and the same result: IDA* on native puzzles
(`iterative_deepening.py`) and A* on maps (`grid_astar.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hstar import _core
from hstar.errors import InputError, LimitError
from hstar.limits import limited
from hstar.options import configured, name_options, options_of
from hstar.registry import unknown
from hstar.search.config import SearchConfig, native_limits
from hstar.search.heuristics import anchor, build
from hstar.search.result import EXIT_CODES, Found, Result, proven_ratio, result_of, whole
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
# What is run where a heuristic is named and no search; `with_defaults` has the rest.
DEFAULT_SEARCH = {"task": "gbfs", "puzzle": "idastar", "map": "astar", "own": "astar"}
# Options of the core that have the same name.
_SAME = (
    *("weight", "seed", "preferred", "goal_at_generation", "evaluate_duplicates"),
    *("anytime", "anchor_every", "optimistic", "no_reopen"),
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
    `Max(...)`, `Sum(...)`, a function of a batch of states, or a list of these (then gbfs and lazy alternate
    between them); `alias="lama"` stands for heuristics, search and options. `with_defaults` says what is run
    where heuristic or search is left out; the result tells it as `ran`. Options are given by name, or all at
    once as `config`. `progress` is called about ten times a second, `on_plan` for every plan of an anytime
    search that is better than the last one. Ctrl-C ends the search with status `interrupted`.
    """
    problem = as_problem(problem)
    if options.get("alias") is not None:
        from hstar.search.aliases import find_alias

        heuristic = find_alias(options.pop("alias"))
    ruled = {name: options.pop(name) for name in ("rule", "alpha") if name in options}
    if config is None:
        config = configured(SearchConfig, options)
    elif options:
        raise InputError("give either config or single options, not both")
    if hasattr(heuristic, "steps"):  # an alias
        return heuristic.run(problem, config, progress, on_plan)  # type: ignore[no-any-return]
    several = isinstance(heuristic, list | tuple)
    given = [_ruled(one, **ruled) for one in (heuristic if several else [heuristic])]
    given, search, config = with_defaults(problem.kind, given, search, config)
    names = [info.name for info in searches()]
    if search not in names:
        raise unknown("search", search, names)
    if len(given) == 1 and given[0] is None:
        given = [default_heuristic(problem, search)]
    started = time.monotonic()
    try:
        with limited(config.time_limit, config.memory_limit):
            chosen = [built(problem, one) for one in given]
            network_time = time.monotonic() - started if any(hasattr(one, "build") for one in given) else 0.0
            if search == "focal" and problem.kind == "puzzle":
                config = replace(config, anchor=puzzle_anchor(problem, given[0], config.anchor))
    except LimitError as error:
        return Result(error.status, ran=in_words(search, given, config))
    if config.time_limit is not None:
        left = max(0.0, config.time_limit - (time.monotonic() - started))
        config = replace(config, time_limit=left)
    result = _run(Request(problem, search, chosen, config, progress, on_plan))
    return replace(result, network_time=network_time, ran=in_words(search, given, config))


# What a search takes beside its configuration.
CALLBACKS = {
    "config": ("SearchConfig | None", None, "All options at once, instead of single ones."),
    "progress": ("Progress | None", None, "Function that is called about ten times a second."),
    "on_plan": ("OnPlan | None", None, "Function that is called for every better plan."),
}
_FURTHER = {
    "alias": ("str | None", None, "Named heuristics, search and options, such as lama-first."),
    "rule": ("Any", None, "Rule of a trained model: which number of its estimate the search uses."),
    "alpha": ("float | None", None, "Short for the rule likely:ALPHA."),
}
OPTIONS = options_of(SearchConfig) | _FURTHER
name_options(solve, OPTIONS)


def with_defaults(
    kind: str, heuristics: list[Any], search: str | None, config: SearchConfig
) -> tuple[list[Any], str, SearchConfig]:
    """What is run on a kind of space where no search is named; `[None]` stands for no heuristic.

    A task without a heuristic: `lama-first`, lazy search that alternates between `ff` and `landmarks`, with
    preferred operators and unit costs. A model of a domain: lazy search that alternates between the model and
    `ff`, with preferred operators. A bound, or plans at any time: focal. A weight: wastar. Any other
    model: the search that its recipe recommends.
    """
    if search is not None:
        return heuristics, search, config
    if config.anytime or config.bound is not None:
        return heuristics, "focal", config
    if config.weight != 1:
        return heuristics, "wastar", config
    only = heuristics[0] if len(heuristics) == 1 else ""
    domain = getattr(getattr(only, "space", None), "kind", None) == "domain"
    if kind == "task" and domain:
        return [only, "ff"], "lazy", replace(config, preferred=True)
    if kind == "task" and only is None:
        costs = "one" if config.costs == "normal" else config.costs
        return ["ff", "landmarks"], "lazy", replace(config, preferred=True, costs=costs)
    return heuristics, getattr(only, "search", {}).get("search", DEFAULT_SEARCH[kind]), config


def default_heuristic(problem: Problem, search: str) -> str:
    """The strongest heuristic that the space has by name; a bounded search of tiles has its databases."""
    if problem.kind == "task":
        return "ff"
    if problem.kind == "puzzle" and search == "focal":
        from hstar.search.databases import DATABASES_NAME, has_databases

        if problem.name == "tiles" and has_databases(problem):
            return DATABASES_NAME
    return problem.claims[0].name


def puzzle_anchor(problem: Problem, guide: Any, anchor: Any, *, cache: bool = True) -> Any:
    """What proves the bound of a search on a puzzle that a model guides, or databases by name."""
    if anchor is None and hasattr(guide, "build"):
        anchor = default_heuristic(problem, "focal")
    return built(problem, anchor, cache=cache)


def built(problem: Problem, heuristic: Any, *, cache: bool = True) -> Any:
    """A heuristic as the engines take it: models and databases for this problem."""
    if hasattr(heuristic, "build"):
        return (
            heuristic.build(problem, cache=cache) if hasattr(heuristic, "space") else heuristic.build(problem)
        )
    if problem.kind == "puzzle" and isinstance(heuristic, str) and heuristic == "databases":
        from hstar.search.databases import known_databases

        return known_databases(problem, cache=cache)
    return heuristic


def in_words(search: str, heuristics: Sequence[Any], config: SearchConfig) -> str:
    """What is run, for people."""

    def name(one: Any) -> str:
        return (
            one if isinstance(one, str) else str(getattr(one, "recipe", getattr(one, "name", "a heuristic")))
        )

    preferred = ", preferred operators" if config.preferred else ""
    return f"{search} with {' and '.join(map(name, heuristics))}{preferred}"


def _ruled(heuristic: Any, rule: Any = None, alpha: float | None = None) -> Any:
    if rule is None and alpha is None:
        return heuristic
    if not hasattr(heuristic, "with_rule"):
        raise InputError(f"rule and alpha are for trained models, and {heuristic!r:.40} is none")
    return heuristic.with_rule(rule if alpha is None else f"likely:{alpha}")


@dataclass(frozen=True)
class Request:
    """What an engine is asked for: a search, with heuristics as `built` gives them."""

    problem: Problem
    search: str
    heuristics: Sequence[Any]
    config: SearchConfig
    progress: Progress | None = None
    on_plan: OnPlan | None = None


def _run(request: Request) -> Result:
    """By the fastest engine that can do it."""
    result, kind = None, request.problem.kind
    if kind == "puzzle" and request.search in ("idastar", "focal"):
        from hstar.search import iterative_deepening

        result = iterative_deepening.run(request)
    elif kind == "map" and request.search in ("astar", "wastar"):
        from hstar.search import grid_astar

        result = grid_astar.run(request)
    return general(request) if result is None else result


def general(request: Request) -> Result:
    problem, config, on_plan = request.problem, request.config, request.on_plan
    native = [build(problem, one, config.costs) for one in request.heuristics]
    told = math.inf

    def better(found: _core.FoundPlan) -> None:
        # A plan may be cheaper than the search knows, by a cheaper way to a state on it: it comes once more.
        nonlocal told
        if on_plan is None:
            return
        replayed, bound = problem.replay(found.plan), found.lower_bound / problem.native.unit
        if replayed.cost < told:
            told = replayed.cost
            plan = replayed.plan, replayed.cost, whole(bound), found.time
            on_plan(Found(*plan, problem.unit_cost, tuple(found.plan)))

    found = _core.search(
        problem.native,
        request.search,
        native,
        options=_native_options(request.search, config, problem.kind),
        limits=native_limits(config),
        anchor=anchor(problem, config.anchor, native[0]) if request.search == "focal" else None,
        progress=request.progress,
        on_plan=better,
    )
    return _result(problem, found)


def _native_options(search: str, config: SearchConfig, kind: str) -> _core.SearchOptions:
    options = _core.SearchOptions(**{name: getattr(config, name) for name in _SAME})
    options.ties = config.ties or ("lifo" if search == "focal" and kind == "puzzle" else "fifo")
    options.boost = BOOST.get(search, 0) if config.boost is None else config.boost
    # An anytime search begins with whatever it finds.
    options.bound = (math.inf if config.anytime else 1.0) if config.bound is None else config.bound
    options.batch = config.batch or 0
    if config.max_cost is not None:
        options.max_cost = config.max_cost
    if config.guide_weight is not None:
        options.guide_weight = config.guide_weight
    return options


def _result(problem: Problem, found: _core.SearchResult) -> Result:
    unit = problem.native.unit
    replayed = problem.replay(found.plan) if found.status == "solved" or found.plan else None
    impossible = found.status in ("unsolvable", "incomplete")
    bound = None if impossible or found.lower_bound is None else whole(found.lower_bound / unit)
    if replayed is not None and bound is not None:
        bound = min(bound, replayed.cost)  # a bound in units of the search may be rounded up
    return result_of(
        problem,
        found,
        replayed,
        lower_bound=bound,
        initial_h=None if found.initial_h is None else found.initial_h / unit,
    )


def plan_states(task: Task, actions: Sequence[int]) -> list[list[int]]:
    """The states of a plan, the operators of a `Result`, from the initial one to the last."""
    states = [list(task.core.initial_state)]
    for operator in actions:
        states.append(list(task.core.successor(states[-1], operator)))
    return states
