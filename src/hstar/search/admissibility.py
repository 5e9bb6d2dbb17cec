"""Tries whether a heuristic is admissible, and shows a counterexample.

Starts are the problem's own and the ends of random walks from it. The true cost of each is that of an optimal
plan, found by A* with an admissible heuristic of the space. A heuristic is refuted by a counterexample and
never proven.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

from hstar.errors import uninterrupted
from hstar.options import Checked, configured, name_options, option, options_of
from hstar.search.heuristics import admissible_heuristic
from hstar.search.solve import as_problem, solve
from hstar.spaces.check import Finding


@dataclass(frozen=True)
class TrialConfig(Checked):
    """How many states `check_heuristic` tries, and how long."""

    walks: int = option(50, "Number of random walks from the start.")
    steps: int = option(20, "Greatest number of steps of a walk.")
    max_expansions: int = option(100_000, "Leave a start out whose optimal plan takes more expansions.")
    seed: int = option(0, "Seed of the random walks.")


def check_heuristic(problem: Any, heuristic: Any, **options: Any) -> Finding:
    """Whether the heuristic was never above the true cost.

    `heuristic` is what `solve` takes. Whatever it does wrong raises an error, as in a search.
    """
    config, problem = configured(TrialConfig, options), as_problem(problem)
    generator, tried = random.Random(config.seed), 0
    for number in range(config.walks + 1):
        steps, seed = (generator.randint(1, max(config.steps, 1)), config.seed + number) if number else (0, 0)
        start: Any = problem.walk(steps, seed) if number else problem
        proof = admissible_heuristic(start)[0]
        optimal = uninterrupted(solve(start, proof, "astar", max_expansions=config.max_expansions))
        if not optimal.solved:  # too far from the goals, or none can be reached and every value is admissible
            continue
        tried += 1
        first = uninterrupted(solve(start, heuristic, "gbfs", max_expansions=0)).initial_h
        value = math.inf if first is None else first  # None: taken for a dead end
        if not value <= optimal.plan_cost * (1 + 1e-9):
            where = f"walk({steps}, seed={seed})" if number else "the start"
            state = f", {start.start!r:.60}," if hasattr(start, "start") else ""
            detail = f"{value:g} at {where}{state} where an optimal plan costs {optimal.plan_cost:g}"
            return Finding("admissible", False, detail)
    return Finding("admissible", True, f"at most the true cost at {tried} of {config.walks + 1} starts")


name_options(check_heuristic, options_of(TrialConfig))
