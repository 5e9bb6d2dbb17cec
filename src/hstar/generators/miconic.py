"""Miconic (IPC 2000, STRIPS): a lift takes passengers to their floors.

Sizes: floors, passengers. Random: the floor of the lift, and for each passenger two different floors,
one to wait at and one to go to; all of it uniform. The lift reaches every floor and takes any
number of passengers, so that every problem has a plan.
"""

from __future__ import annotations

import random

from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain miconic)
  (:requirements :strips :typing)
  (:types passenger floor)
  (:predicates (origin ?p - passenger ?f - floor) (destin ?p - passenger ?f - floor)
               (above ?low ?high - floor) (lift-at ?f - floor)
               (boarded ?p - passenger) (served ?p - passenger))

  (:action board
    :parameters (?f - floor ?p - passenger)
    :precondition (and (lift-at ?f) (origin ?p ?f))
    :effect (boarded ?p))

  (:action depart
    :parameters (?f - floor ?p - passenger)
    :precondition (and (lift-at ?f) (destin ?p ?f) (boarded ?p))
    :effect (and (served ?p) (not (boarded ?p))))

  (:action up
    :parameters (?from ?to - floor)
    :precondition (and (lift-at ?from) (above ?from ?to))
    :effect (and (lift-at ?to) (not (lift-at ?from))))

  (:action down
    :parameters (?from ?to - floor)
    :precondition (and (lift-at ?from) (above ?to ?from))
    :effect (and (lift-at ?to) (not (lift-at ?from)))))
"""


@generator("miconic", DOMAIN, floors=2, passengers=1)
def generate(rng: random.Random, floors: int, passengers: int) -> Problem:
    levels, people = numbered("f", floors), numbered("p", passengers)
    init = [f"above {low} {high}" for i, low in enumerate(levels) for high in levels[i + 1 :]]
    init.append(f"lift-at {rng.choice(levels)}")
    for person in people:
        origin, destination = rng.sample(levels, 2)
        init += [f"origin {person} {origin}", f"destin {person} {destination}"]
    goal = [f"served {person}" for person in people]
    return Problem({"floor": levels, "passenger": people}, init, goal)
