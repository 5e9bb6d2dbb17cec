"""States along optimal plans with their h*, for tasks of one domain (Núñez-Molina et al., arXiv 2308.11905).

A task is solved by A* with lmcut, every operator counting 1. Each state of the plan, the first and the last
one included, gets its distance to the goal, the values of symbolic heuristics, and what the relaxed plan of
ff tells: columns by the names of COLUMNS. With siblings, so do the other successors of the plan's states; of
their distance to the goal it is only known that it is no less than that of the successor on the plan. Where
lmcut does not support the task (conditional effects, axioms), A* has hmax and the column lmcut is NaN.

With `upper` there is one more column: the cost of the plan that a greedy search (gbfs with ff) finds from the
state, which h* does not exceed. Each of these searches may evaluate GREEDY_EVALUATIONS states, and all of
them together take as long as the search for the optimal plan may; NaN where they find none.

With `satisficing`, a task without an optimal plan within the limits is labelled along a plan of `lama-first`,
or along a plan that the user has. Its labels are upper bounds of h*, and the column `exact` is 0 there. The
successor on such a plan is taken to be no farther from the goal than its siblings, as on an optimal one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError, uninterrupted
from hstar.options import option
from hstar.sampling.relational import RelationalInstance, instance_of
from hstar.search.aliases import find_alias
from hstar.search.config import SearchConfig
from hstar.search.heuristics import evaluate, relaxed_plan
from hstar.search.result import Result
from hstar.search.solve import plan_states, solve
from hstar.spaces.relations import Vocabulary, check_fit, vocabulary
from hstar.spaces.task import Task

HEURISTICS = ("blind", "goalcount", "hmax", "ff", "lmcut")
COLUMNS = ("label", "parent", *HEURISTICS, "operators", "deletes")
"""h*; the row of the state before; the heuristics; of ff's relaxed plan, how many operators it has and how
many atoms they delete. Infinite where a heuristic sees a dead end."""
UPPER = "upper"
"""The column of upper bounds; NaN where there is none."""
EXACT = "exact"
"""The column of satisficing labels: 1 where the label is known to be h*, 0 where it is an upper bound."""
GREEDY_EVALUATIONS = 10_000
SATISFICING_SIBLINGS = 2_000  # at most so many of a satisficing plan: lmcut is slow on large tasks


@dataclass(frozen=True)
class Optimal:
    """Limits of the search for an optimal plan."""

    time_limit: float = option(300.0, "Time limit of each search.")
    memory_limit: int = option(8 << 30, "Memory limit of each search.")
    siblings: bool = option(False, "Add the other successors of the states of a plan, for ranking losses.")
    upper: bool = option(False, "Add upper bounds: costs of plans of a greedy search from each state.")
    cpu: bool = option(False, "Limit CPU time instead of wall-clock time.")
    satisficing: bool = option(
        False, "Without an optimal plan in time, add upper bounds along a plan of lama-first."
    )

    def label(
        self, task: Task, words: Vocabulary, name: str | None = None, plan: PlanFor | None = None
    ) -> RelationalInstance:
        """The states of a plan, by default of `self.plan`; a `NoLabelError` if it is empty, or not found."""
        if not task.core.unit_cost:
            raise InputError(f"{task.name}: load it with unit_cost=True, since labels count steps")
        check_fit(task, words)  # before the search
        chosen = self.plan(task) if plan is None else plan
        states_of_plan = _along(task, chosen.steps)
        siblings = list(_siblings(task, states_of_plan)) if self.siblings else []
        if not chosen.exact:
            siblings = siblings[:: 1 + len(siblings) // SATISFICING_SIBLINGS]
        length = len(chosen.steps)
        label = np.concatenate([np.arange(length, -1, -1), np.full(len(siblings), np.nan)])
        parent = np.array([np.nan, *range(length), *(row for row, _ in siblings)])
        states = np.array([*states_of_plan, *(state for _, state in siblings)], dtype=np.int32)
        columns = {"label": label, "parent": parent, **_columns(task, states)}
        if self.upper:
            columns[UPPER] = greedy_costs(task, states, self)
        if self.satisficing:
            columns[EXACT] = np.full(len(states), float(chosen.exact))
        found = {name: column.astype(np.float32) for name, column in columns.items()}
        return instance_of(name or task.name, task, words, states, found)

    def plan(self, task: Task) -> PlanFor:
        """An optimal plan, or with `satisficing` one of lama-first; a `NoLabelError` as in `label`."""
        check_fit(task, vocabulary(task))  # before the search: the states may have no labels
        result = _optimal(task, self)
        if not self.satisficing or result.status not in ("time_limit", "memory_limit"):
            return PlanFor(_steps_of(task, result), exact=True)
        limits = SearchConfig(**_limits(self, self.time_limit))
        return PlanFor(_steps_of(task, find_alias("lama-first").run(task, limits)), exact=False)


class PlanFor(NamedTuple):
    """Steps of a plan, and whether they are known to be optimal."""

    steps: Sequence[str]
    exact: bool


def plan_of(task: Task, steps: Sequence[str]) -> PlanFor:
    """A plan that somebody has; it is optimal if lmcut says that there is no shorter one."""
    start = np.array([task.core.initial_state], dtype=np.int32)
    heuristic = "lmcut" if _supported(task, "lmcut") else "hmax"
    return PlanFor(steps, bool(evaluate(task, heuristic, start)[0] >= len(steps)))


class NoLabelError(InputError):
    """A task whose states get no label."""


def optimal_states(task: Task, limits: Optimal) -> list[list[int]]:
    """The states of an optimal plan, first and last included; a `NoLabelError` as in `label`."""
    return _along(task, _steps_of(task, _optimal(task, limits)))


def _supported(task: Task, heuristic: str) -> bool:
    return heuristic != "lmcut" or not (task.core.has_conditional_effects or task.core.num_axioms)


def _optimal(task: Task, limits: Optimal) -> Result:
    heuristic = "lmcut" if _supported(task, "lmcut") else "hmax"
    return solve(task, heuristic, "astar", **_limits(limits, limits.time_limit))


def _steps_of(task: Task, result: Result) -> Sequence[str]:
    plan = uninterrupted(result).plan
    if plan is None:
        raise NoLabelError(f"{task.name}: no optimal plan: {result.status.replace('_', ' ')}")
    return plan


def _along(task: Task, steps: Sequence[str]) -> list[list[int]]:
    """The states of a plan by the names of its operators."""
    if not steps:
        raise NoLabelError(f"{task.name}: the goal holds from the start")
    index = {task.core.operator(i).name.strip(): i for i in range(task.core.num_operators)}
    if unknown := next((step for step in steps if step not in index), None):
        raise NoLabelError(f"{task.name}: the translated task has no action ({unknown})")
    return plan_states(task, [index[step] for step in steps])


def greedy_costs(task: Task, states: npt.NDArray[np.int32], limits: Optimal) -> npt.NDArray[np.float64]:
    """What plans by gbfs with ff cost from each state, and NaN where none is found."""
    clock = time.process_time if limits.cpu else time.monotonic
    costs, end = np.full(len(states), np.nan), clock() + limits.time_limit
    for i, state in enumerate(states):
        if (left := end - clock()) <= 0:
            break
        start = replace(task, core=task.core.with_initial_state(state.tolist()))
        found = solve(start, "ff", "gbfs", max_evaluations=GREEDY_EVALUATIONS, **_limits(limits, left))
        if uninterrupted(found).plan_cost is not None:
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
    nothing = np.full(len(states), np.nan)
    columns = {
        name: evaluate(task, name, states) if _supported(task, name) else nothing for name in HEURISTICS
    }
    plans = [relaxed_plan(task, state.tolist()) for state in states]
    columns["operators"] = np.array([np.inf if plan is None else len(plan.operators) for plan in plans])
    columns["deletes"] = np.array([np.inf if plan is None else plan.ignored_deletes for plan in plans])
    return columns
