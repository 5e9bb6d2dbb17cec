"""Labelled states of small tasks, for the tests of models and recipes for whole domains."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import hstar
from hstar.generators import GENERATORS
from hstar.sampling.optimal import HEURISTICS, Optimal
from hstar.sampling.relational import RelationalData, instance_of
from hstar.search.heuristics import evaluate, relaxed_plan
from hstar.spaces.relations import Vocabulary, vocabulary

States = npt.NDArray[np.int32]


def written(folder: Path, domain: str, problem: str, *, unit_cost: bool = True) -> hstar.Task:
    """The task that two texts describe."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("domain.pddl", domain), ("problem.pddl", problem)):
        (folder / name).write_text(text)
    return hstar.load(folder / "domain.pddl", folder / "problem.pddl", unit_cost=unit_cost)


def generated(folder: Path, name: str, **sizes: int) -> hstar.Task:
    """A task of a generator."""
    home = folder / "-".join([name, *map(str, sizes.values())])
    return written(home, *GENERATORS.get(name)(**sizes))


def labelled(
    tasks: Iterable[hstar.Task], *, siblings: bool = False, upper: bool = False, letter: str = "p"
) -> RelationalData:
    """The states of their optimal plans; the instances are p0, p1 and so on."""
    given = list(tasks)
    words = vocabulary(given[0])
    optimal = Optimal(siblings=siblings, upper=upper)
    found = [optimal.label(task, words, f"{letter}{i}") for i, task in enumerate(given)]
    return RelationalData(words, tuple(found))


def described(task: hstar.Task, words: Vocabulary, states: States) -> RelationalData:
    """Any states of a task with what `hstar label` tells of them, by other means; every label is 0."""
    steps = task.with_unit_cost()
    plans = [relaxed_plan(steps, state.tolist()) for state in states]
    columns: dict[str, Any] = {name: evaluate(steps, name, states) for name in HEURISTICS}
    columns["operators"] = [np.inf if plan is None else len(plan.operators) for plan in plans]
    columns["deletes"] = [np.inf if plan is None else plan.ignored_deletes for plan in plans]
    columns["label"] = np.zeros(len(states))
    columns["parent"] = np.full(len(states), np.nan)
    found = {name: np.array(column, dtype=np.float32) for name, column in columns.items()}
    return RelationalData(words, (instance_of(task.name, task, words, states, found),))


def reachable(task: hstar.Task, most: int) -> States:
    """The first states of a task, breadth first."""
    start = tuple(task.core.initial_state)
    seen, found = {start}, [start]
    for state in found:
        if len(found) >= most:
            break
        for operator in task.core.applicable_operators(list(state)):
            successor = tuple(task.core.successor(list(state), operator))
            if successor not in seen:
                seen.add(successor)
                found.append(successor)
    return np.array(found[:most], dtype=np.int32)


# --- domains of their own -------------------------------------------------------------------------------

ISLANDS = """
(define (domain islands)
  (:predicates (at ?x) (way ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (way ?x ?y))
    :effect (and (at ?y) (not (at ?x)))))
"""
# From a there is a way to the goal c by b, and one to an island without a way back.
ISLAND = """
(define (problem island) (:domain islands) (:objects a b c island)
  (:init (at {start}) (way a b) (way b a) (way b c) (way a island))
  (:goal (and (at c))))
"""


def islands(folder: Path, start: str) -> hstar.Task:
    """The way from one of its places."""
    return written(folder, ISLANDS, ISLAND.format(start=start))


# Constants, a type with a subtype, predicates without arguments and with four, and a goal without arguments.
KITCHEN = """
(define (domain kitchen)
  (:requirements :typing)
  (:types food tool - object fruit - food)
  (:constants stove - tool)
  (:predicates (hungry) (fed) (raw ?f - food) (mixed ?a ?b ?c - food ?t - tool))
  (:action mix :parameters (?a ?b ?c - food ?t - tool) :precondition (and (raw ?a) (raw ?b) (raw ?c))
    :effect (and (mixed ?a ?b ?c ?t) (not (raw ?a))))
  (:action eat :parameters (?a ?b ?c - food) :precondition (and (hungry) (mixed ?a ?b ?c stove))
    :effect (and (fed) (not (hungry)))))
"""
KITCHEN_PROBLEM = """
(define (problem dinner) (:domain kitchen)
  (:objects {objects} - fruit egg - food bowl - tool)
  (:init (hungry) (raw egg) {raw})
  (:goal (and (fed))))
"""


def dinner(folder: Path, *fruit: str, arguments: int = 4) -> hstar.Task:
    """A task of the kitchen; with 3 arguments two kinds of food are mixed, not three."""
    raw = " ".join(f"(raw {name})" for name in fruit)
    domain = KITCHEN if arguments == 4 else KITCHEN.replace(" (raw ?c)", "").replace(" ?c", "")
    return written(folder, domain, KITCHEN_PROBLEM.format(objects=" ".join(fruit), raw=raw))
