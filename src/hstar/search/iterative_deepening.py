"""Iterative-deepening A* on native puzzles, and proofs of bounds by its rounds.

IDA* (Korf, AIJ 1985) in its fast form: a template over space and heuristic that never packs a state
(`core/search/iterative_deepening.h`). The heuristic is a name, databases, or a `PuzzleNetwork`; any other
heuristic runs in the general IDA*.

A bounded search (`focal`) can prove its bound in two ways:

- `queue`: the general engine of `core/search/focal.cc`. Open states are in memory.
- `rounds`: the guide finds a plan of cost C by optimistic search, and rounds of IDA* with the anchor show
  that no plan costs less than C / bound. A round that finds a plan has found an optimal one. If the guide
  finds nothing in its share of expansions, IDA* alone decides; so memory is never what ends it.

Measured on the 15-puzzle (benchmarks/bounded.py, RESULTS.md): a round of IDA* looks at a state in a tenth of
the time of a queue, and raises the lower bound without memory, which pays where the guide is as good as the
anchor. A guide that is not finds plans too long to be proven cheaply, unless FOCAL holds it back. So `rounds`
is the default where the guide is the anchor and IDA* has an automaton against duplicates, `queue` elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from hstar import _core
from hstar.errors import InputError
from hstar.registry import unknown
from hstar.search.config import SearchConfig
from hstar.search.databases import DATABASES, Databases, fits
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.result import Found, Result, result_of
from hstar.search.solve import OnPlan, Progress, general, native_limits
from hstar.spaces.blocks import Blocks
from hstar.spaces.problem import Problem
from hstar.spaces.puzzle import Puzzle

PuzzleHeuristic: TypeAlias = "str | Databases | PuzzleNetwork"

_GUIDE_EXPANSIONS = 200_000  # of rounds: tenths of a second and tens of megabytes; then IDA* goes on alone
_LEAST_WEIGHT = 1.4  # of the guide in rounds: with less a plan costs more than its proof


def engine(
    problem: Problem, search: str, chosen: Sequence[Any], config: SearchConfig
) -> Callable[..., Result] | None:
    """The search of this module for a puzzle; None where the general one has to serve."""
    puzzle = cast("Puzzle", problem)
    if len(chosen) > 1 or _part(puzzle, chosen[0]) is None:
        return None
    if search == "idastar":
        return idastar
    proof = config.proof
    if proof is None:
        same = (
            config.anchor is None or config.anchor is chosen[0] or config.anchor == chosen[0]
        ) and not isinstance(_part(puzzle, chosen[0]), PuzzleNetwork)
        proof = "rounds" if same and not config.anytime and not isinstance(puzzle, Blocks) else "queue"
    return rounds if proof == "rounds" else None


def _part(puzzle: Puzzle, heuristic: Any) -> PuzzleHeuristic | None:
    """A heuristic as the templates take it; None for what only the general searches take."""
    if isinstance(heuristic, str):
        return None if heuristic == "zero" else heuristic
    return cast("PuzzleHeuristic", heuristic) if isinstance(heuristic, (PuzzleNetwork, *DATABASES)) else None


def native_heuristic(puzzle: Puzzle, heuristic: Any) -> Any:
    """What the core takes; an `InputError` for what is not a heuristic of this puzzle."""
    part = _part(puzzle, heuristic)
    if isinstance(part, str):
        names = [claim.name for claim in puzzle.claims]
        if part not in names:
            raise unknown(f"heuristic of {puzzle.name}", part, names)
    elif isinstance(part, PuzzleNetwork):
        part.check(puzzle)
        return part.core
    elif part is None or not fits(puzzle, part):
        raise InputError(f"not a heuristic of {puzzle.name}: {heuristic!r:.60}")
    return part


def idastar(
    problem: Problem,
    search: str,
    chosen: Sequence[Any],
    *,
    config: SearchConfig,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
) -> Result:
    """IDA* on a puzzle: an optimal plan if the heuristic is admissible."""
    puzzle = cast("Puzzle", problem)
    found = _deepen(puzzle, native_heuristic(puzzle, chosen[0]), config, progress=progress)
    admissible = not isinstance(_part(puzzle, chosen[0]), PuzzleNetwork)
    return _result(puzzle, found, admissible)


def _deepen(
    puzzle: Puzzle,
    native: Any,
    config: SearchConfig,
    *,
    greatest_bound: int | None = None,
    progress: Any = None,
) -> _core.DeepeningResult:
    options = _core.DeepeningOptions()
    options.pruning = config.pruning
    options.table_bytes = config.table_bytes
    options.threads = config.threads
    if greatest_bound is not None:
        options.greatest_bound = greatest_bound
    core: Any = puzzle.core  # each kind has databases and networks of its own
    found: _core.DeepeningResult = core.idastar(
        puzzle.start, native, options, native_limits(config), progress=progress
    )
    return found


def _result(puzzle: Puzzle, found: _core.DeepeningResult, admissible: bool) -> Result:
    replayed = puzzle.replay(found.plan) if found.status == "solved" else None
    return result_of(
        puzzle,
        found,
        replayed,
        lower_bound=found.lower_bound if admissible else None,
        evaluated=found.generated + 1,
        rounds=found.rounds,
        round_bound=found.bound,
        actions=None if replayed is None else tuple(found.plan),
    )


def rounds(
    problem: Problem,
    search: str,
    chosen: Sequence[Any],
    *,
    config: SearchConfig,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
) -> Result:
    """A plan within the bound, proven by rounds of IDA* with the anchor."""
    puzzle = cast("Puzzle", problem)
    guide = chosen[0]
    proving = config.anchor
    if proving is None:
        proving = puzzle.claims[0].name if isinstance(_part(puzzle, guide), PuzzleNetwork) else guide
    bound = 1.0 if config.bound is None else config.bound
    weight = max(_LEAST_WEIGHT, 2 * bound - 1) if config.guide_weight is None else config.guide_weight
    # 1. A plan, within the share of the guide.
    share = min(_GUIDE_EXPANSIONS, config.max_expansions or _GUIDE_EXPANSIONS)
    optimistic = replace(config, bound=math.inf, guide_weight=weight, optimistic=True, max_expansions=share)
    first = general(puzzle, "focal", [guide], config=optimistic, progress=progress, on_plan=on_plan)
    ended = first.status in ("interrupted", "time_limit", "evaluation_limit") or (
        first.status == "expansion_limit" and share == config.max_expansions
    )
    if ended or first.lower_bound is None:
        return first
    # 2. What no plan may cost less than, for the plan to be proven; without a plan, an optimal one.
    needed = None if first.plan is None else math.ceil(len(first.plan) / bound * (1 - 1e-12))
    if needed is not None and first.lower_bound >= needed:
        return first
    # 3. Rounds up to there.
    proof = _deepen(
        puzzle,
        native_heuristic(puzzle, proving),
        replace(
            config,
            pruning="undo" if isinstance(puzzle, Blocks) else "automaton",
            time_limit=_less(config.time_limit, first.search_time),
            cpu_time_limit=_less(config.cpu_time_limit, first.cpu_time),
            max_evaluations=_left(config, first),
            max_expansions=None,  # counted as evaluations
        ),
        greatest_bound=None if needed is None else needed - 1,
        progress=progress,
    )
    second = _result(puzzle, proof, admissible=True)
    status = "solved" if second.status == "incomplete" else second.status
    if status == "evaluation_limit" and config.max_evaluations is None:
        status = "expansion_limit"
    search_time = first.search_time + second.search_time
    if second.solved and second.plan is not None and on_plan is not None:
        on_plan(
            Found(second.plan, second.plan_cost, second.lower_bound, search_time, True, second.actions or ())
        )
    best = second if second.solved else first
    return replace(
        first,
        status=status,
        plan=best.plan,
        plan_cost=best.plan_cost,
        plan_length=best.plan_length,
        actions=best.actions,
        states=best.states,
        lower_bound=max(first.lower_bound, second.lower_bound),
        expanded=first.expanded + second.expanded,
        evaluated=first.evaluated + second.generated,
        generated=first.generated + second.generated,
        search_time=search_time,
        cpu_time=first.cpu_time + second.cpu_time,
        rounds=second.rounds,
    )


def _less(limit: float | None, used: float) -> float | None:
    return None if limit is None else max(0.0, limit - used)


def _left(config: SearchConfig, first: Result) -> int | None:
    """Evaluations that are left for the rounds; evaluated states are more than expanded ones."""
    limits = ((config.max_evaluations, first.evaluated), (config.max_expansions, first.expanded))
    counts = [limit - done for limit, done in limits if limit is not None]
    return max(0, min(counts)) if counts else None
