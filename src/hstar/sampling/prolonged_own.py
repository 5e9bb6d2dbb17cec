"""`prolonged` for a user's own space: exact labels by one backward search from its goals.

Dijkstra's algorithm over `predecessors`, which goes on until so many states are closed; nothing stops it at
the start of the problem. Ties are closed in the order in which they were found.

Invariant: labels are h*, since only closed states are given. Costs are added up as whole numbers.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.spaces.own import OwnProblem


def backward_labels(problem: OwnProblem, states: int) -> tuple[list[Any], npt.NDArray[np.float32]]:
    """The closed states, at most so many, with their costs to the nearest goal."""
    goals = problem.goals
    if not goals:
        raise InputError(f"{problem.name}: the list of goals is empty")
    for goal in goals:
        if not problem.is_goal(goal):
            raise InputError(f"{problem.name}: {goal!r:.60} is in goals, and its goal test says it is none")
    numbers = itertools.count()
    best: dict[bytes, int] = {}
    queue: list[tuple[int, int, bytes, Any]] = []
    for key, goal in zip(problem.keys(goals), goals, strict=True):
        if key not in best:
            best[key] = 0
            queue.append((0, next(numbers), key, goal))
    found: list[Any] = []
    label: list[int] = []
    while queue and len(found) < states:
        cost, _, key, state = heapq.heappop(queue)
        if cost > best[key]:
            continue
        found.append(state)
        label.append(cost)
        steps = problem.predecessors(state)
        keys = problem.keys([before for _, before, _ in steps])
        for before_key, (_, before, step) in zip(keys, steps, strict=True):
            total = cost + problem.functions.whole_cost(step, before)
            known = best.get(before_key)
            if known is None or total < known:
                best[before_key] = total
                heapq.heappush(queue, (total, next(numbers), before_key, before))
    return found, (np.array(label) / problem.scale).astype(np.float32)
