"""Problem generators: each turns sizes and a seed into the text of a domain and of a problem.

A generator is a function of its sizes and `seed`, all of them integers; the same arguments give the
same texts. Every generated problem has a plan, and none is solved already. Sizes for which there is no
such problem are refused. `splits` has the sets of problems that learners are trained and tested on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from hstar.registry import Registry

GENERATORS: Registry[Callable[..., tuple[str, str]]] = Registry("generator")


def sizes_of(name: str) -> list[str]:
    """The names of a generator's sizes, in order."""
    return [size for size in inspect.signature(GENERATORS.get(name)).parameters if size != "seed"]


# After the table that they register themselves in.
from hstar.generators import (  # noqa: E402
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

__all__ = [
    "GENERATORS",
    "blocksworld",
    "childsnack",
    "ferry",
    "gripper",
    "logistics",
    "miconic",
    "npuzzle",
    "rovers",
    "satellite",
    "sizes_of",
    "sokoban",
    "spanner",
    "transport",
    "visitall",
]
