"""`exact`: every reachable state of a small task with its h*, by exhaustive search. Any task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.options import Checked, option
from hstar.sampling.dataset import Dataset
from hstar.sampling.sampler import SAMPLERS, labelled
from hstar.spaces.task import Task


def exact_distances(
    task: Task, *, unit_cost: bool = True, max_states: int = 1_000_000
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Values (states, variables) of all reachable states and their h*, infinite for dead ends.

    An `UnsupportedError` if there are more than `max_states`.
    """
    return _core.exact_distances(task.core, unit_cost=unit_cost, max_states=max_states)


@SAMPLERS.register("exact")
@dataclass(frozen=True)
class Exact(Checked):
    """Options of exact. States that reach no goal are left out."""

    name: ClassVar[str] = "exact"
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    unit_cost: bool = option(True, "Count steps instead of the task's costs.")
    max_states: int = option(1_000_000, "Most states to enumerate.", least=1)

    def sample(self, task: Task) -> Dataset:
        """All states that reach the goal; label, lower and upper bound are h*."""
        values, h = exact_distances(task, unit_cost=self.unit_cost, max_states=self.max_states)
        solvable = np.isfinite(h)
        label = h[solvable].astype(np.float32)
        states = _core.encode(task.core, np.ascontiguousarray(values[solvable]))
        return labelled(task, self, states, label, lower=label, upper=label)
