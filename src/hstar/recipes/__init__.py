"""Recipes: one published system each, a short composition of sampler, model, estimate and training."""

from __future__ import annotations

from hstar.recipes import (
    bootstrap,
    fsm,
    likely_admissible_config,
    nrsl,
    rsl,
    truncated,
    wl,
)  # each enters itself
from hstar.recipes.domain_recipe import DOMAIN_RECIPES, DomainRecipe, train_domain
from hstar.recipes.likely_admissible_config import train_likely_admissible
from hstar.recipes.prolonged import NAME as GRID_RECIPE
from hstar.recipes.prolonged import train_prolonged
from hstar.recipes.puzzle_recipe import PUZZLE_RECIPES, PuzzleRecipe, train_puzzle
from hstar.recipes.recipe import RECIPES, Recipe, train

__all__ = [
    "DOMAIN_RECIPES",
    "GRID_RECIPE",
    "PUZZLE_RECIPES",
    "RECIPES",
    "DomainRecipe",
    "PuzzleRecipe",
    "Recipe",
    "bootstrap",
    "fsm",
    "likely_admissible_config",
    "nrsl",
    "rsl",
    "train",
    "train_domain",
    "train_likely_admissible",
    "train_prolonged",
    "train_puzzle",
    "truncated",
    "wl",
]
