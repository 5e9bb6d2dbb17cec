"""Sokoban (IPC 2008): a player pushes stones onto goal cells; pushes cost 1, steps nothing.

Sizes: rows and columns of the grid, stones, walls (cells of the grid that are closed). Random: the walls,
one after the other, each uniform among the cells that leave the rest connected; the goal cells, one a
stone, uniform; then the stones are pulled away from them, 50 times the number of stones, each pull a
uniform choice among all that the player can reach; at last the player is anywhere within reach. Pulls are
pushes backwards, so that every problem has a plan. A level that ends with all stones on goal cells, for
want of pulls or by chance, is drawn again.
"""

from __future__ import annotations

import random

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain sokoban)
  (:requirements :strips :typing :action-costs)
  (:types cell direction stone)
  (:predicates (next ?c ?d - cell ?way - direction) (is-goal ?c - cell) (is-nongoal ?c - cell)
               (at-player ?c - cell) (at ?s - stone ?c - cell) (clear ?c - cell) (at-goal ?s - stone))
  (:functions (total-cost) - number)

  (:action move
    :parameters (?from ?to - cell ?way - direction)
    :precondition (and (at-player ?from) (clear ?to) (next ?from ?to ?way))
    :effect (and (at-player ?to) (not (at-player ?from)) (clear ?from) (not (clear ?to))))

  (:action push-to-goal
    :parameters (?s - stone ?player ?from ?to - cell ?way - direction)
    :precondition (and (at-player ?player) (at ?s ?from) (clear ?to) (is-goal ?to)
                       (next ?player ?from ?way) (next ?from ?to ?way))
    :effect (and (at-player ?from) (not (at-player ?player)) (at ?s ?to) (not (at ?s ?from))
                 (clear ?player) (not (clear ?to)) (at-goal ?s) (increase (total-cost) 1)))

  (:action push-to-nongoal
    :parameters (?s - stone ?player ?from ?to - cell ?way - direction)
    :precondition (and (at-player ?player) (at ?s ?from) (clear ?to) (is-nongoal ?to)
                       (next ?player ?from ?way) (next ?from ?to ?way))
    :effect (and (at-player ?from) (not (at-player ?player)) (at ?s ?to) (not (at ?s ?from))
                 (clear ?player) (not (clear ?to)) (not (at-goal ?s)) (increase (total-cost) 1))))
"""

Cell = tuple[int, int]

WAYS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
PULLS = 50
TRIES = 1000


@generator("sokoban", DOMAIN, rows=1, columns=1, stones=1, walls=0)
def generate(rng: random.Random, rows: int, columns: int, stones: int, walls: int) -> Problem:
    if max(rows, columns) < 3 or rows * columns - walls < stones + 2:
        raise InputError(
            f"sokoban needs at least 3 cells in a row and 2 more than stones, got {rows} x {columns} cells, "
            f"{walls} walls and {stones} stones"
        )
    for _ in range(TRIES):
        floor = _random_floor(rows, columns, walls, rng)
        goals = rng.sample(floor, stones)
        ends, player = _pulled(set(floor), goals, rng)
        if set(ends) != set(goals):
            return _problem(floor, goals, ends, player)
    raise InputError(
        f"sokoban found no level of {rows} x {columns} cells with {walls} walls and {stones} stones in "
        f"{TRIES} tries; fewer walls or stones leave more room"
    )


def _random_floor(rows: int, columns: int, walls: int, rng: random.Random) -> list[Cell]:
    """The cells that are not walls, in order. A connected set always has cells that it can lose."""
    floor = {(row, column) for row in range(rows) for column in range(columns)}
    while len(floor) > rows * columns - walls:
        cells = sorted(floor)
        for cell in rng.sample(cells, len(cells)):
            rest = floor - {cell}
            if len(_reached(min(rest), rest)) == len(rest):
                floor = rest
                break
    return sorted(floor)


def _pulled(floor: set[Cell], goals: list[Cell], rng: random.Random) -> tuple[list[Cell], Cell]:
    """Where the stones and the player are after random pulls from the goals."""
    stones = list(goals)
    player = rng.choice(sorted(floor - set(stones)))
    for _ in range(PULLS * len(stones)):
        free = floor - set(stones)
        reached = _reached(player, free)
        pulls = [
            (number, here, there)
            for number, stone in enumerate(stones)
            for way in WAYS.values()
            if (here := _step(stone, way)) in reached and (there := _step(here, way)) in free
        ]
        if not pulls:
            break
        number, stones[number], player = rng.choice(pulls)
    return stones, rng.choice(sorted(_reached(player, floor - set(stones))))


def _reached(start: Cell, free: set[Cell]) -> set[Cell]:
    """The cells that a walk over free ones reaches."""
    reached = {start}
    frontier = [start]
    while frontier:
        cell = frontier.pop()
        new = ({_step(cell, way) for way in WAYS.values()} & free) - reached
        reached |= new
        frontier += new
    return reached


def _step(cell: Cell, way: tuple[int, int]) -> Cell:
    return cell[0] + way[0], cell[1] + way[1]


def _problem(floor: list[Cell], goals: list[Cell], stones: list[Cell], player: Cell) -> Problem:
    names = {cell: f"c{cell[0]}-{cell[1]}" for cell in floor}
    pieces = numbered("s", len(stones))
    init = [f"at-player {names[player]}"]
    for piece, cell in zip(pieces, stones, strict=True):
        init += [f"at {piece} {names[cell]}"] + ([f"at-goal {piece}"] if cell in goals else [])
    init += [f"clear {name}" for cell, name in names.items() if cell != player and cell not in stones]
    init += [f"{'is-goal' if cell in goals else 'is-nongoal'} {name}" for cell, name in names.items()]
    for cell, name in names.items():
        init += [
            f"next {name} {names[near]} {way}"
            for way, change in WAYS.items()
            if (near := _step(cell, change)) in names
        ]
    objects = {"cell": list(names.values()), "direction": list(WAYS), "stone": pieces}
    return Problem(objects, init, [f"at-goal {piece}" for piece in pieces])
