"""Ferry: carry cars between locations, one at a time.

Where the ferry is, where each car is and where it belongs are uniform and independent, as in
Núñez-Molina et al. (arXiv 2308.11905): a car may start where it belongs, and the goal names them
all. Only problems with every car in place are drawn again.
"""

from __future__ import annotations

import random

from hstar.generators.problem import Problem, generator, starts_and_goals

DOMAIN = """\
(define (domain ferry)
  (:requirements :strips)
  (:predicates (empty-ferry) (car ?c) (location ?l) (at-ferry ?l) (on ?c)
               (not-eq ?l ?m) (at ?c ?l))

  (:action sail
    :parameters (?from ?to)
    :precondition (and (not-eq ?from ?to) (location ?from) (location ?to) (at-ferry ?from))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))

  (:action board
    :parameters (?car ?loc)
    :precondition (and (car ?car) (location ?loc) (at ?car ?loc) (at-ferry ?loc) (empty-ferry))
    :effect (and (on ?car) (not (at ?car ?loc)) (not (empty-ferry))))

  (:action debark
    :parameters (?car ?loc)
    :precondition (and (car ?car) (location ?loc) (on ?car) (at-ferry ?loc))
    :effect (and (at ?car ?loc) (empty-ferry) (not (on ?car)))))
"""


@generator("ferry", DOMAIN, locations=2, cars=1)
def generate(rng: random.Random, locations: int, cars: int) -> Problem:
    places, names = [f"l{i}" for i in range(locations)], [f"c{i}" for i in range(cars)]
    start, goal = starts_and_goals(names, places, rng)
    init = ["empty-ferry", f"at-ferry {rng.choice(places)}"]
    init += [f"location {place}" for place in places]
    init += [f"car {car}" for car in names]
    init += [f"not-eq {here} {there}" for here in places for there in places if here != there]
    return Problem({"": [*places, *names]}, [*init, *start], goal)
