"""Plans of native puzzles with a proven bound: an admissible heuristic proves what any other one finds.

The guide, a network or a symbolic heuristic, searches for a plan; the anchor, an admissible heuristic, shows
that no plan costs less than `lower_bound`. The search ends when the cost is at most `bound` times that. There
are two ways to prove:

- `queue`: `core/search/focal_search.h`, the search of `hstar solve --bound`. Open states are in memory.
- `rounds`: the guide finds a plan of cost C by optimistic search, and rounds of IDA* with the anchor show
  that no plan costs less than C / bound. A round that finds a plan has found an optimal one. If the guide
  finds nothing in its share of expansions, IDA* alone decides; so memory is never what ends it.

Measured on the 15-puzzle (benchmarks/bounded.py, RESULTS.md): a round of IDA* looks at a state in a tenth of
the time of a queue, and raises the lower bound without memory, which pays where the guide is as good as the
anchor. A guide that is not finds plans too long to be proven cheaply, unless FOCAL holds it back. So `rounds`
is the default where the guide is the anchor and IDA* has an automaton against duplicates, `queue` elsewhere.

Every plan is replayed in Python before it is returned, by code that shares nothing with the core.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hstar import _core
from hstar.errors import InputError
from hstar.options import configured, option
from hstar.registry import unknown
from hstar.search.idastar import Progress, PuzzleHeuristic, native_heuristic
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.solve import proven_ratio
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzle import Puzzle, replay


@dataclass(frozen=True)
class FocalConfig:
    """Options of the search."""

    bound: float | None = option(None, "Proven cost of the plan to the optimum, at most (default 1).")
    anytime: bool = option(False, "Better and better plans, until one is optimal or a limit ends it.")
    anchor_every: int = option(5, "Of so many expansions one is by the anchor; 0: as few as possible.")
    proof: str | None = option(None, "queue or rounds (default: rounds if the guide is the anchor).")
    guide_weight: float | None = option(
        None,
        "Of the guide beside the cost so far; inf: the guide alone (inf; in rounds 2W - 1, at least 1.4).",
    )
    optimistic: bool = option(False, "Take any open state until there is a plan; rounds always do.")
    time_limit: float | None = option(None, "Seconds.")
    memory_limit: int | None = option(None, "Bytes of resident memory.")
    max_evaluations: int | None = option(None, "Evaluated states.")
    max_expansions: int | None = option(None, "Expanded states.")

    def __post_init__(self) -> None:
        for name, least in (("time_limit", 0), ("bound", 1), ("guide_weight", 0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and value >= least):
                raise InputError(f"{name} must be a number from {least} on, got {value!r}")
        if self.proof not in (None, "queue", "rounds"):
            raise unknown("proof", str(self.proof), ["queue", "rounds"])
        if self.proof == "rounds" and self.anytime:
            raise InputError("rounds prove one plan; an anytime search needs proof by the queue")
        for name in ("memory_limit", "max_evaluations", "max_expansions", "anchor_every"):
            value = getattr(self, name)
            if value is None and name != "anchor_every":
                continue
            most = 2**31 if name == "anchor_every" else 2**63
            if not isinstance(value, int | float) or value != value // 1 or not 0 <= value < most:
                raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
            object.__setattr__(self, name, int(value))  # 1e6 is a whole number, too


@dataclass(frozen=True)
class FoundPlan:
    """A plan of an anytime search, better than all before it."""

    plan: tuple[int, ...]  # actions
    plan_cost: int
    lower_bound: int  # at this time
    time: float  # seconds from the start of the search

    @property
    def ratio(self) -> float | None:
        """What is proven so far: the cost is at most this many times the optimum."""
        return proven_ratio(self.plan_cost, self.lower_bound)


@dataclass(frozen=True)
class FocalResult:
    """How a search ended, in the words of `Result`. Times in seconds, memory in bytes.

    `status`: `solved`, or what stopped it: `time_limit`, `memory_limit`, `evaluation_limit`,
    `expansion_limit`, `interrupted`. A search that is stopped may have a plan all the same, whose `ratio` is
    above the bound that was asked for.
    """

    status: str
    actions: tuple[int, ...] | None
    plan: tuple[str, ...] | None  # the same in words
    plan_cost: int | None
    lower_bound: int | None  # on the cost of all plans; None if nothing was done
    expanded: int
    evaluated: int
    generated: int
    reopened: int
    initial_h: int  # of the guide
    search_time: float  # wall clock
    cpu_time: float  # processor time of the search
    registered_states: int
    state_bytes: int

    @property
    def solved(self) -> bool:
        """Whether there is a plan, proven as it was asked for."""
        return self.status == "solved"

    @property
    def ratio(self) -> float | None:
        """What is proven about the plan: its cost is at most this many times the optimum."""
        return None if self.plan_cost is None else proven_ratio(self.plan_cost, self.lower_bound)


def focal(
    puzzle: Puzzle,
    guide: PuzzleHeuristic,
    anchor: PuzzleHeuristic | None = None,
    config: FocalConfig | None = None,
    *,
    progress: Progress | None = None,
    on_plan: Callable[[FoundPlan], None] | None = None,
    **options: Any,
) -> FocalResult:
    """Searches for a plan whose cost is proven to be at most `bound` times the optimum.

    `guide` and `anchor` are heuristics of the puzzle: names, databases, the guide also a `PuzzleNetwork`.
    Without an anchor the guide proves, if it is admissible, else the first heuristic of the puzzle. `options`
    are the fields of `FocalConfig`. `progress` is called about ten times a second, `on_plan` for every plan
    that is better than the last one. Ctrl-C ends the search with status `interrupted`.
    """
    if config is None:
        config = configured(FocalConfig, options)
    elif options:
        raise InputError("give either config or single options, not both")
    if isinstance(anchor, PuzzleNetwork):
        raise InputError("the anchor must be admissible, and a network is not")
    if anchor is None and isinstance(guide, PuzzleNetwork):
        anchor = puzzle.core.heuristics[0].name
    same = anchor is None or anchor is guide or (isinstance(anchor, str) and anchor == guide)
    proof = config.proof
    if proof is None:
        proof = "rounds" if same and not config.anytime and not isinstance(puzzle, Blocks) else "queue"

    told = math.inf

    def better(found: FoundPlan | _core.FoundPlan) -> None:
        # A plan may be shorter than the search knows, by a cheaper way to a state on it: it comes once more.
        nonlocal told
        if on_plan is not None and len(found.plan) < told:
            told = len(found.plan)
            replay(puzzle, found.plan)
            on_plan(FoundPlan(tuple(found.plan), len(found.plan), found.lower_bound, found.time))

    native = (
        native_heuristic(puzzle, guide),
        None if same or anchor is None else native_heuristic(puzzle, anchor),
    )
    if proof == "queue":
        bound = math.inf if config.anytime else 1.0  # an anytime search begins with whatever it finds
        settings = {
            "bound": bound if config.bound is None else config.bound,
            "anytime": config.anytime,
            "anchor_every": config.anchor_every,
            "guide_weight": math.inf if config.guide_weight is None else config.guide_weight,
            "optimistic": config.optimistic,
            **_limits(config),
        }
        found = _Outcome.of(
            _core_of(puzzle).focal(puzzle.start, *native, progress=progress, on_plan=better, **settings)
        )
    else:
        found = _by_rounds(puzzle, *native, config, progress, better)
    actions = None if found.plan is None else tuple(found.plan)
    if actions is not None:
        replay(puzzle, actions)
    return FocalResult(
        status=found.status,
        actions=actions,
        plan=None if actions is None else tuple(puzzle.action_name(action) for action in actions),
        plan_cost=None if actions is None else len(actions),
        lower_bound=found.lower_bound,
        expanded=found.expanded,
        evaluated=found.evaluated,
        generated=found.generated,
        reopened=found.reopened,
        initial_h=found.initial_h,
        search_time=found.search_time,
        cpu_time=found.cpu_time,
        registered_states=found.registered_states,
        state_bytes=found.state_bytes,
    )


_GUIDE_EXPANSIONS = 200_000  # of rounds: tenths of a second and tens of megabytes; then IDA* goes on alone
_LEAST_WEIGHT = 1.4  # of the guide in rounds: with less a plan costs more than its proof


@dataclass(frozen=True)
class _Outcome:
    """What the core found."""

    status: str
    plan: list[int] | None
    lower_bound: int | None
    expanded: int
    evaluated: int
    generated: int
    reopened: int
    initial_h: int
    search_time: float
    cpu_time: float
    registered_states: int
    state_bytes: int

    @classmethod
    def of(cls, found: _core.SearchResult) -> _Outcome:
        return cls(
            status=found.status,
            plan=found.plan if found.status == "solved" or found.plan else None,
            lower_bound=found.lower_bound,
            expanded=found.expanded,
            evaluated=found.evaluated,
            generated=found.generated,
            reopened=found.reopened,
            initial_h=int(found.initial_h or 0),
            search_time=found.search_time,
            cpu_time=found.cpu_time,
            registered_states=found.registered_states,
            state_bytes=found.state_bytes,
        )


def _core_of(puzzle: Puzzle) -> Any:
    return puzzle.core  # each kind has databases and networks of its own


def _limits(config: FocalConfig) -> dict[str, Any]:
    names = ("time_limit", "memory_limit", "max_evaluations", "max_expansions")
    return {name: getattr(config, name) for name in names}


def _by_rounds(
    puzzle: Puzzle,
    guide: Any,
    anchor: Any | None,
    config: FocalConfig,
    progress: Progress | None,
    better: Callable[[FoundPlan | _core.FoundPlan], None],
) -> _Outcome:
    bound = 1.0 if config.bound is None else config.bound
    weight = max(_LEAST_WEIGHT, 2 * bound - 1) if config.guide_weight is None else config.guide_weight
    # 1. A plan, within the share of the guide.
    limits = _limits(config)
    limits["max_expansions"] = min(_GUIDE_EXPANSIONS, limits["max_expansions"] or _GUIDE_EXPANSIONS)
    first = _Outcome.of(
        _core_of(puzzle).focal(
            puzzle.start,
            guide,
            anchor,
            bound=math.inf,
            guide_weight=weight,
            optimistic=True,
            progress=progress,
            on_plan=better,
            **limits,
        )
    )
    ended = first.status in ("interrupted", "time_limit", "evaluation_limit") or (
        first.status == "expansion_limit" and limits["max_expansions"] == config.max_expansions
    )
    if ended or first.lower_bound is None:
        return first
    # 2. What no plan may cost less than, for the plan to be proven; without a plan, an optimal one.
    needed = None if first.plan is None else math.ceil(len(first.plan) / bound * (1 - 1e-12))
    if needed is not None and first.lower_bound >= needed:
        return first
    # 3. Rounds up to there.
    left = None if config.time_limit is None else max(0.0, config.time_limit - first.search_time)
    counts = [
        limit - done
        for limit, done in (
            (config.max_evaluations, first.evaluated),
            (config.max_expansions, first.expanded),
        )
        if limit is not None
    ]
    rounds: _core.DeepeningResult = _core_of(puzzle).idastar(
        puzzle.start,
        guide if anchor is None else anchor,
        pruning="undo" if isinstance(puzzle, Blocks) else "automaton",
        greatest_bound=None if needed is None else needed - 1,
        time_limit=left,
        max_evaluations=min(counts) if counts else None,  # evaluated states are more than expanded ones
        progress=progress,
    )
    status = "solved" if rounds.status == "incomplete" else rounds.status
    if status == "evaluation_limit" and config.max_evaluations is None:
        status = "expansion_limit"
    search_time = first.search_time + rounds.search_time
    if status == rounds.status == "solved":
        better(FoundPlan(tuple(rounds.plan), len(rounds.plan), rounds.lower_bound, search_time))
    return replace(
        first,
        status=status,
        plan=rounds.plan if rounds.status == "solved" else first.plan,
        lower_bound=max(first.lower_bound, rounds.lower_bound),
        expanded=first.expanded + rounds.expanded,
        evaluated=first.evaluated + rounds.generated,
        generated=first.generated + rounds.generated,
        search_time=search_time,
        cpu_time=first.cpu_time + rounds.cpu_time,
    )
