"""Recipes: one published system each, a short composition of sampler, model, estimate and training."""

from __future__ import annotations

from hstar.recipes import fsm, nrsl, rsl, truncated, wl  # each enters itself
from hstar.recipes.domain_recipe import DOMAIN_RECIPES, DomainRecipe, train_domain
from hstar.recipes.recipe import RECIPES, Recipe, train

__all__ = [
    "DOMAIN_RECIPES",
    "RECIPES",
    "DomainRecipe",
    "Recipe",
    "fsm",
    "nrsl",
    "rsl",
    "train",
    "train_domain",
    "truncated",
    "wl",
]
