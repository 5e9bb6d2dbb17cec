"""Visit-all (IPC 2011): a robot walks on a grid and has to visit cells.

Sizes: rows, columns, and the percentage of cells that are to be visited. Random: the cell of the robot is
uniform, and each other cell enters the goal with that probability, independently, as in Núñez-Molina et
al. (arXiv 2308.11905). The robot's cell is visited already and always in the goal. Only problems with no
other cell in the goal are drawn again. The grid has no holes.
"""

from __future__ import annotations

import random

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator

DOMAIN = """\
(define (domain visitall)
  (:requirements :strips :typing)
  (:types place)
  (:predicates (at-robot ?p - place) (visited ?p - place) (connected ?p ?q - place))

  (:action move
    :parameters (?from ?to - place)
    :precondition (and (at-robot ?from) (connected ?from ?to))
    :effect (and (at-robot ?to) (visited ?to) (not (at-robot ?from)))))
"""


@generator("visitall", DOMAIN, rows=1, columns=1, goal_percent=1)
def generate(rng: random.Random, rows: int, columns: int, goal_percent: int) -> Problem:
    if rows * columns < 2:
        raise InputError(f"visitall needs at least 2 cells, got {rows} x {columns}")
    if goal_percent > 100:
        raise InputError(f"visitall needs a goal_percent from 1 to 100, got {goal_percent}")
    cells = [f"c{row}-{column}" for row in range(rows) for column in range(columns)]
    start = ""
    wanted: list[str] = []
    while len(wanted) < 2:
        start = rng.choice(cells)
        wanted = [cell for cell in cells if rng.randrange(100) < goal_percent or cell == start]
    init = [f"at-robot {start}", f"visited {start}"]
    for i in range(rows * columns):
        right, down = i + 1, i + columns
        for j in [right] * (right % columns > 0) + [down] * (down < rows * columns):
            init += [f"connected {cells[i]} {cells[j]}", f"connected {cells[j]} {cells[i]}"]
    return Problem({"place": cells}, init, [f"visited {cell}" for cell in wanted])
