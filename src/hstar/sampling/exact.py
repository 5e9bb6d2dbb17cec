"""`exact`: every reachable state of a small task with its h*, by exhaustive search. Any task.

`label_errors` says how far other labels are from h*. States that the initial state does not reach, or that
reach no goal, have no place in the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.options import option
from hstar.sampling.dataset import Dataset
from hstar.sampling.sampler import SAMPLERS, Sampler, labelled
from hstar.spaces.task import Task

Floats: TypeAlias = npt.NDArray[np.float64]


def exact_distances(
    task: Task, *, unit_cost: bool = True, max_states: int = 1_000_000
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Values (states, variables) of all reachable states and their h*, infinite for dead ends.

    An `UnsupportedError` if there are more than `max_states`.
    """
    return _core.exact_distances(task.core, unit_cost=unit_cost, max_states=max_states)


@SAMPLERS.register("exact")
@dataclass(frozen=True)
class Exact(Sampler):
    """Options of exact. States that reach no goal are left out."""

    name: ClassVar[str] = "exact"

    unit_cost: bool = option(True, "Count steps instead of the task's costs.")
    max_states: int = option(1_000_000, "Greatest number of states to enumerate.", least=1)

    def sample(self, task: Task) -> Dataset:
        """All states that reach the goal; label, lower and upper bound are h*."""
        values, h = exact_distances(task, unit_cost=self.unit_cost, max_states=self.max_states)
        solvable = np.isfinite(h)
        label = h[solvable].astype(np.float32)
        states = _core.encode(task.core, np.ascontiguousarray(values[solvable]))
        return labelled(task, self, states, label, lower=label, upper=label)


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Of the comparable states of a data set: h*, label - h*, and whether the label is an upper bound."""

    states: int  # of the data set
    h: Floats
    error: Floats
    bound: npt.NDArray[np.bool_]

    @property
    def comparable(self) -> float:
        return len(self.h) / self.states if self.states else 0.0

    def record(self) -> dict[str, Any]:
        """Plain data: mean absolute error, share of exact labels, and the mean error for each h*."""
        by_h = [  # h*, mean of label - h*, states
            [float(value), float(self.error[chosen].mean()), int(chosen.sum())]
            for value in np.unique(self.h)
            for chosen in [self.h == value]
        ]
        return {
            "comparable": self.comparable,
            "label_error": float(np.abs(self.error).mean()) if by_h else None,
            "exact_labels": float((self.error == 0).mean()) if by_h else None,
            "error_by_h": by_h,
        }


def exact_values(task: Task, max_states: int = 1_000_000) -> dict[bytes, float]:
    """h* of every state that is reachable and reaches the goal, by its bits, counting steps."""
    values, h = exact_distances(task, max_states=max_states)
    rows = _core.encode(task.core, values)
    return {row.tobytes(): float(d) for row, d in zip(rows, h, strict=True) if np.isfinite(d)}


def label_errors(dataset: Dataset, exact: dict[bytes, float]) -> LabelErrors:
    """Compares the labels of a data set with `exact_values` of its task."""
    h = np.array([exact.get(row.tobytes(), np.nan) for row in dataset.states])
    known = ~np.isnan(h)
    bound = np.zeros(len(h), dtype=bool) if dataset.upper is None else ~np.isnan(dataset.upper)
    return LabelErrors(len(h), h[known], (dataset.label - h)[known], bound[known])
