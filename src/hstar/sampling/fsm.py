"""`fsm`: breadth-first regression, then random walks from its leaves, with improved labels.

Bettker, Minini, Pereira and Ritt, "Understanding Sample Generation Strategies for Learning Heuristic
Functions in Classical Planning" (JAIR 80, 2024). The steps, and where we differ: `core/sampling/fsm.h`.

Invariant: labels are never below h* with unit costs (and are given as upper bounds), except those of random
states, which are a guess: the greatest label + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from hstar import _core
from hstar.options import option
from hstar.sampling.dataset import Dataset
from hstar.sampling.sampler import SAMPLERS, Sampler, labelled, upper_bounds
from hstar.spaces.task import Task


@SAMPLERS.register("fsm")
@dataclass(frozen=True)
class FSM(Sampler):
    """Options of fsm; the defaults are the paper's best."""

    name: ClassVar[str] = "fsm"
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {}}

    states: int = option(100_000, "States to sample, random ones included.", least=1)
    bfs_share: float = option(0.1, "Share of states from breadth-first regression.", least=0, most=1)
    random_share: float = option(0.2, "Share of random states among all states.", least=0, most=1)
    length: int = option(0, "Greatest depth of a walk; 0: atoms by mean effects of an operator.")
    sai: bool = option(True, "Equal states get the least of their labels.")
    sui: bool = option(True, "Labels are lowered to those of successors + 1.")
    seed: int = option(0, "Seed of all random choices.")

    def sample(self, task: Task) -> Dataset:
        options = asdict(self)
        seed = options.pop("seed")
        states, label, bound = _core.fsm(task.core, _core.FsmConfig(**options), seed)
        return labelled(task, self, states, label, upper=upper_bounds(label, bound))
