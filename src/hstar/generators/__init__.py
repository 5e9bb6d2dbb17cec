"""Problem generators: each turns sizes and a seed into the text of a domain and of a problem.

The same sizes and seed give the same texts. Every generated problem has a plan, and none is solved already.
Sizes for which there is no such problem are refused. `splits` has the sets of problems that learners are
trained and tested on.
"""

from hstar.generators import (  # noqa: F401  (they enter themselves)
    blocksworld,
    childsnack,
    ferry,
    gripper,
    logistics,
    miconic,
    npuzzle,
    rovers,
    satellite,
    sokoban,
    spanner,
    transport,
    visitall,
)
from hstar.generators.problem import GENERATORS, sizes_of

__all__ = ["GENERATORS", "sizes_of"]
