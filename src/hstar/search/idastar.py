"""Iterative-deepening A* on native puzzles. A limit that runs out is a status of the result.

Every plan is replayed in Python before it is returned, by code that shares nothing with the core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from hstar import _core
from hstar.errors import InputError
from hstar.options import configured, option
from hstar.registry import unknown
from hstar.search.databases import Databases, fits
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.spaces.puzzle import Puzzle, replay

Progress = Callable[[_core.Progress], None]
MOST_THREADS = 1024
PuzzleHeuristic: TypeAlias = "str | Databases | PuzzleNetwork"


@dataclass(frozen=True)
class IDAStarConfig:
    """Options of the search.

    Published counts of generated states are those with pruning `undo` and no table.
    """

    time_limit: float | None = option(None, "Seconds.")
    max_evaluations: int | None = option(None, "Evaluated states: the generated ones and the start.")
    pruning: str = option("undo", "Moves not to follow: none, undo (of the last move) or automaton.")
    table_bytes: int = option(0, "Memory for a table of seen states; 0: no table.")
    threads: int = option(
        1, "Threads that share the tree of a round; plan and counts stay the same, unless a limit ends it."
    )

    def __post_init__(self) -> None:
        time = self.time_limit
        if time is not None and not (isinstance(time, int | float) and time >= 0):
            raise InputError(f"time_limit must be a number from 0 on, got {time!r}")
        for name in ("max_evaluations", "table_bytes"):
            value = getattr(self, name)
            if value is None and name == "max_evaluations":
                continue
            if not isinstance(value, int | float) or value != value // 1 or not 0 <= value < 2**63:
                raise InputError(f"{name} must be a whole number from 0 on, got {value!r}")
            object.__setattr__(self, name, int(value))  # 64e6 is a whole number, too
        if not isinstance(self.threads, int) or not 1 <= self.threads <= MOST_THREADS:
            raise InputError(f"threads must be in 1..{MOST_THREADS}, got {self.threads!r}")
        if self.threads > 1 and self.table_bytes:
            raise InputError("threads and a table of seen states do not go together")


@dataclass(frozen=True)
class IDAStarResult:
    """How a search ended, in the words of `Result`. Times in seconds.

    `status`: `solved`, or what stopped it: `time_limit`, `evaluation_limit`, `memory_limit` (no room for the
    table), `interrupted`.
    """

    status: str
    actions: tuple[int, ...] | None
    plan: tuple[str, ...] | None  # the same in words
    plan_cost: int | None
    expanded: int
    generated: int  # in all rounds, without the start
    initial_h: int
    bound: int  # of the last round
    rounds: int
    search_time: float  # wall clock
    cpu_time: float  # processor time of the search, of all its threads

    @property
    def solved(self) -> bool:
        """Whether there is a plan."""
        return self.status == "solved"


def native_heuristic(puzzle: Puzzle, heuristic: PuzzleHeuristic) -> Any:
    """What the core takes; an `InputError` for what is not a heuristic of this puzzle."""
    if isinstance(heuristic, str):
        names = [info.name for info in puzzle.core.heuristics]
        if heuristic not in names:
            raise unknown(f"heuristic of {puzzle.name}", heuristic, names)
    elif isinstance(heuristic, PuzzleNetwork):
        if heuristic.features.space != puzzle.core.database_space:
            raise InputError(
                f"a network for {heuristic.features.space} does not fit {puzzle.core.database_space}"
            )
        return heuristic.core
    elif not fits(puzzle, heuristic):
        raise InputError(f"not a heuristic of {puzzle.name}: {heuristic!r:.60}")
    return heuristic


def idastar(
    puzzle: Puzzle,
    heuristic: PuzzleHeuristic,
    config: IDAStarConfig | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> IDAStarResult:
    """Searches for a plan, an optimal one if the heuristic is admissible.

    `heuristic` is one of `puzzle.core.heuristics`, `additive_databases(...)`, `block_databases(...)`, or a
    `PuzzleNetwork`. `options` are the fields of `IDAStarConfig`. `progress` is called about ten times a
    second. Ctrl-C ends the search with status `interrupted`.
    """
    if config is None:
        config = configured(IDAStarConfig, options)
    elif options:
        raise InputError("give either config or single options, not both")
    core: Any = puzzle.core  # each kind has databases and networks of its own
    native = native_heuristic(puzzle, heuristic)
    found: _core.DeepeningResult = core.idastar(puzzle.start, native, progress=progress, **asdict(config))
    actions = None
    if found.status == "solved":
        actions = tuple(found.plan)
        replay(puzzle, actions)
    return IDAStarResult(
        status=found.status,
        actions=actions,
        plan=None if actions is None else tuple(puzzle.action_name(action) for action in actions),
        plan_cost=None if actions is None else len(actions),
        expanded=found.expanded,
        generated=found.generated,
        initial_h=found.initial_h,
        bound=found.bound,
        rounds=found.rounds,
        search_time=found.search_time,
        cpu_time=found.cpu_time,
    )
