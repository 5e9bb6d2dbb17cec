"""How far labels are from h*, on tasks small enough to know h* of every state.

States that the initial state does not reach, or that reach no goal, have no place in the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.sampling.dataset import Dataset
from hstar.sampling.exact import exact_distances
from hstar.spaces.task import Task

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Of the comparable states of a data set: h*, label - h*, and whether the label is an upper bound."""

    states: int  # of the data set
    h: Floats
    error: Floats
    bound: npt.NDArray[np.bool_]

    @property
    def comparable(self) -> float:
        """The share of states that are compared."""
        return len(self.h) / self.states if self.states else 0.0

    def record(self) -> dict[str, Any]:
        """Plain data: mean absolute error, share of exact labels, and the mean error for each h*."""
        found: dict[str, Any] = {"comparable": self.comparable}
        if not len(self.h):
            return {**found, "label_error": None, "exact_labels": None, "error_by_h": []}
        by_h = [
            [float(value), float(self.error[chosen].mean()), int(chosen.sum())]
            for value in np.unique(self.h)
            for chosen in [self.h == value]
        ]
        return {
            **found,
            "label_error": float(np.abs(self.error).mean()),
            "exact_labels": float((self.error == 0).mean()),
            "error_by_h": by_h,  # h*, mean of label - h*, states
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
