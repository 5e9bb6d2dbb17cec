"""`length-inc`: tasks by random walks from the goal that become longer from iteration to iteration.

Arfaee, Zilles and Holte, "Bootstrap Learning of Heuristic Functions" (SoCS 2010), as Marom and Rosman (ICAPS
2020) compare with it: tasks of iteration n are n * `length_inc` moves away, none of them taken back at once.
"""

from __future__ import annotations

import numpy as np

from hstar.spaces.puzzle import Puzzle, State


def length_inc_task(puzzle: Puzzle, iteration: int, length_inc: int, rng: np.random.Generator) -> State:
    """Where a walk of this iteration, counted from 1, ends."""
    seed = int(rng.integers(2**63))
    return tuple(puzzle.core.walk(puzzle.goal, iteration * length_inc, seed))
