"""Logistics (IPC 1998 and 2000): trucks carry packages within cities, airplanes between them.

Sizes: cities, locations of each city, packages, airplanes. The first location of a city is its airport;
each city has one truck. Random: where each truck is in its city, at which airport each airplane is, where
each package is and where it belongs; all of it uniform and independent. A package may start where it
belongs, and the goal names them all. Only problems with every package in place are drawn again. Trucks
reach all of their city and airplanes all airports, so that every problem has a plan.
"""

from __future__ import annotations

import random

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator, numbered, starts_and_goals

DOMAIN = """\
(define (domain logistics)
  (:requirements :strips :typing)
  (:types vehicle package - movable
          truck airplane - vehicle
          airport - location
          movable location city)
  (:predicates (at ?x - movable ?l - location) (in ?p - package ?v - vehicle)
               (in-city ?l - location ?c - city))

  (:action load
    :parameters (?p - package ?v - vehicle ?l - location)
    :precondition (and (at ?p ?l) (at ?v ?l))
    :effect (and (in ?p ?v) (not (at ?p ?l))))

  (:action unload
    :parameters (?p - package ?v - vehicle ?l - location)
    :precondition (and (in ?p ?v) (at ?v ?l))
    :effect (and (at ?p ?l) (not (in ?p ?v))))

  (:action drive
    :parameters (?t - truck ?from ?to - location ?c - city)
    :precondition (and (at ?t ?from) (in-city ?from ?c) (in-city ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))

  (:action fly
    :parameters (?a - airplane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))
"""


@generator("logistics", DOMAIN, cities=1, locations=1, packages=1, airplanes=1)
def generate(rng: random.Random, cities: int, locations: int, packages: int, airplanes: int) -> Problem:
    if cities * locations < 2:
        raise InputError("logistics needs at least 2 locations in all, got 1")
    towns = numbered("city", cities)
    places = [[f"l{c}-{i}" for i in range(1, locations + 1)] for c in range(1, cities + 1)]
    airports = [town[0] for town in places]
    everywhere = [place for town in places for place in town]
    boxes, trucks, planes = numbered("p", packages), numbered("truck", cities), numbered("plane", airplanes)
    start, goal = starts_and_goals(boxes, everywhere, rng)
    init = [f"in-city {place} {town}" for town, own in zip(towns, places, strict=True) for place in own]
    init += [f"at {truck} {rng.choice(own)}" for truck, own in zip(trucks, places, strict=True)]
    init += [f"at {plane} {rng.choice(airports)}" for plane in planes]
    inland = [place for town in places for place in town[1:]]
    objects = {"city": towns, "airport": airports, "location": inland}
    objects |= {"truck": trucks, "airplane": planes, "package": boxes}
    return Problem(objects, [*init, *start], goal)
