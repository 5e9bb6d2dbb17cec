"""`walks`: random walks give starts for evaluation and validation.

As Ferber, Helmert and Hoffmann, "Neural network heuristics for classical planning" (ECAI 2020) make them: 200
uniformly chosen operators from the initial state; a walk ends early in a state without any. No state is
tested for being a goal, a dead end or a repetition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError
from hstar.options import check_options, option
from hstar.spaces.task import Task


@dataclass(frozen=True)
class Walks:
    """Options of random walks. Walk i depends on the seed and i only, not on how many there are."""

    walks: int = option(50, "Number of random walks.")
    min_length: int = option(200, "Least number of steps of a walk.")
    max_length: int = option(200, "Most steps of a walk; the number is uniform between the two.")
    seed: int = option(0, "Seed of all random choices.")

    def __post_init__(self) -> None:
        check_options(self)
        if self.min_length > self.max_length:
            raise InputError(f"min_length ({self.min_length}) is above max_length ({self.max_length})")

    def states(self, task: Task) -> npt.NDArray[np.int32]:
        """The last states as values (walks, variables)."""
        return _core.random_walks(
            task.core, self.walks, min_length=self.min_length, max_length=self.max_length, seed=self.seed
        )

    def tasks(self, task: Task) -> list[Task]:
        """The task from each of these states."""
        return [
            replace(task, core=task.core.with_initial_state(values), name=f"{task.name}#{number}")
            for number, values in enumerate(self.states(task).tolist(), 1)
        ]
