"""`prolonged` for planning tasks: exact labels of full states, by prolonged backward heuristic search.

"Value Function Learning via Prolonged Backward Heuristic Search", by regression instead of an inverse model;
`core/sampling/prolonged.h` has the algorithm and its differences from the paper. Where the other samplers
by regression complete partial states by chance, this one searches full states: it needs a goal that few
states satisfy, as where all variables are fixed. It is for learning about what lies around one start.

Invariant: labels of closed states are h* with unit costs, and are given as lower and upper bounds, too; those
of open states are upper bounds alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hstar import _core
from hstar.options import Checked, option
from hstar.sampling.dataset import Dataset
from hstar.sampling.sampler import SAMPLERS, labelled
from hstar.spaces.task import Task


@SAMPLERS.register("prolonged")
@dataclass(frozen=True)
class ProlongedTask(Checked):
    """Options of prolonged."""

    name: ClassVar[str] = "prolonged"
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    k_pr: float = option(
        2.0, "Closed states at the end, times those when the start was; inf: all.", least=1, most=math.inf
    )
    states: int = option(100_000, "Most states to give; of more, some by chance.", least=1)
    open: bool = option(False, "Give states that are still open, too, with upper bounds as labels.")
    goals: int = option(10_000, "Most goal states to begin with.", least=1)
    max_closed: int = option(1_000_000, "Closed states at which the search ends.", least=1)
    seed: int = option(0, "Of the choice among states.")

    def sample(self, task: Task) -> Dataset:
        """Labelled states; needs a task without axioms and conditional effects, and a goal of few states."""
        options = _core.ProlongedOptions(k_pr=self.k_pr, open=self.open, goals=self.goals)
        limits = _core.Limits(expansions=self.max_closed)
        found: _core.ProlongedLabels = _core.prolonged(task.core, options, limits)
        if found.status == "interrupted":
            raise KeyboardInterrupt
        label = found.take_label().astype(np.float32)
        exact = np.arange(len(label)) < found.exact
        values = found.take_states()
        if len(label) > self.states:
            chosen = np.random.default_rng(self.seed).permutation(len(label))[: self.states]
            chosen.sort()
            label, exact, values = label[chosen], exact[chosen], values[chosen]
        states = _core.encode(task.core, np.ascontiguousarray(values))
        lower = np.where(exact, label, np.nan).astype(np.float32)
        return labelled(task, self, states, label, lower=lower, upper=label)
