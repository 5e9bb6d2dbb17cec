"""Transport (IPC 2008, sequential): vehicles of limited capacity carry packages over roads, at a cost.

Sizes: locations, vehicles, packages. Random: locations are points in a square with sides of 100; roads
join them in a shortest spanning tree, and also every two points that are nearer than 150 divided by the
square root of the number of locations, so that a location has a handful of roads whatever their number.
A road takes a tenth of its length, rounded up. Vehicles hold 2 to 4 packages. Vehicles and packages are
anywhere, and a package belongs to any location but its own. All locations are connected, so that one
vehicle could do everything.
"""

from __future__ import annotations

import math
import random

from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain transport)
  (:requirements :strips :typing :action-costs)
  (:types vehicle package - movable
          movable location level)
  (:predicates (road ?l ?m - location)
               (at ?x - movable ?l - location)
               (in ?p - package ?v - vehicle)
               (capacity ?v - vehicle ?n - level)
               (capacity-predecessor ?n ?m - level))
  (:functions (road-length ?l ?m - location) - number
              (total-cost) - number)

  (:action drive
    :parameters (?v - vehicle ?from ?to - location)
    :precondition (and (at ?v ?from) (road ?from ?to))
    :effect (and (at ?v ?to) (not (at ?v ?from)) (increase (total-cost) (road-length ?from ?to))))

  (:action pick-up
    :parameters (?v - vehicle ?l - location ?p - package ?less ?more - level)
    :precondition (and (at ?v ?l) (at ?p ?l) (capacity ?v ?more) (capacity-predecessor ?less ?more))
    :effect (and (in ?p ?v) (not (at ?p ?l)) (capacity ?v ?less) (not (capacity ?v ?more))
                 (increase (total-cost) 1)))

  (:action drop
    :parameters (?v - vehicle ?l - location ?p - package ?less ?more - level)
    :precondition (and (at ?v ?l) (in ?p ?v) (capacity ?v ?less) (capacity-predecessor ?less ?more))
    :effect (and (at ?p ?l) (not (in ?p ?v)) (capacity ?v ?more) (not (capacity ?v ?less))
                 (increase (total-cost) 1))))
"""

SIDE = 100
MOST_CAPACITY = 4


@generator("transport", DOMAIN, locations=2, vehicles=1, packages=1)
def generate(rng: random.Random, locations: int, vehicles: int, packages: int) -> Problem:
    places, trucks, boxes = numbered("l", locations), numbered("v", vehicles), numbered("p", packages)
    levels = [f"n{i}" for i in range(MOST_CAPACITY + 1)]
    init = [f"capacity-predecessor {levels[i]} {levels[i + 1]}" for i in range(MOST_CAPACITY)]
    for (i, j), length in sorted(random_roads(locations, rng).items()):
        for here, there in ((places[i], places[j]), (places[j], places[i])):
            init += [f"road {here} {there}", f"= (road-length {here} {there}) {length}"]
    for truck in trucks:
        init += [f"at {truck} {rng.choice(places)}", f"capacity {truck} {rng.choice(levels[2:])}"]
    goal = []
    for box in boxes:
        start, end = rng.sample(places, 2)
        init.append(f"at {box} {start}")
        goal.append(f"at {box} {end}")
    objects = {"location": places, "vehicle": trucks, "package": boxes, "level": levels}
    return Problem(objects, init, goal)


def random_roads(locations: int, rng: random.Random) -> dict[tuple[int, int], int]:
    """What each road takes, by its two ends, the smaller number first."""
    points = [(rng.randrange(SIDE), rng.randrange(SIDE)) for _ in range(locations)]
    # Squares, for they are integers: the same roads on every machine.
    squares = [[(x - u) ** 2 + (y - v) ** 2 for u, v in points] for x, y in points]
    roads = {
        (i, j)
        for i in range(locations)
        for j in range(i + 1, locations)
        if squares[i][j] * locations < 150**2
    }
    nearest = dict.fromkeys(range(1, locations), 0)  # the end in the tree so far
    while nearest:
        new = min(nearest, key=lambda i: (squares[i][nearest[i]], i))
        old = nearest.pop(new)
        roads.add((min(old, new), max(old, new)))
        nearest = {i: new if squares[i][new] < squares[i][end] else end for i, end in nearest.items()}
    return {(i, j): _tenth(squares[i][j]) for i, j in roads}


def _tenth(square: int) -> int:
    """A tenth of the square root, rounded up, and 1 at least."""
    root = math.isqrt(square)
    return max(1, -(-(root + (root * root < square)) // 10))
