"""`forward`: states around plans, labelled by the shortest plans among them. Any task.

For tasks that regression does not support: conditional effects and axioms. As Ferber, Helmert and Hoffmann
(ECAI 2020), it walks at random from the initial state and searches for plans from where the walks end. Not
there: breadth-first search expands the states of these plans and what lies around them, those nearest to the
goal first, and a label is the length of the shortest plan that visits expanded states only
(`core/sampling/exact.h`).

Invariant: labels are never below h* with unit costs, and are given as upper bounds. States for which no plan
is known are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hstar import _core
from hstar.errors import InputError, uninterrupted
from hstar.options import option
from hstar.sampling.dataset import Dataset
from hstar.sampling.sampler import SAMPLERS, Sampler, labelled
from hstar.sampling.walks import Walks
from hstar.search.solve import plan_states, solve
from hstar.spaces.task import Task


@SAMPLERS.register("forward")
@dataclass(frozen=True)
class Forward(Sampler):
    """Options of the sampler `forward`: walks, plans from their ends, searches around them."""

    name: ClassVar[str] = "forward"

    states: int = option(100_000, "States to expand.", least=1, most=100_000_000)
    walks: int = option(50, "Random walks from the initial state.")
    length: int = option(200, "Greatest length of a walk.", most=1_000_000)
    evaluations: int = option(10_000, "States that each search for a plan may evaluate.", least=1)
    seed: int = option(0, "Of all random choices.")

    def sample(self, task: Task) -> Dataset:
        walks = Walks(self.walks, min_length=0, max_length=self.length, seed=self.seed)
        # 1. States of plans by the steps that are left, the nearest first, each once.
        plans: list[list[list[int]]] = []
        for start in (task, *walks.tasks(task)):
            result = uninterrupted(solve(start, "ff", "gbfs", max_evaluations=self.evaluations))
            if result.actions is not None:
                plans.append(plan_states(start, result.actions)[::-1])
        if not plans:
            raise InputError(
                f"{task.name}: no plan within {self.evaluations} evaluated states, neither from the initial "
                f"state nor from {self.walks} walks; raise evaluations"
            )
        longest = max(map(len, plans))
        near = [tuple(plan[left]) for left in range(longest) for plan in plans if left < len(plan)]
        # 2. What lies around them, and the labels.
        starts = np.array(list(dict.fromkeys(near))[: self.states], dtype=np.int32)
        values, steps = _core.forward_distances(task.core, starts, self.states)
        known = np.isfinite(steps)
        label = steps[known].astype(np.float32)
        states = _core.encode(task.core, np.ascontiguousarray(values[known]))
        return labelled(task, self, states, label, upper=label)
