"""Sliding-tile puzzles: a uniformly random solvable arrangement, to be brought into order.

The goal has the empty cell first and the tiles in order after it. Half of all arrangements can
reach it: those whose permutation is even exactly when the empty cell is an even number of moves
away from its goal (Johnson and Story, 1879). An arrangement of the wrong parity becomes a right one
by swapping two tiles, which pairs the two halves one to one and so keeps the choice uniform.
"""

from __future__ import annotations

import random
from itertools import combinations

from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain npuzzle)
  (:requirements :strips :typing)
  (:types tile cell)
  (:predicates (at ?t - tile ?c - cell) (empty ?c - cell) (neighbor ?c ?d - cell))

  (:action slide
    :parameters (?t - tile ?from ?to - cell)
    :precondition (and (at ?t ?from) (empty ?to) (neighbor ?from ?to))
    :effect (and (at ?t ?to) (empty ?from) (not (at ?t ?from)) (not (empty ?to)))))
"""


@generator("npuzzle", DOMAIN, rows=2, columns=2)
def generate(rng: random.Random, rows: int, columns: int) -> Problem:
    tiles = random_tiles(rows, columns, rng)
    while tiles == sorted(tiles):
        tiles = random_tiles(rows, columns, rng)
    cells = [f"c{row}-{column}" for row in range(rows) for column in range(columns)]
    init = [f"at t{t} {c}" if t else f"empty {c}" for t, c in zip(tiles, cells, strict=True)]
    for i in range(rows * columns):
        right, down = i + 1, i + columns
        for j in [right] * (right % columns > 0) + [down] * (down < rows * columns):
            init += [f"neighbor {cells[i]} {cells[j]}", f"neighbor {cells[j]} {cells[i]}"]
    names = numbered("t", rows * columns - 1)
    goal = [f"at {name} {cell}" for name, cell in zip(names, cells[1:], strict=True)]
    return Problem({"tile": names, "cell": cells}, init, goal)


def random_tiles(rows: int, columns: int, rng: random.Random) -> list[int]:
    """The tile in each cell, row by row, 0 for none; uniform among the solvable arrangements."""
    tiles = list(range(rows * columns))
    rng.shuffle(tiles)
    row, column = divmod(tiles.index(0), columns)
    inversions = sum(first > second for first, second in combinations(tiles, 2))
    if inversions % 2 != (row + column) % 2:
        first, second = tiles.index(1), tiles.index(2)
        tiles[first], tiles[second] = tiles[second], tiles[first]
    return tiles
