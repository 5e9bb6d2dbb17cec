"""Satellite (IPC 2002, without numbers): satellites turn, switch instruments on and take images.

Sizes: satellites, instruments (the most that one satellite has), modes of images, directions, images that
are wanted. Random: each satellite has 1 to `instruments` instruments and points anywhere; each instrument
has a direction to calibrate it at and supports each mode with probability 1/2, and one mode at least; the
wanted pairs of direction and mode are a uniform choice without repetition. Each satellite has to point
somewhere at the end with probability 1/4. A mode that no instrument supports is given to a random one, so
that every image can be taken: a satellite turns anywhere, and its instruments can take turns.
"""

from __future__ import annotations

import random

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain satellite)
  (:requirements :strips :typing)
  (:types satellite instrument mode direction)
  (:predicates (on-board ?i - instrument ?s - satellite)
               (supports ?i - instrument ?m - mode)
               (calibration-target ?i - instrument ?d - direction)
               (pointing ?s - satellite ?d - direction)
               (power-avail ?s - satellite)
               (power-on ?i - instrument)
               (calibrated ?i - instrument)
               (have-image ?d - direction ?m - mode))

  (:action turn-to
    :parameters (?s - satellite ?to ?from - direction)
    :precondition (pointing ?s ?from)
    :effect (and (pointing ?s ?to) (not (pointing ?s ?from))))

  (:action switch-on
    :parameters (?i - instrument ?s - satellite)
    :precondition (and (on-board ?i ?s) (power-avail ?s))
    :effect (and (power-on ?i) (not (calibrated ?i)) (not (power-avail ?s))))

  (:action switch-off
    :parameters (?i - instrument ?s - satellite)
    :precondition (and (on-board ?i ?s) (power-on ?i))
    :effect (and (power-avail ?s) (not (power-on ?i))))

  (:action calibrate
    :parameters (?s - satellite ?i - instrument ?d - direction)
    :precondition (and (on-board ?i ?s) (power-on ?i) (calibration-target ?i ?d) (pointing ?s ?d))
    :effect (calibrated ?i))

  (:action take-image
    :parameters (?s - satellite ?d - direction ?i - instrument ?m - mode)
    :precondition (and (on-board ?i ?s) (power-on ?i) (calibrated ?i) (supports ?i ?m) (pointing ?s ?d))
    :effect (have-image ?d ?m)))
"""


@generator("satellite", DOMAIN, satellites=1, instruments=1, modes=1, directions=1, images=1)
def generate(
    rng: random.Random, satellites: int, instruments: int, modes: int, directions: int, images: int
) -> Problem:
    if images > directions * modes:
        raise InputError(
            f"satellite has {directions * modes} images of {directions} directions in {modes} modes, "
            f"got {images}"
        )
    crafts, kinds, stars = numbered("s", satellites), numbered("m", modes), numbered("d", directions)
    owner: dict[str, str] = {}
    for craft in crafts:
        for _ in range(rng.randint(1, instruments)):
            owner[f"i{len(owner) + 1}"] = craft
    init = [f"power-avail {craft}" for craft in crafts]
    init += [f"pointing {craft} {rng.choice(stars)}" for craft in crafts]
    supports: dict[str, set[str]] = {}
    for instrument, craft in owner.items():
        init += [f"on-board {instrument} {craft}", f"calibration-target {instrument} {rng.choice(stars)}"]
        supports[instrument] = {kind for kind in kinds if rng.randrange(2)} or {rng.choice(kinds)}
    for kind in kinds:
        if not any(kind in supported for supported in supports.values()):
            supports[rng.choice(list(owner))].add(kind)
    init += [f"supports {i} {kind}" for i, supported in supports.items() for kind in sorted(supported)]
    wanted = sorted(rng.sample(range(directions * modes), images))
    goal = [f"have-image {stars[pair // modes]} {kinds[pair % modes]}" for pair in wanted]
    goal += [f"pointing {craft} {rng.choice(stars)}" for craft in crafts if not rng.randrange(4)]
    objects = {"satellite": crafts, "instrument": list(owner), "mode": kinds, "direction": stars}
    return Problem(objects, init, goal)
