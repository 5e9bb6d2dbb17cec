"""`fsm` (Bettker, Minini, Pereira and Ritt, JAIR 2024): breadth-first regression, then random walks.

Profile `paper`: their 100,000 samples and training (He initialisation, batches of 512, patience 100, a tenth
held out). The default stops sooner, with a learning rate that falls to 0.
"""

from __future__ import annotations

from hstar.recipes.recipe import Recipe, enter
from hstar.recipes.sampled_task import SampledTask

PAPER = {
    "states": 100_000,
    "init": "he",
    "output_relu": True,
    "learning_rate": 1e-4,
    "batch_size": 512,
    "patience": 100,
    "validation": 0.1,
}
DEFAULT = {"states": 100_000, "batch_size": 512, "epochs": 40, "schedule": "cosine", "patience": 40}

METHOD = SampledTask("fsm", "fsm", {"default": DEFAULT, "paper": PAPER})

enter(Recipe("fsm", "Bettker, Minini, Pereira and Ritt, JAIR 2024", {"task": METHOD}))
