"""Rovers (IPC 2002, without numbers): rovers collect samples, take images and send data to a lander.

Sizes: rovers, waypoints, objectives, cameras, goals (data to be sent). Random: waypoints see each other
along a random tree and as many further pairs; each rover crosses a spanning tree of these of its own. A
rover has each of the three kinds of equipment with probability 1/2, and one at least; a kind that nobody
has is given to anyone. Cameras are on rovers that can take images; a camera supports each of three modes
with probability 1/2, and one at least; a mode that none supports is given to any camera. The goals are a
uniform choice among all samples and images. Samples lie where they are wanted, and elsewhere with
probability 1/2; an objective is seen from each waypoint with probability 1/4, and from one at least.

Every rover reaches every waypoint, one that sees the lander among them, and all that the goals ask for is
somebody's job, so that every problem has a plan. The competition's flags for the channel of the lander
and for a rover being available, which each action leaves as they are, are left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from hstar.errors import InputError
from hstar.generators.problem import Problem, generator, numbered

DOMAIN = """\
(define (domain rovers)
  (:requirements :strips :typing)
  (:types rover waypoint store camera mode lander objective)
  (:predicates (at ?r - rover ?w - waypoint) (at-lander ?l - lander ?w - waypoint)
               (can-traverse ?r - rover ?w ?v - waypoint) (visible ?w ?v - waypoint)
               (equipped-for-soil-analysis ?r - rover) (equipped-for-rock-analysis ?r - rover)
               (equipped-for-imaging ?r - rover)
               (store-of ?s - store ?r - rover) (empty ?s - store) (full ?s - store)
               (at-soil-sample ?w - waypoint) (at-rock-sample ?w - waypoint)
               (have-soil-analysis ?r - rover ?w - waypoint) (have-rock-analysis ?r - rover ?w - waypoint)
               (on-board ?c - camera ?r - rover) (supports ?c - camera ?m - mode)
               (calibration-target ?c - camera ?o - objective) (calibrated ?c - camera)
               (visible-from ?o - objective ?w - waypoint)
               (have-image ?r - rover ?o - objective ?m - mode)
               (communicated-soil-data ?w - waypoint) (communicated-rock-data ?w - waypoint)
               (communicated-image-data ?o - objective ?m - mode))

  (:action navigate
    :parameters (?r - rover ?from ?to - waypoint)
    :precondition (and (at ?r ?from) (can-traverse ?r ?from ?to) (visible ?from ?to))
    :effect (and (at ?r ?to) (not (at ?r ?from))))

  (:action sample-soil
    :parameters (?r - rover ?s - store ?w - waypoint)
    :precondition (and (at ?r ?w) (at-soil-sample ?w) (equipped-for-soil-analysis ?r)
                       (store-of ?s ?r) (empty ?s))
    :effect (and (full ?s) (not (empty ?s)) (have-soil-analysis ?r ?w) (not (at-soil-sample ?w))))

  (:action sample-rock
    :parameters (?r - rover ?s - store ?w - waypoint)
    :precondition (and (at ?r ?w) (at-rock-sample ?w) (equipped-for-rock-analysis ?r)
                       (store-of ?s ?r) (empty ?s))
    :effect (and (full ?s) (not (empty ?s)) (have-rock-analysis ?r ?w) (not (at-rock-sample ?w))))

  (:action drop
    :parameters (?r - rover ?s - store)
    :precondition (and (store-of ?s ?r) (full ?s))
    :effect (and (empty ?s) (not (full ?s))))

  (:action calibrate
    :parameters (?r - rover ?c - camera ?o - objective ?w - waypoint)
    :precondition (and (equipped-for-imaging ?r) (on-board ?c ?r) (calibration-target ?c ?o)
                       (at ?r ?w) (visible-from ?o ?w))
    :effect (calibrated ?c))

  (:action take-image
    :parameters (?r - rover ?w - waypoint ?o - objective ?c - camera ?m - mode)
    :precondition (and (equipped-for-imaging ?r) (on-board ?c ?r) (calibrated ?c) (supports ?c ?m)
                       (at ?r ?w) (visible-from ?o ?w))
    :effect (and (have-image ?r ?o ?m) (not (calibrated ?c))))

  (:action communicate-soil-data
    :parameters (?r - rover ?l - lander ?of ?here ?there - waypoint)
    :precondition (and (have-soil-analysis ?r ?of) (at ?r ?here) (at-lander ?l ?there) (visible ?here ?there))
    :effect (communicated-soil-data ?of))

  (:action communicate-rock-data
    :parameters (?r - rover ?l - lander ?of ?here ?there - waypoint)
    :precondition (and (have-rock-analysis ?r ?of) (at ?r ?here) (at-lander ?l ?there) (visible ?here ?there))
    :effect (communicated-rock-data ?of))

  (:action communicate-image-data
    :parameters (?r - rover ?l - lander ?o - objective ?m - mode ?here ?there - waypoint)
    :precondition (and (have-image ?r ?o ?m) (at ?r ?here) (at-lander ?l ?there) (visible ?here ?there))
    :effect (communicated-image-data ?o ?m)))
"""

MODES = ("colour", "high-res", "low-res")
EQUIPMENT = ("soil-analysis", "rock-analysis", "imaging")


@generator("rovers", DOMAIN, rovers=1, waypoints=2, objectives=1, cameras=1, goals=1)
def generate(
    rng: random.Random, rovers: int, waypoints: int, objectives: int, cameras: int, goals: int
) -> Problem:
    most = 2 * waypoints + len(MODES) * objectives
    if goals > most:
        raise InputError(
            f"rovers has at most {most} goals for {waypoints} waypoints and {objectives} objectives, "
            f"got {goals}"
        )
    crews, places = numbered("r", rovers), numbered("w", waypoints)
    views, eyes, stores = numbered("o", objectives), numbered("c", cameras), numbered("s", rovers)
    init = [f"at-lander base {rng.choice(places)}"]
    seen = _pairs(waypoints, rng)
    init += [f"visible {places[i]} {places[j]}" for i, j in _both_ways(seen)]
    for rover, store in zip(crews, stores, strict=True):
        init += [f"at {rover} {rng.choice(places)}", f"store-of {store} {rover}", f"empty {store}"]
        ways = _spanning_tree(waypoints, seen, rng)
        init += [f"can-traverse {rover} {places[i]} {places[j]}" for i, j in _both_ways(ways)]
    equipped = _some_for_each(crews, EQUIPMENT, rng)
    init += [f"equipped-for-{kind} {rover}" for rover, kinds in equipped.items() for kind in kinds]
    photographers = [rover for rover, kinds in equipped.items() if "imaging" in kinds]
    for camera, modes in _some_for_each(eyes, MODES, rng).items():
        init += [f"on-board {camera} {rng.choice(photographers)}"]
        init += [f"calibration-target {camera} {rng.choice(views)}"]
        init += [f"supports {camera} {mode}" for mode in modes]
    for view in views:
        spots = [place for place in places if not rng.randrange(4)] or [rng.choice(places)]
        init += [f"visible-from {view} {place}" for place in spots]
    wanted = set(rng.sample(range(most), goals))
    goal = []
    for number in range(2 * waypoints):
        kind, place = ("soil", "rock")[number % 2], places[number // 2]
        if number in wanted:
            goal.append(f"communicated-{kind}-data {place}")
        if rng.randrange(2) or number in wanted:
            init.append(f"at-{kind}-sample {place}")
    images = [f"communicated-image-data {view} {mode}" for view in views for mode in MODES]
    goal += [image for number, image in enumerate(images, 2 * waypoints) if number in wanted]
    objects: dict[str, Sequence[str]] = {"rover": crews, "waypoint": places, "store": stores, "camera": eyes}
    objects |= {"mode": MODES, "lander": ["base"], "objective": views}
    return Problem(objects, init, goal)


Pairs = list[tuple[int, int]]


def _pairs(number: int, rng: random.Random) -> Pairs:
    """Pairs of numbers, the smaller first, that connect all of them: a random tree, and as many again."""
    found = {(rng.randrange(i), i) for i in range(1, number)}
    for _ in range(number - 1):
        i, j = sorted(rng.sample(range(number), 2))
        found.add((i, j))
    return sorted(found)


def _spanning_tree(number: int, pairs: Pairs, rng: random.Random) -> Pairs:
    """Pairs that connect all numbers without a circle: those of a random order that join two parts."""
    part = list(range(number))
    chosen: Pairs = []
    for i, j in rng.sample(pairs, len(pairs)):
        if part[i] != part[j]:
            chosen.append((i, j))
            part = [part[i] if other == part[j] else other for other in part]
    return sorted(chosen)


def _both_ways(pairs: Pairs) -> Pairs:
    return [both for i, j in pairs for both in ((i, j), (j, i))]


def _some_for_each(
    owners: list[str], things: tuple[str, ...], rng: random.Random
) -> dict[str, tuple[str, ...]]:
    """Each owner has each thing with probability 1/2, and one at least; each thing has an owner."""
    has = {owner: {thing for thing in things if rng.randrange(2)} or {rng.choice(things)} for owner in owners}
    for thing in things:
        if not any(thing in own for own in has.values()):
            has[rng.choice(owners)].add(thing)
    return {owner: tuple(thing for thing in things if thing in own) for owner, own in has.items()}
