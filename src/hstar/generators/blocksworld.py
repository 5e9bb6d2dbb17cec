"""Blocksworld with four operators; start and goal are uniform among all states with an empty arm.

Slaney and Thiébaux, Blocks World revisited, AIJ 125, 2001. A state is built from n towers that
hang in the air, at first single blocks, and k towers that stand on the table. One hanging tower is
taken and put on the table or onto any other tower, with the probability that makes all final states
equally likely: there are g(n, k) = g(n-1, k+1) + (n-1+k) g(n-1, k) final states, so the table is
chosen with probability R / (n-1+k + R), where R = g(n-1, k+1) / g(n-1, k).

The goal lists only the `on` atoms, as in Núñez-Molina et al. (arXiv 2308.11905).
"""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import pairwise

from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain blocksworld-4ops)
  (:requirements :strips)
  (:predicates (arm-empty) (clear ?x) (on-table ?x) (holding ?x) (on ?x ?y))

  (:action pickup
    :parameters (?x)
    :precondition (and (clear ?x) (on-table ?x) (arm-empty))
    :effect (and (holding ?x) (not (clear ?x)) (not (on-table ?x)) (not (arm-empty))))

  (:action putdown
    :parameters (?x)
    :precondition (holding ?x)
    :effect (and (clear ?x) (on-table ?x) (arm-empty) (not (holding ?x))))

  (:action stack
    :parameters (?x ?y)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (arm-empty) (not (holding ?x)) (not (clear ?y))))

  (:action unstack
    :parameters (?x ?y)
    :precondition (and (on ?x ?y) (clear ?x) (arm-empty))
    :effect (and (holding ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (arm-empty)))))
"""


@generator("blocksworld", DOMAIN, blocks=2)
def generate(rng: random.Random, blocks: int) -> Problem:
    start = goal = list[list[int]]()
    while _on(goal) <= _on(start):
        start, goal = random_towers(blocks, rng), random_towers(blocks, rng)
    init = ["arm-empty"]
    for tower in start:
        init += [f"on b{upper} b{lower}" for lower, upper in pairwise(tower)]
        init += [f"on-table b{tower[0]}", f"clear b{tower[-1]}"]
    wanted = [f"on b{upper} b{lower}" for upper, lower in sorted(_on(goal))]
    return Problem({"": numbered("b", blocks)}, init, wanted)


def random_towers(blocks: int, rng: random.Random) -> list[list[int]]:
    """A uniformly random set of towers of the blocks 1, 2, ..., each from bottom to top."""
    ratios = _ratios(blocks)
    hanging = [[block] for block in range(1, blocks + 1)]
    standing: list[list[int]] = []
    while hanging:
        tower = hanging.pop()
        n, k = len(hanging), len(standing)
        ratio = ratios[n][k]
        if rng.random() * (n + k + ratio) < ratio:
            standing.append(tower)
        else:
            below = rng.randrange(n + k)
            (hanging[below] if below < n else standing[below - n]).extend(tower)
    return standing


def _on(towers: list[list[int]]) -> set[tuple[int, int]]:
    return {(upper, lower) for tower in towers for lower, upper in pairwise(tower)}


@lru_cache(maxsize=4)
def _ratios(blocks: int) -> list[list[float]]:
    """R(n, k) = g(n, k+1) / g(n, k) for n + k <= blocks, from the recurrence of g."""
    rows = [[1.0] * (blocks + 1)]
    for n in range(1, blocks):
        last = rows[-1]
        rows.append([last[k] * (n + k + last[k + 1]) / (n - 1 + k + last[k]) for k in range(blocks + 1 - n)])
    return rows
