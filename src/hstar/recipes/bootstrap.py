"""`bootstrap` (Arfaee, Zilles and Holte, SoCS 2010; AIJ 2011): from a weak heuristic to ever stronger ones.

The paper has puzzles, and a fixed set of instances (`bootstrap_puzzle.py`). For a user's own space, of which
only its functions are known, starts are drawn by walks that become longer (`bootstrap_own.py`).
"""

from __future__ import annotations

from hstar.recipes.bootstrap_own import BootstrapOwn
from hstar.recipes.bootstrap_puzzle import BootstrapPuzzle
from hstar.recipes.recipe import Recipe, enter

enter(
    Recipe(
        "bootstrap",
        "Arfaee, Zilles and Holte, SoCS 2010",
        {"puzzle": BootstrapPuzzle(), "own": BootstrapOwn()},
    )
)
