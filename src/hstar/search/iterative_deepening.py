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
from dataclasses import replace
from typing import Any, TypeAlias, cast

from hstar import _core
from hstar.errors import InputError
from hstar.registry import unknown
from hstar.search.config import limits_left, native_limits
from hstar.search.databases import DATABASES, Databases
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.result import Result, result_of, together
from hstar.search.solve import Request, general
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzle import Puzzle

PuzzleHeuristic: TypeAlias = "str | Databases | PuzzleNetwork"

_GUIDE_EXPANSIONS = 200_000  # of rounds: tenths of a second and tens of megabytes; then IDA* goes on alone
_LEAST_WEIGHT = 1.4  # of the guide in rounds: with less a plan costs more than its proof


def run(request: Request) -> Result | None:
    """The search of this module for a puzzle; None where the general one has to serve."""
    puzzle, config, (guide, *others) = cast("Puzzle", request.problem), request.config, request.heuristics
    part = _part(guide)
    if others or part is None:
        return None
    if request.search == "idastar":
        found = _deepen(puzzle, native_heuristic(puzzle, guide), request)
        return _result(puzzle, found, admissible=not isinstance(part, PuzzleNetwork))
    proof = config.proof
    if proof is None:
        same = config.anchor is None or config.anchor is guide or config.anchor == guide
        pays = same and not isinstance(part, PuzzleNetwork) and not isinstance(puzzle, Blocks)
        proof = "rounds" if pays and not config.anytime else "queue"
    return _rounds(puzzle, guide, request) if proof == "rounds" else None


def _part(heuristic: Any) -> PuzzleHeuristic | None:
    """A heuristic as the templates take it; None for what only the general searches take."""
    if isinstance(heuristic, str):
        return None if heuristic == "zero" else heuristic
    return cast("PuzzleHeuristic", heuristic) if isinstance(heuristic, (PuzzleNetwork, *DATABASES)) else None


def native_heuristic(puzzle: Puzzle, heuristic: Any) -> Any:
    """What the core takes; an `InputError` for what is not a heuristic of this puzzle."""
    part = _part(heuristic)
    if isinstance(part, str):
        names = [claim.name for claim in puzzle.claims]
        if part not in names:
            raise unknown(f"heuristic of {puzzle.name}", part, names)
    elif isinstance(part, PuzzleNetwork):
        part.check(puzzle)
        return part.core
    elif DATABASES.get(type(part)) is not type(puzzle):
        raise InputError(f"not a heuristic of {puzzle.name}: {heuristic!r:.60}")
    return part


def _deepen(puzzle: Puzzle, native: Any, request: Request, **more: Any) -> _core.DeepeningResult:
    config = request.config
    options = _core.DeepeningOptions(
        pruning=config.pruning, table_bytes=config.table_bytes, threads=config.threads, **more
    )
    core: Any = puzzle.core  # each kind has databases and networks of its own
    found: _core.DeepeningResult = core.idastar(
        puzzle.start, native, options, native_limits(config), request.progress
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
    )


def _rounds(puzzle: Puzzle, guide: Any, request: Request) -> Result:
    """A plan within the bound, proven by rounds of IDA* with the anchor."""
    config, proving = request.config, request.config.anchor
    if proving is None:
        proving = puzzle.claims[0].name if isinstance(_part(guide), PuzzleNetwork) else guide
    bound = 1.0 if config.bound is None else config.bound
    weight = max(_LEAST_WEIGHT, 2 * bound - 1) if config.guide_weight is None else config.guide_weight
    # 1. A plan, within the share of the guide.
    most = _GUIDE_EXPANSIONS if config.max_expansions is None else config.max_expansions
    share = min(_GUIDE_EXPANSIONS, most)
    optimistic = replace(config, bound=math.inf, guide_weight=weight, optimistic=True, max_expansions=share)
    first = general(replace(request, config=optimistic))
    ended = first.status in ("interrupted", "time_limit", "evaluation_limit") or (
        first.status == "expansion_limit" and share == config.max_expansions
    )
    if ended or first.lower_bound is None:
        return first
    # 2. What no plan may cost less than, for the plan to be proven; without a plan, an optimal one.
    needed = None if first.plan is None else math.ceil(len(first.plan) / bound * (1 - 1e-12))
    if needed is not None and first.lower_bound >= needed:
        return first
    # 3. Rounds up to there. They count evaluations alone, which are more than expansions.
    left = limits_left(config, [first])
    counts = [left.pop("max_expansions"), left.pop("max_evaluations")]
    left["max_evaluations"] = min((count for count in counts if count is not None), default=None)
    pruning = "undo" if isinstance(puzzle, Blocks) else "automaton"
    proof = replace(request, config=replace(config, pruning=pruning, max_expansions=None, **left))
    up_to = {} if needed is None else {"greatest_bound": needed - 1}
    second = _result(puzzle, _deepen(puzzle, native_heuristic(puzzle, proving), proof, **up_to), True)
    status = "solved" if second.status == "incomplete" else second.status
    if status == "evaluation_limit" and config.max_evaluations is None:
        status = "expansion_limit"
    found = together([first, second], second if second.solved else first)
    if second.solved and request.on_plan is not None:
        request.on_plan(second.found(second.lower_bound, found["search_time"]))
    return replace(
        first,
        **found | {"evaluated": first.evaluated + second.generated},
        status=status,
        lower_bound=max(first.lower_bound, second.lower_bound),
        rounds=second.rounds,
    )
