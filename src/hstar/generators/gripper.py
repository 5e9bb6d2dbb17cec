"""Gripper (IPC 1998): a robot with two grippers carries balls between two rooms.

Sizes: balls. Random: the room of each ball, the room it belongs to and the room of the robot are fair
coin flips, as in Núñez-Molina et al. (arXiv 2308.11905); the competition has all balls in one room. A
ball may start where it belongs, and the goal names them all. Only problems with every ball in place are
drawn again. As in the competition the robot may move to the room it is in, which changes nothing.
"""

from __future__ import annotations

import random

from hstar.generators.problem import Problem, generator, numbered, starts_and_goals

DOMAIN = """\
(define (domain gripper)
  (:requirements :strips)
  (:predicates (room ?r) (ball ?b) (gripper ?g) (at-robby ?r) (free ?g) (at ?b ?r) (carry ?b ?g))

  (:action move
    :parameters (?from ?to)
    :precondition (and (room ?from) (room ?to) (at-robby ?from))
    :effect (and (at-robby ?to) (not (at-robby ?from))))

  (:action pick
    :parameters (?b ?r ?g)
    :precondition (and (ball ?b) (room ?r) (gripper ?g) (at ?b ?r) (at-robby ?r) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))

  (:action drop
    :parameters (?b ?r ?g)
    :precondition (and (ball ?b) (room ?r) (gripper ?g) (carry ?b ?g) (at-robby ?r))
    :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
"""

ROOMS = ("rooma", "roomb")
GRIPPERS = ("left", "right")


@generator("gripper", DOMAIN, balls=1)
def generate(rng: random.Random, balls: int) -> Problem:
    names = numbered("ball", balls)
    start, goal = starts_and_goals(names, ROOMS, rng)
    init = [f"room {room}" for room in ROOMS]
    init += [f"ball {ball}" for ball in names]
    for gripper in GRIPPERS:
        init += [f"gripper {gripper}", f"free {gripper}"]
    init += [f"at-robby {rng.choice(ROOMS)}", *start]
    return Problem({"": [*ROOMS, *GRIPPERS, *names]}, init, goal)
