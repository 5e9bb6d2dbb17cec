"""Walks backward from a goal: what the makers of tasks need of a space, and the two spaces that give it.

A puzzle has one goal, and its moves can be taken back: backward steps are moves. A planning task has a goal
that many states may satisfy and actions that need no inverse: a backward step is regression by an action,
with what it leaves open completed at random without mutex facts (`core/sampling/predecessors.h`).

Mutexes do not tell all: of the goals of eight blocks that were completed in that way, 40 % had a tower that
stood on its own top. So where a goal leaves facts open, walks start from a state of it that a plan leads to,
and from others that are reached from there by actions that keep the goal; only if ff finds no plan quickly
is the goal completed.

Invariant: from the end of every walk the goal can be reached, by as many actions as the walk has steps.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hstar import _core
from hstar.errors import InputError, UnsupportedError, uninterrupted
from hstar.search.solve import plan_states, solve
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.task import Task


class BackwardWalks(Protocol):
    """A space seen from its goal. All random choices are by the generator that is handed in."""

    def goal(self, rng: np.random.Generator) -> State:
        """A state of the goal."""

    def neighbours(self, state: State, rng: np.random.Generator) -> list[State]:
        """Different states from which one action leads to the given one."""

    def walk(self, steps: int, rng: np.random.Generator) -> State:
        """Where so many backward steps from the goal end, each by chance and none taken back at once.

        Shorter where no action leads on.
        """
        before, here = None, self.goal(rng)
        for _ in range(steps):
            states = [state for state in self.neighbours(here, rng) if state != before]
            if not states:
                break
            before, here = here, states[int(rng.integers(len(states)))]
        return here


class PuzzleWalks(BackwardWalks):
    """Of a native puzzle, where the states that a move leads to are those that one comes from."""

    def __init__(self, puzzle: Puzzle) -> None:
        self._puzzle = puzzle

    def goal(self, rng: np.random.Generator) -> State:
        return self._puzzle.goal

    def neighbours(self, state: State, rng: np.random.Generator) -> list[State]:
        return [tuple(found) for found, _ in self._puzzle.core.predecessors(state)]

    def walk(self, steps: int, rng: np.random.Generator) -> State:
        return tuple(self._puzzle.core.walk(self._puzzle.goal, steps, int(rng.integers(2**63))))


_LOOKS = 20  # at completed goals, before they count as one and the same
_ENOUGH = 10_000  # evaluated states of the search for a state of the goal
_KEEPING = 10  # actions that keep the goal, at most


class TaskWalks(BackwardWalks):
    """Of a planning task; states are the values of its variables."""

    def __init__(self, task: Task) -> None:
        core = task.core
        for found, what in (
            (core.num_axioms, "axioms"),
            (core.has_conditional_effects, "conditional effects"),
        ):
            if found:
                why = "walks from its goal need regression, which does not support them"
                raise UnsupportedError(f"{task.name} has {what}: {why}; fsm, nrsl and rsl sample it forward")
        self._name, self._core = task.name, core
        self._steps = _core.Predecessors.of(task.core)
        completed = {self._completed(seed) for seed in range(_LOOKS)}
        self._reached = None if len(completed) == 1 else _reached_goal(task)

    def goal(self, rng: np.random.Generator) -> State:
        """The facts of the goal, and all else by chance."""
        if self._reached is None:
            return self._completed(int(rng.integers(2**63)))
        here = self._reached
        for _ in range(int(rng.integers(_KEEPING + 1))):
            operators = self._core.applicable_operators(here)
            states = [tuple(self._core.successor(here, operator)) for operator in operators]
            kept = [state for state in states if self._is_goal(state)]
            if not kept:
                break
            here = kept[int(rng.integers(len(kept)))]
        return here

    def _completed(self, seed: int) -> State:
        found = self._steps.goal(seed)
        if found is None:
            raise InputError(f"the goal of {self._name} holds in no state: its facts exclude each other")
        return tuple(found)

    def _is_goal(self, state: State) -> bool:
        return all(state[variable] == value for variable, value in self._core.goal)

    def neighbours(self, state: State, rng: np.random.Generator) -> list[State]:
        """One state for each action that may have come last."""
        found, _ = self._steps.find(state, int(rng.integers(2**63)))
        return list(dict.fromkeys(map(tuple, found.tolist())))


def _reached_goal(task: Task) -> State | None:
    """The last state of a plan from the task's own start; None if ff does not find one quickly."""
    result = uninterrupted(solve(task, "ff", "gbfs", max_evaluations=_ENOUGH))
    return None if result.actions is None else tuple(plan_states(task, result.actions)[-1])
