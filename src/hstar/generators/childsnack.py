"""Childsnack (IPC 2014): sandwiches are made in the kitchen and carried on trays to waiting children.

Sizes: children, how many of them are allergic to gluten, trays, sandwiches that can be made. There is a
portion of bread and one of filling for each child, and as many of either without gluten as there are
allergic children: who wastes one of those on another child has lost. Random: which children are allergic,
at which of three tables each child waits, and which portions are free of gluten. Enough is there for all,
so that making the sandwiches of allergic children first leads to a plan.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain childsnack)
  (:requirements :strips :typing)
  (:types child bread filling sandwich tray place)
  (:constants kitchen - place)
  (:predicates (bread-in-kitchen ?b - bread) (filling-in-kitchen ?f - filling)
               (gluten-free-bread ?b - bread) (gluten-free-filling ?f - filling)
               (not-made ?s - sandwich) (sandwich-in-kitchen ?s - sandwich)
               (gluten-free ?s - sandwich) (on-tray ?s - sandwich ?t - tray)
               (at ?t - tray ?p - place)
               (allergic ?c - child) (not-allergic ?c - child)
               (waiting ?c - child ?p - place) (served ?c - child))

  (:action make-sandwich
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (not-made ?s) (bread-in-kitchen ?b) (filling-in-kitchen ?f))
    :effect (and (sandwich-in-kitchen ?s) (not (not-made ?s))
                 (not (bread-in-kitchen ?b)) (not (filling-in-kitchen ?f))))

  (:action make-gluten-free-sandwich
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (not-made ?s) (bread-in-kitchen ?b) (filling-in-kitchen ?f)
                       (gluten-free-bread ?b) (gluten-free-filling ?f))
    :effect (and (sandwich-in-kitchen ?s) (gluten-free ?s) (not (not-made ?s))
                 (not (bread-in-kitchen ?b)) (not (filling-in-kitchen ?f))))

  (:action put-on-tray
    :parameters (?s - sandwich ?t - tray)
    :precondition (and (sandwich-in-kitchen ?s) (at ?t kitchen))
    :effect (and (on-tray ?s ?t) (not (sandwich-in-kitchen ?s))))

  (:action move-tray
    :parameters (?t - tray ?from ?to - place)
    :precondition (at ?t ?from)
    :effect (and (at ?t ?to) (not (at ?t ?from))))

  (:action serve
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (not-allergic ?c) (waiting ?c ?p) (on-tray ?s ?t) (at ?t ?p))
    :effect (and (served ?c) (not (on-tray ?s ?t))))

  (:action serve-gluten-free
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (allergic ?c) (gluten-free ?s) (waiting ?c ?p) (on-tray ?s ?t) (at ?t ?p))
    :effect (and (served ?c) (not (on-tray ?s ?t)))))
"""

TABLES = ("table1", "table2", "table3")


@generator("childsnack", DOMAIN, children=1, allergic=0, trays=1, sandwiches=1)
def generate(rng: random.Random, children: int, allergic: int, trays: int, sandwiches: int) -> Problem:
    if allergic > children:
        raise InputError(f"childsnack has at most {children} allergic of {children} children, got {allergic}")
    if sandwiches < children:
        raise InputError(
            f"childsnack needs at least a sandwich for each child, got {sandwiches} for {children}"
        )
    kids, carriers, snacks = numbered("c", children), numbered("t", trays), numbered("s", sandwiches)
    breads, fillings = numbered("b", children), numbered("f", children)
    sick = set(rng.sample(kids, allergic))
    init = [f"at {tray} kitchen" for tray in carriers]
    init += [f"not-made {snack}" for snack in snacks]
    init += [f"bread-in-kitchen {bread}" for bread in breads]
    init += [f"filling-in-kitchen {filling}" for filling in fillings]
    init += [f"gluten-free-bread {bread}" for bread in sorted(rng.sample(breads, allergic))]
    init += [f"gluten-free-filling {filling}" for filling in sorted(rng.sample(fillings, allergic))]
    init += [f"{'allergic' if kid in sick else 'not-allergic'} {kid}" for kid in kids]
    init += [f"waiting {kid} {rng.choice(TABLES)}" for kid in kids]
    objects: dict[str, Sequence[str]] = {"child": kids, "tray": carriers, "sandwich": snacks}
    objects |= {"bread": breads, "filling": fillings, "place": TABLES}
    return Problem(objects, init, [f"served {kid}" for kid in kids])
