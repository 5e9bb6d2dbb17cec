"""Recipes: one published system each, a short composition of sampler, model, estimate and training."""

from __future__ import annotations

import sys
import types

from hstar.recipes import (
    bootstrap,
    fsm,
    likely_admissible_config,
    nrsl,
    prolonged_task,
    rsl,
    truncated,
    wl,
)  # each enters itself
from hstar.recipes.domain_recipe import DOMAIN_RECIPES, DomainRecipe, train_domain
from hstar.recipes.learn import RecipeInfo, recipe_info, recipes, train
from hstar.recipes.likely_admissible_config import train_likely_admissible
from hstar.recipes.prolonged import NAME as GRID_RECIPE
from hstar.recipes.prolonged import train_prolonged
from hstar.recipes.puzzle_recipe import PUZZLE_RECIPES, PuzzleRecipe, train_puzzle
from hstar.recipes.recipe import RECIPES, Recipe, train_task

__all__ = [
    "DOMAIN_RECIPES",
    "GRID_RECIPE",
    "PUZZLE_RECIPES",
    "RECIPES",
    "DomainRecipe",
    "PuzzleRecipe",
    "Recipe",
    "RecipeInfo",
    "bootstrap",
    "fsm",
    "likely_admissible_config",
    "nrsl",
    "prolonged_task",
    "recipe_info",
    "recipes",
    "rsl",
    "train",
    "train_domain",
    "train_likely_admissible",
    "train_prolonged",
    "train_puzzle",
    "train_task",
    "truncated",
    "wl",
]


class _Callable(types.ModuleType):
    """So that `hstar.recipes()` lists the recipes although `hstar.recipes` is this package."""

    def __call__(self) -> list[RecipeInfo]:
        return recipes()


sys.modules[__name__].__class__ = _Callable
