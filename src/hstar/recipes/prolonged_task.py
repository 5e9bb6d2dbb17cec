"""`prolonged` for one planning task: exact labels from one backward search, under the asymmetric loss.

The recipe of `prolonged.py` with the parts of a task: prolonged backward search over the states of the task
(`sampling/prolonged_task.py`) and a network that sees atoms. The model is for one goal.
"""

from __future__ import annotations

from hstar.recipes.prolonged import NAME, PAPER
from hstar.recipes.recipe import RECIPES, Recipe

DEFAULT = {"batch_size": 512, "epochs": 40, "schedule": "cosine", "patience": 40}

RECIPES.register(NAME)(
    Recipe(NAME, PAPER, sampler="prolonged", estimate="asymmetric", profiles={"default": DEFAULT})
)
