"""Recipes: one published system each, a short composition of sampler, model, estimate and training."""

from __future__ import annotations

from hstar.recipes import fsm, nrsl, rsl  # each enters itself
from hstar.recipes.recipe import RECIPES, Recipe, train

__all__ = ["RECIPES", "Recipe", "fsm", "nrsl", "rsl", "train"]
