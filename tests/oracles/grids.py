"""Grids and lattices in plain Python: steps by their definition, and Dijkstra with sums a + b sqrt(2)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

State = tuple[int, ...]
Steps = Callable[[State], Iterator[tuple[State, float, bool]]]
ROOT = math.sqrt(2)


def grid_steps(
    blocked: npt.NDArray[np.bool_], costs: npt.NDArray[np.float64] | None, neighbours: int, cut_corners: bool
) -> Steps:
    """From a cell to its neighbours: the cell, its price, and whether the step is diagonal."""
    rows, columns = blocked.shape

    def free(row: int, column: int) -> bool:
        return 0 <= row < rows and 0 <= column < columns and not blocked[row, column]

    def steps(state: State) -> Iterator[tuple[State, float, bool]]:
        row, column = state
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                diagonal = down != 0 and right != 0
                if (down, right) == (0, 0) or (diagonal and neighbours == 4):
                    continue
                there = row + down, column + right
                both = free(row + down, column) and free(row, column + right)
                if free(*there) and (not diagonal or cut_corners or both):
                    yield there, 1.0 if costs is None else float(costs[there]), diagonal

    return steps


def lattice_steps(
    blocked: npt.NDArray[np.bool_],
    costs: npt.NDArray[np.float64] | None,
    headings: int,
    cut_corners: bool,
    turn_cost: float,
) -> Steps:
    """One cell ahead or a turn; headings are angles from north, clockwise."""
    around = grid_steps(blocked, costs, 8, cut_corners)

    def steps(state: State) -> Iterator[tuple[State, float, bool]]:
        row, column, heading = state
        angle = 2 * math.pi * heading / headings
        ahead = row - round(math.cos(angle)), column + round(math.sin(angle))
        for there, price, diagonal in around((row, column)):
            if there == ahead:
                yield (*there, heading), price, diagonal
        for turned in (heading + 1, heading - 1):
            yield (row, column, turned % headings), turn_cost, False

    return steps


def distances(states: list[State], goals: set[State], steps: Steps) -> dict[State, float]:
    """The cost-to-go of all states that have a way to a goal: Dijkstra along reversed steps."""
    before: dict[State, list[tuple[State, float, bool]]] = {}
    for state in states:
        for there, price, diagonal in steps(state):
            before.setdefault(there, []).append((state, price, diagonal))
    best = dict.fromkeys(goals, (0.0, 0.0))
    queue = [(0.0, goal) for goal in goals]
    done: set[State] = set()
    while queue:
        _, state = heapq.heappop(queue)
        if state in done:
            continue
        done.add(state)
        straight, corner = best[state]
        for source, price, diagonal in before.get(state, []):
            sums = (straight, corner + price) if diagonal else (straight + price, corner)
            old = best.get(source)
            if old is None or sums[0] + sums[1] * ROOT < old[0] + old[1] * ROOT - 1e-9:
                best[source] = sums
                heapq.heappush(queue, (sums[0] + sums[1] * ROOT, source))
    return {state: sums[0] + sums[1] * ROOT for state, sums in best.items()}
