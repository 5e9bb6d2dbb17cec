"""`nrsl` (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): rollouts prefer new preconditions.

Profiles as in `rsl`.
"""

from __future__ import annotations

from hstar.recipes.recipe import RECIPES, Recipe
from hstar.recipes.rsl import DEFAULT, PAPER, PUBLISHED

RECIPES.register("nrsl")(
    Recipe("nrsl", PUBLISHED, sampler="nrsl", profiles={"default": DEFAULT, "paper": PAPER})
)
