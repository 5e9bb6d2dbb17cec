"""`rsl` (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): rollouts choose operators uniformly.

Profile `paper`: sampling, network and training of the paper. The default differs where the successors' study
(Bettker et al., JAIR 2024) found better: states completed by variables, an adaptive length of rollouts,
fewer random states, larger batches. That there are many rollouts and a learning rate that falls to 0 comes
from small trials of ours, not yet from a campaign.
"""

from __future__ import annotations

from hstar.recipes.recipe import RECIPES, Recipe
from hstar.sampling.rsl import RSL

PAPER = {
    **RSL.profiles["paper"],
    "output_relu": True,
    "learning_rate": 1e-4,
    "batch_size": 64,
    "patience": 2,
    "validation": 0.2,
}
DEFAULT = {
    "states": 100_000,
    "rollouts": 0,
    "length": 0,
    "random_share": 0.2,
    "batch_size": 512,
    "epochs": 40,
    "schedule": "cosine",
    "patience": 40,
}

RECIPES.register("rsl")(Recipe("rsl", sampler="rsl", profiles={"default": DEFAULT, "paper": PAPER}))
