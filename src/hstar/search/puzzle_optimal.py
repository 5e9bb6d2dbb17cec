"""Optimal plans of native puzzles, each kind by the best exact way that there is here.

tiles: IDA* with additive databases where patterns are known (4 x 4, 5 x 5), else with Manhattan distances.
pancake, topspin: IDA* with the gap heuristic (Helmert, SoCS 2010). blocks: `blocks_optimal.py`, without a
search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hstar import _core
from hstar.errors import uninterrupted
from hstar.search.blocks_optimal import optimal_plan
from hstar.search.databases import Databases, has_databases, known_databases
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzle import Puzzle, State, replay
from hstar.spaces.tiles import Tiles


@dataclass(frozen=True)
class OptimalPlans:
    """The exact solver of puzzles of one size; made by `optimal_plans`."""

    heuristic: str | Databases | None  # None: no search is needed

    def states(
        self,
        puzzle: Puzzle,
        time_limit: float | None = None,
        progress: Callable[[_core.Progress], None] | None = None,
    ) -> list[State] | None:
        """The states of an optimal plan, start and goal included; None if the time runs out."""
        if isinstance(puzzle, Blocks):
            return replay(puzzle, optimal_plan(puzzle))
        assert self.heuristic is not None
        result = solve(puzzle, self.heuristic, "idastar", time_limit=time_limit, progress=progress)
        states = uninterrupted(result).states
        return None if states is None else list(states)


def optimal_plans(puzzle: Puzzle, *, cache: bool = True) -> OptimalPlans:
    """The solver; databases come from the cache where they are there."""
    if isinstance(puzzle, Blocks):
        return OptimalPlans(None)
    if isinstance(puzzle, Tiles) and has_databases(puzzle):
        return OptimalPlans(known_databases(puzzle, cache=cache))
    return OptimalPlans(puzzle.claims[0].name)
