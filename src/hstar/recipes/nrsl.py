"""`nrsl` (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): rollouts prefer new preconditions.

Profiles as in `rsl`.
"""

from __future__ import annotations

from hstar.recipes.recipe import Recipe, enter
from hstar.recipes.rsl import DEFAULT, PAPER, PUBLISHED
from hstar.recipes.sampled_task import SampledTask

enter(Recipe("nrsl", PUBLISHED, {"task": SampledTask("nrsl", "nrsl", {"default": DEFAULT, "paper": PAPER})}))
