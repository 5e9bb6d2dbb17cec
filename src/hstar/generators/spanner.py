"""Spanner (IPC 2011, learning track): a man walks a one-way path, picks up spanners and tightens nuts.

Sizes: spanners, nuts, locations between the shed and the gate. A spanner breaks when it is used, the nuts
are at the gate, and the man cannot go back: who leaves too many spanners behind has lost, which a
relaxation without deletes cannot see. Random: at which location each spanner lies, uniform
and independent. With at least as many spanners as nuts, picking up all of them is the first part of a
plan, so that every problem has one.
"""

from __future__ import annotations

import random
from itertools import pairwise

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain spanner)
  (:requirements :strips :typing)
  (:types man nut spanner - locatable
          locatable location)
  (:predicates (at ?x - locatable ?l - location) (link ?l ?m - location)
               (carrying ?m - man ?s - spanner) (usable ?s - spanner)
               (loose ?n - nut) (tightened ?n - nut))

  (:action walk
    :parameters (?from ?to - location ?m - man)
    :precondition (and (at ?m ?from) (link ?from ?to))
    :effect (and (at ?m ?to) (not (at ?m ?from))))

  (:action pick-up
    :parameters (?l - location ?s - spanner ?m - man)
    :precondition (and (at ?m ?l) (at ?s ?l))
    :effect (and (carrying ?m ?s) (not (at ?s ?l))))

  (:action tighten
    :parameters (?l - location ?s - spanner ?m - man ?n - nut)
    :precondition (and (at ?m ?l) (at ?n ?l) (carrying ?m ?s) (usable ?s) (loose ?n))
    :effect (and (tightened ?n) (not (loose ?n)) (not (usable ?s)))))
"""


@generator("spanner", DOMAIN, spanners=1, nuts=1, locations=1)
def generate(rng: random.Random, spanners: int, nuts: int, locations: int) -> Problem:
    if spanners < nuts:
        raise InputError(f"spanner needs at least as many spanners as nuts, got {spanners} for {nuts}")
    way, tools, bolts = numbered("l", locations), numbered("s", spanners), numbered("n", nuts)
    path = ["shed", *way, "gate"]
    init = ["at bob shed", *(f"link {here} {there}" for here, there in pairwise(path))]
    for tool in tools:
        init += [f"at {tool} {rng.choice(way)}", f"usable {tool}"]
    for bolt in bolts:
        init += [f"at {bolt} gate", f"loose {bolt}"]
    objects = {"man": ["bob"], "spanner": tools, "nut": bolts, "location": path}
    return Problem(objects, init, [f"tightened {bolt}" for bolt in bolts])
