"""`rsl`: states from the pre-images of regression rollouts, labelled by all of them.

O'Toole, Ramirez, Lipovetzky and Pearce, "Sampling from Pre-Images to Learn Heuristic Functions for Classical
Planning" (ICAPS 2022). The work is done in `core/sampling`: `preimage`, `draw`, `completion`, `label`.

Invariant: with completion by variables, a label from a pre-image is never below h* with unit costs (it is
also given as upper bound); the label of a state in no pre-image is a guess.

Differences from the paper, as defaults; the profile `paper` takes them back: 1. states are completed by
variables (one value each, no mutexes) instead of atoms by coin flips; 2. states in no pre-image get the
greatest label + 1 instead of L + 1. The paper leaves open what a level draws from: `pool` "cumulative" is
what the authors' program does, "level" what the text suggests.
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


@SAMPLERS.register("rsl")
@dataclass(frozen=True)
class RSL(Sampler):
    """Options of rsl: operators are chosen uniformly."""

    name: ClassVar[str] = "rsl"
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "states": 100_000,
            "random_share": 0.5,
            "rollouts": 5,
            "length": 500,
            "pool": "cumulative",
            "completion": "atoms",
            "unlabelled": "limit",
        }
    }

    states: int = option(100_000, "Number of states to draw, N_t.", least=1)
    random_share: float = option(0.5, "Probability of a random state, P_r.", least=0, most=1)
    rollouts: int = option(5, "Rollouts from the goal, N_r; 0: until there are 50,000 pre-images.")
    length: int = option(500, "Greatest depth of a rollout, L; 0: atoms by mean effects of an operator.")
    pool: str = option("cumulative", "Pre-images of level i: cumulative (depth up to i) or level (depth i).")
    completion: str = option(
        "variables", "How pre-images become states: variables (one value each) or atoms."
    )
    unlabelled: str = option("max", "Label of states in no pre-image: max (greatest + 1) or limit (L + 1).")
    seed: int = option(0, "Seed of all random choices.")

    def sample(self, task: Task) -> Dataset:
        options = asdict(self)
        rollouts, length, seed = (options.pop(name) for name in ("rollouts", "length", "seed"))
        draw = _core.DrawConfig(**options)
        states, label, bound = _core.rsl(
            task.core, self.name, draw, rollouts=rollouts, length=length, seed=seed
        )
        return labelled(task, self, states, label, upper=upper_bounds(label, bound))
