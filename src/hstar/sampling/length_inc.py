"""`length-inc`: tasks by random walks from the goal that become longer from iteration to iteration.

Arfaee, Zilles and Holte, "Bootstrap Learning of Heuristic Functions" (SoCS 2010), as Marom and Rosman (ICAPS
2020) compare with it: tasks of iteration n are n * `length_inc` moves away, none of them taken back at once.
"""

from __future__ import annotations

import numpy as np

from hstar.sampling.backward_walks import BackwardWalks
from hstar.spaces.puzzle import State


def length_inc_task(walks: BackwardWalks, iteration: int, length_inc: int, rng: np.random.Generator) -> State:
    """Where a walk of this iteration, counted from 1, ends."""
    return walks.walk(iteration * length_inc, rng)
