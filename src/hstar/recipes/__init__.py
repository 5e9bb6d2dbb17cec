"""Recipes: one published system each, a short composition of sampler, model, estimate and training."""

from __future__ import annotations

import sys
import types

# Each enters itself.
from hstar.recipes import bootstrap, fsm, likely_admissible, nrsl, prolonged, rsl, truncated, wl  # noqa: F401
from hstar.recipes.learn import name_recipe_options, recipes, train
from hstar.recipes.recipe import RECIPES, Recipe, Run

__all__ = ["RECIPES", "Recipe", "Run", "recipes", "train"]


name_recipe_options()


class _Callable(types.ModuleType):
    """So that `hstar.recipes()` lists the recipes although `hstar.recipes` is this package."""

    def __call__(self) -> list[Recipe]:
        return recipes()


sys.modules[__name__].__class__ = _Callable
