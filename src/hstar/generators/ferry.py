"""Ferry: carry cars between locations, one at a time.

Where the ferry is, where each car is and where it belongs are uniform and independent, as in
Núñez-Molina et al. (arXiv 2308.11905): a car may start where it belongs, and the goal names them
all. Only problems with every car in place are drawn again.
"""

from __future__ import annotations

import random

from hstar.errors import InputError
from hstar.generators import GENERATORS

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


@GENERATORS.register("ferry")
def generate(locations: int, cars: int, seed: int) -> tuple[str, str]:
    """Domain and problem with that many locations and cars."""
    if locations < 2 or cars < 1:
        raise InputError(
            f"ferry needs at least 2 locations and 1 car, got {locations} locations, {cars} cars"
        )
    rng = random.Random(seed)
    origins = goals = [0] * cars
    while origins == goals:
        origins = [rng.randrange(locations) for _ in range(cars)]
        goals = [rng.randrange(locations) for _ in range(cars)]
    facts = ["(empty-ferry)", f"(at-ferry l{rng.randrange(locations)})"]
    facts += [f"(location l{i})" for i in range(locations)]
    facts += [f"(car c{i})" for i in range(cars)]
    facts += [f"(not-eq l{i} l{j})" for i in range(locations) for j in range(locations) if i != j]
    facts += [f"(at c{car} l{place})" for car, place in enumerate(origins)]
    names = [f"l{i}" for i in range(locations)] + [f"c{i}" for i in range(cars)]
    wanted = [f"(at c{car} l{place})" for car, place in enumerate(goals)]
    problem = f"""\
(define (problem ferry-{locations}-{cars}-{seed})
  (:domain ferry)
  (:objects {" ".join(names)})
  (:init {" ".join(facts)})
  (:goal (and {" ".join(wanted)})))
"""
    return DOMAIN, problem
