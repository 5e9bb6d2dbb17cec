"""Problem generators: each turns a size and a seed into the text of a domain and of a problem.

A generator is a function of its sizes and `seed`, all of them integers; the same arguments give the
same texts. No generated problem is solved already.
"""

from __future__ import annotations

from collections.abc import Callable

from hstar.registry import Registry

GENERATORS: Registry[Callable[..., tuple[str, str]]] = Registry("generator")

# After the table that they register themselves in.
from hstar.generators import blocksworld, ferry, npuzzle  # noqa: E402

__all__ = ["GENERATORS", "blocksworld", "ferry", "npuzzle"]
