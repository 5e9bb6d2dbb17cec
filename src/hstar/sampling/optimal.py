"""States along optimal plans with their h*, for tasks of one domain (Núñez-Molina et al., arXiv 2308.11905).

A task is solved by A* with lmcut, every operator counting 1. Each state of the plan, the first and the last
one included, gets its distance to the goal, the values of symbolic heuristics, and what the relaxed plan of
ff tells: columns by the names of COLUMNS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.sampling.relational import RelationalInstance, instance_of
from hstar.sampling.sampler import option
from hstar.search.heuristics import evaluate, relaxed_plan
from hstar.search.solve import solve
from hstar.search.validate import states_along
from hstar.spaces.relations import Vocabulary, relations
from hstar.spaces.task import Task

HEURISTICS = ("blind", "goalcount", "hmax", "ff", "lmcut")
COLUMNS = ("label", *HEURISTICS, "operators", "deletes")
"""h*; the heuristics; of ff's relaxed plan, how many operators it has and how many atoms they delete."""


@dataclass(frozen=True)
class Optimal:
    """Limits of the search for an optimal plan."""

    time_limit: float = option(300.0, "Seconds of the search.")
    memory_limit: int = option(8 << 30, "Bytes of the search.")

    def label(self, task: Task, words: Vocabulary, name: str | None = None) -> RelationalInstance:
        """The states of an optimal plan; a `NoLabelError` if none is found, or if it is empty."""
        if not task.core.unit_cost:
            raise InputError(f"{task.name}: load it with unit_cost=True, since labels count steps")
        relations(task, words)  # before the search: it may not fit
        result = solve(task, "lmcut", "astar", time_limit=self.time_limit, memory_limit=self.memory_limit)
        if result.plan is None:
            raise NoLabelError(f"{task.name}: no optimal plan: {result.status.replace('_', ' ')}")
        if not result.plan:
            raise NoLabelError(f"{task.name}: the goal holds from the start")
        index = {task.core.operator(i).name.strip(): i for i in range(task.core.num_operators)}
        states = np.array(states_along(task.core, [index[step] for step in result.plan]), dtype=np.int32)
        return instance_of(name or task.name, task, words, states, _columns(task, states))


class NoLabelError(InputError):
    """A task whose states get no label."""


def _columns(task: Task, states: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[np.float32]]:
    columns: dict[str, npt.NDArray[Any]] = {"label": np.arange(len(states) - 1, -1, -1)}
    columns |= {name: evaluate(task, name, states) for name in HEURISTICS}
    plans = [relaxed_plan(task, state.tolist()) for state in states]
    columns["operators"] = np.array([len(plan.operators) for plan in plans if plan is not None])
    columns["deletes"] = np.array([plan.ignored_deletes for plan in plans if plan is not None])
    return {name: column.astype(np.float32) for name, column in columns.items()}
