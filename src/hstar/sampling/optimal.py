"""States along optimal plans with their h*, for tasks of one domain (Núñez-Molina et al., arXiv 2308.11905).

A task is solved by A* with lmcut, every operator counting 1. Each state of the plan, the first and the last
one included, gets its distance to the goal, the values of symbolic heuristics, and what the relaxed plan of
ff tells: columns by the names of COLUMNS. With siblings, so do the other successors of the plan's states; of
their distance to the goal it is only known that it is no less than that of the successor on the plan.

With `upper` there is one more column: the cost of the plan that a greedy search (gbfs with ff) finds from the
state, which h* does not exceed. Each of these searches may evaluate GREEDY_EVALUATIONS states, and all of
them together take as long as the search for the optimal plan may; NaN where they find none.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.options import option
from hstar.sampling.relational import RelationalInstance, instance_of
from hstar.search.heuristics import evaluate, relaxed_plan
from hstar.search.solve import solve
from hstar.spaces.relations import Vocabulary, relations
from hstar.spaces.task import Task
from hstar.spaces.validate import states_along

HEURISTICS = ("blind", "goalcount", "hmax", "ff", "lmcut")
COLUMNS = ("label", "parent", *HEURISTICS, "operators", "deletes")
"""h*; the row of the state before; the heuristics; of ff's relaxed plan, how many operators it has and how
many atoms they delete. Infinite where a heuristic sees a dead end."""
UPPER = "upper"
"""The column of upper bounds; NaN where there is none."""
GREEDY_EVALUATIONS = 10_000


@dataclass(frozen=True)
class Optimal:
    """Limits of the search for an optimal plan."""

    time_limit: float = option(300.0, "Seconds of the search.")
    memory_limit: int = option(8 << 30, "Bytes of the search.")
    siblings: bool = option(False, "Other successors of the states, too; they have no label.")
    upper: bool = option(False, "Upper bounds by plans that a greedy search finds from each state.")
    cpu: bool = option(False, "Limit CPU time instead of wall-clock time.")

    def label(self, task: Task, words: Vocabulary, name: str | None = None) -> RelationalInstance:
        """The states of an optimal plan; a `NoLabelError` if none is found, or if it is empty."""
        if not task.core.unit_cost:
            raise InputError(f"{task.name}: load it with unit_cost=True, since labels count steps")
        relations(task, words)  # before the search: it may not fit
        plan = optimal_states(task, self)
        siblings = list(_siblings(task, plan)) if self.siblings else []
        label = np.concatenate([np.arange(len(plan) - 1, -1, -1), np.full(len(siblings), np.nan)])
        parent = np.array([np.nan, *range(len(plan) - 1), *(row for row, _ in siblings)])
        states = np.array([*plan, *(state for _, state in siblings)], dtype=np.int32)
        columns = {"label": label, "parent": parent, **_columns(task, states)}
        if self.upper:
            columns[UPPER] = greedy_costs(task, states, self)
        found = {name: column.astype(np.float32) for name, column in columns.items()}
        return instance_of(name or task.name, task, words, states, found)


class NoLabelError(InputError):
    """A task whose states get no label."""


def optimal_states(task: Task, limits: Optimal) -> list[list[int]]:
    """The states of an optimal plan, first and last included; a `NoLabelError` as in `label`."""
    result = solve(task, "lmcut", "astar", **_limits(limits, limits.time_limit))
    if result.status == "interrupted":
        raise KeyboardInterrupt
    if result.plan is None:
        raise NoLabelError(f"{task.name}: no optimal plan: {result.status.replace('_', ' ')}")
    if not result.plan:
        raise NoLabelError(f"{task.name}: the goal holds from the start")
    index = {task.core.operator(i).name.strip(): i for i in range(task.core.num_operators)}
    return states_along(task.core, [index[step] for step in result.plan])


def greedy_costs(task: Task, states: npt.NDArray[np.int32], limits: Optimal) -> npt.NDArray[np.float64]:
    """What plans by gbfs with ff cost from each state, and NaN where none is found."""
    clock = time.process_time if limits.cpu else time.monotonic
    costs, end = np.full(len(states), np.nan), clock() + limits.time_limit
    for i, state in enumerate(states):
        if (left := end - clock()) <= 0:
            break
        start = replace(task, core=task.core.with_initial_state(state.tolist()))
        found = solve(start, "ff", "gbfs", max_evaluations=GREEDY_EVALUATIONS, **_limits(limits, left))
        if found.status == "interrupted":
            raise KeyboardInterrupt
        if found.plan_cost is not None:
            costs[i] = found.plan_cost
    return costs


def _limits(limits: Optimal, seconds: float) -> dict[str, Any]:
    return {"cpu_time_limit" if limits.cpu else "time_limit": seconds, "memory_limit": limits.memory_limit}


def _siblings(task: Task, plan: list[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """Successors of the plan's states beside the next one, each once, with the row of their parent."""
    for row, (state, chosen) in enumerate(itertools.pairwise(plan)):
        successors = (task.core.successor(state, i) for i in task.core.applicable_operators(state))
        for successor in sorted(set(map(tuple, successors)) - {tuple(chosen)}):
            yield row, list(successor)


def _columns(task: Task, states: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[np.float64]]:
    columns = {name: evaluate(task, name, states) for name in HEURISTICS}
    plans = [relaxed_plan(task, state.tolist()) for state in states]
    columns["operators"] = np.array([np.inf if plan is None else len(plan.operators) for plan in plans])
    columns["deletes"] = np.array([np.inf if plan is None else plan.ignored_deletes for plan in plans])
    return columns
