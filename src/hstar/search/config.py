"""Options of all searches, in one place. A search ignores the options of other searches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hstar import _core
from hstar.errors import InputError
from hstar.options import Checked, option

if TYPE_CHECKING:
    from hstar.search.result import Result

_LONG, _INT = 2**64 - 1, 2**31 - 1  # the greatest whole numbers that the core takes
_FROM_0, _FROM_1 = ({"least": least, "most": math.inf} for least in (0, 1))


@dataclass(frozen=True)
class SearchConfig(Checked):
    """Options of a search; those that a search does not have are ignored by it."""

    time_limit: float | None = option(None, "Stop after this many seconds of wall-clock time.", **_FROM_0)
    cpu_time_limit: float | None = option(
        None,
        "Stop after this many seconds of CPU time of the search, however busy the machine is.",
        **_FROM_0,
    )
    memory_limit: int | None = option(
        None, "Stop when the process has this many bytes of resident memory.", most=_LONG
    )
    max_evaluations: int | None = option(None, "Stop after this many evaluated states.", most=_LONG)
    max_expansions: int | None = option(None, "Stop after this many expanded states.", most=_LONG)
    weight: float = option(1.0, "Weight of the heuristic in wastar: f = g + weight * h.", least=0, most=1e6)
    ties: str | None = option(
        None,
        "Order among equally good states: fifo, lifo or random (default fifo; lifo for focal on puzzles).",
        words=("fifo", "lifo", "random"),
    )
    seed: int = option(0, "Seed of the order among equally good states, if ties are random.", most=_LONG)
    preferred: bool = option(False, "Use preferred operators (gbfs and lazy on tasks, with ff or landmarks).")
    costs: str = option(
        "normal",
        "What operators cost for add, ff and landmarks: normal, one, or plusone (1 more, unless all cost 1).",
        words=("normal", "one", "plusone"),
    )
    max_cost: int | None = option(None, "lazy: find only plans that cost less than this.", most=_INT)
    boost: int | None = option(
        None,
        "Head start of preferred operators after progress (default 1000 for lazy, 0 for gbfs).",
        most=_INT,
    )
    goal_at_generation: bool = option(False, "gbfs: test for the goal when a state is generated.")
    evaluate_duplicates: bool = option(False, "gbfs: count an evaluation for duplicates, too.")
    batch: int | None = option(
        None,
        "astar, wastar, gbfs: states that are expanded together (default 1; 1024 for vectorised own spaces).",
        most=_INT,
    )
    no_reopen: bool = option(
        False,
        "astar, wastar: expand no state twice. Plans may cost more, and less is proven of them.",
    )
    bound: float | None = option(
        None,
        "focal: the plan's cost is proven to be at most this many times the optimum (default 1).",
        **_FROM_1,
    )
    anytime: bool = option(
        False, "focal: return better and better plans until one is optimal or a limit is reached."
    )
    anchor: Any = field(
        default=None,
        metadata={
            "help": "focal: the admissible heuristic that proves the bound (default: the strongest one)."
        },
    )
    anchor_every: int = option(
        5, "focal: every n-th expansion is the anchor's choice; 0: as few as possible.", most=_INT
    )
    proof: str | None = option(
        None,
        "focal on puzzles: prove by the queue or by rounds of IDA* (rounds if the guide is admissible).",
        words=("queue", "rounds"),
    )
    guide_weight: float | None = option(
        None,
        "focal, lazy: order by g + this * h (default: h alone; in rounds 2 * bound - 1, at least 1.4).",
        **_FROM_0,
    )
    optimistic: bool = option(False, "focal: expand any open state until there is a plan; rounds always do.")
    pruning: str = option(
        "undo",
        "idastar on puzzles: moves not to follow: none, undo (of the last move) or automaton.",
        words=("none", "undo", "automaton"),
    )
    table_bytes: int = option(
        0, "idastar on puzzles: bytes of memory for a table of seen states; 0: no table."
    )
    threads: int = option(
        1,
        "idastar on puzzles: threads that share the tree of a round; plan and counts do not depend on them.",
        least=1,
        most=1024,
    )
    eps: float | None = option(
        None,
        "astar on maps: keep values of a map, or dijkstra, within eps times the admissible heuristic.",
        **_FROM_1,
    )
    explored: bool = option(False, "astar on maps: keep the expanded states in order, for pictures.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threads > 1 and self.table_bytes:
            raise InputError("threads and a table of seen states do not go together")
        if self.threads > 1 and self.cpu_time_limit is not None:
            raise InputError("a limit on CPU time is for searches by one thread")
        if self.proof == "rounds" and self.anytime:
            raise InputError("rounds prove one plan; an anytime search needs proof by the queue")


# Each limit as the core names it, and what a result has used of it.
_LIMITS = {
    "time_limit": ("time", "search_time"),
    "cpu_time_limit": ("cpu_time", "cpu_time"),
    "memory_limit": ("memory", None),
    "max_evaluations": ("evaluations", "evaluated"),
    "max_expansions": ("expansions", "expanded"),
}


def native_limits(config: Any) -> _core.Limits:
    """The limits of these or of other options as the core takes them; None, or no such field, is no limit."""
    given = {native: getattr(config, name, None) for name, (native, _) in _LIMITS.items()}
    return _core.Limits(**{native: value for native, value in given.items() if value is not None})


def limits_left(config: SearchConfig, results: Sequence[Result]) -> dict[str, Any]:
    """The limits without what these searches have used of them."""
    left = {}
    for name, (_, used) in _LIMITS.items():
        limit = getattr(config, name)
        if limit is not None and used is not None:
            limit = max(0, limit - sum(getattr(result, used) for result in results))
        left[name] = limit
    return left
