"""`rsl` (O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022): rollouts choose operators uniformly.

Profile `paper`: sampling, network and training of the paper. The default differs from it in what measurements
bore out (RESULTS.md): an adaptive length of rollouts (Bettker et al., JAIR 2024), states in no pre-image get
the greatest label + 1, larger batches, and a learning rate that falls to 0. It completes states by atoms, as
the paper does: by variables the labels are better, but two of the tasks are solved less often.
"""

from __future__ import annotations

from hstar.recipes.recipe import Recipe, enter
from hstar.recipes.sampled_task import SampledTask
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
    "rollouts": 5,
    "length": 0,
    "random_share": 0.5,
    "completion": "atoms",
    "unlabelled": "max",
    "batch_size": 512,
    "epochs": 40,
    "schedule": "cosine",
    "patience": 40,
}

PUBLISHED = "O'Toole, Ramirez, Lipovetzky and Pearce, ICAPS 2022"

enter(Recipe("rsl", PUBLISHED, {"task": SampledTask("rsl", "rsl", {"default": DEFAULT, "paper": PAPER})}))
