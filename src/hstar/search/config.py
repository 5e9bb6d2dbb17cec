"""Options of all searches, in one place. A search ignores the options of other searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hstar.errors import InputError
from hstar.options import check_number, option, whole_number
from hstar.registry import unknown

MOST_THREADS = 1024
TIES = ("fifo", "lifo", "random")
PRUNINGS = ("none", "undo", "automaton")
PROOFS = ("queue", "rounds")
# The greatest whole number that the core takes for each option; None is allowed where it is in _OPTIONAL.
_WHOLE = {
    "max_evaluations": 2**64 - 1,
    "max_expansions": 2**64 - 1,
    "memory_limit": 2**64 - 1,
    "seed": 2**64 - 1,
    "boost": 2**31 - 1,
    "anchor_every": 2**31 - 1,
    "batch": 2**31 - 1,
    "table_bytes": 2**63 - 1,
}
_OPTIONAL = ("max_evaluations", "max_expansions", "memory_limit", "boost", "batch")


@dataclass(frozen=True)
class SearchConfig:
    """Options of a search; those that a search does not have are ignored by it."""

    time_limit: float | None = option(None, "Stop after this many seconds of wall-clock time.")
    cpu_time_limit: float | None = option(
        None, "Stop after this many seconds of CPU time of the search, however busy the machine is."
    )
    memory_limit: int | None = option(None, "Stop when the process has this many bytes of resident memory.")
    max_evaluations: int | None = option(None, "Stop after this many evaluated states.")
    max_expansions: int | None = option(None, "Stop after this many expanded states.")
    weight: float = option(1.0, "Weight of the heuristic in wastar: f = g + weight * h.")
    ties: str | None = option(
        None,
        "Order among equally good states: fifo, lifo or random (default fifo; lifo for focal on puzzles).",
    )
    seed: int = option(0, "Seed of random ties.")
    preferred: bool = option(False, "Use preferred operators (gbfs and lazy on tasks, with ff).")
    boost: int | None = option(
        None, "Head start of preferred operators after progress (default 1000 for lazy, 0 for gbfs)."
    )
    goal_at_generation: bool = option(False, "gbfs: test for the goal when a state is generated.")
    evaluate_duplicates: bool = option(False, "gbfs: count an evaluation for duplicates, too.")
    batch: int | None = option(
        None,
        "astar, wastar, gbfs: states that are expanded together (default 1; 1024 for vectorised own spaces).",
    )
    bound: float | None = option(
        None, "focal: the plan's cost is proven to be at most this many times the optimum (default 1)."
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
        5, "focal: every n-th expansion is the anchor's choice; 0: as few as possible."
    )
    proof: str | None = option(
        None,
        "focal on puzzles: prove by the queue or by rounds of IDA* (rounds if the guide is admissible).",
    )
    guide_weight: float | None = option(
        None, "focal: order by g + this weight * h (default: h alone; in rounds 2 * bound - 1, at least 1.4)."
    )
    optimistic: bool = option(False, "focal: expand any open state until there is a plan; rounds always do.")
    pruning: str = option(
        "undo", "idastar on puzzles: moves not to follow: none, undo (of the last move) or automaton."
    )
    table_bytes: int = option(
        0, "idastar on puzzles: bytes of memory for a table of seen states; 0: no table."
    )
    threads: int = option(
        1,
        "idastar on puzzles: threads that share the tree of a round; plan and counts do not depend on them.",
    )
    eps: float | None = option(
        None, "astar on maps: keep values of a map within eps times the admissible heuristic."
    )
    explored: bool = option(False, "astar on maps: keep the expanded states in order, for pictures.")

    def __post_init__(self) -> None:
        for name, least, most in (
            ("time_limit", 0, float("inf")),
            ("cpu_time_limit", 0, float("inf")),
            ("weight", 0, 1e6),
            ("bound", 1, float("inf")),
            ("guide_weight", 0, float("inf")),
            ("eps", 1, float("inf")),
        ):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least, most)
        for name, most in _WHOLE.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            object.__setattr__(self, name, whole_number(name, value, 0, most))
        object.__setattr__(self, "threads", whole_number("threads", self.threads, 1, MOST_THREADS))
        for name, known in (("ties", TIES), ("pruning", PRUNINGS), ("proof", PROOFS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise unknown("tie-breaking" if name == "ties" else name, str(value), list(known))
        if self.threads > 1 and self.table_bytes:
            raise InputError("threads and a table of seen states do not go together")
        if self.threads > 1 and self.cpu_time_limit is not None:
            raise InputError("a limit on CPU time is for searches by one thread")
        if self.proof == "rounds" and self.anytime:
            raise InputError("rounds prove one plan; an anytime search needs proof by the queue")
