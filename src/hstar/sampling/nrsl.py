"""`nrsl`: as `rsl`, but rollouts prefer operators with preconditions that are new to the rollout.

O'Toole, Ramirez, Lipovetzky and Pearce (ICAPS 2022). The operator with most preconditions that no earlier
pre-image of the rollout contains is taken (mu+), ties at random. Negated preconditions do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hstar.sampling.rsl import RSL
from hstar.sampling.sampler import SAMPLERS


@SAMPLERS.register("nrsl")
@dataclass(frozen=True)
class NRSL(RSL):
    """Options of nrsl, those of rsl."""

    name: ClassVar[str] = "nrsl"
