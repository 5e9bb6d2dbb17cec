"""`uncertainty`: tasks of the right level, by walks from the goal towards what a model does not know.

GenerateTaskPrac of Marom and Rosman (ICAPS 2020). A walk of moves that are never taken back at once; where it
goes is drawn by the softmax of the uncertainties of the neighbours, and it ends in the first state whose
variance is at least `epsilon`: hard enough to learn from, near enough to what is known to be solved.

Difference: the paper speaks of the softmax of variances, the authors' program takes that of standard
deviations, which is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.sampling.backward_walks import BackwardWalks
from hstar.spaces.puzzle import State

Variance: TypeAlias = Callable[[Sequence[State]], npt.NDArray[np.float64]]
SOFTMAX = ("sd", "variance")


def uncertain_task(
    walks: BackwardWalks,
    variance: Variance,
    rng: np.random.Generator,
    *,
    epsilon: float = 1.0,
    max_steps: int = 1000,
    softmax: str = "sd",
) -> State:
    """The last state of a walk from the goal, after `max_steps` moves at most."""
    before, here = None, walks.goal(rng)
    for _ in range(max_steps):
        states = [state for state in walks.neighbours(here, rng) if state != before]
        if not states:  # a space of two states, or a goal that no action leads to
            break
        found = variance(states)
        chosen = _draw(np.sqrt(found) if softmax == "sd" else found, rng)
        before, here = here, states[chosen]
        if found[chosen] >= epsilon:
            break
    return here


def _draw(scores: npt.NDArray[np.float64], rng: np.random.Generator) -> int:
    weights = np.exp(scores - scores.max())
    return int(rng.choice(len(weights), p=weights / weights.sum()))
