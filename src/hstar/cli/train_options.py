"""Options of `hstar train`: fields of the dataclasses of recipes' parts, and the help of a recipe."""

from __future__ import annotations

import argparse
import itertools
from dataclasses import MISSING
from typing import TYPE_CHECKING

from hstar.cli.app import Parser
from hstar.cli.options import Use
from hstar.errors import InputError, UnsupportedError
from hstar.spaces.load import in_words

if TYPE_CHECKING:
    from hstar.recipes import Recipe

RUN = {"data": "task", "held_out": "domain", "unit_cost": "task", "translator": "task"}
"""Options of a run, and the kind of space that has them."""


def introduce(parser: Parser, recipe: Recipe, examples: tuple[str, ...]) -> None:
    """The help of one recipe: its paper, its examples, and of the options of a run those that it has."""
    parser.description = f"{recipe.name} learns for {in_words(recipe.spaces)} ({recipe.paper})."
    own = [line for line in examples if f" train {recipe.name} " in line]
    parser.epilog = "\n".join(["examples:", *(f"  {line}" for line in own)])
    taken = {name for method in recipe.methods.values() for name in method.takes}
    for action in parser._actions:
        foreign = action.dest in ("data", "held_out") and action.dest not in taken
        if foreign or RUN.get(action.dest) not in (None, *recipe.spaces):
            action.help = argparse.SUPPRESS


def profiles(asked: str | None) -> str:
    """The names of the profiles of a recipe, or of all."""
    from hstar.recipes import RECIPES

    names = [asked] if asked is not None else list(RECIPES)
    methods = [method for name in names for method in RECIPES.get(name).methods.values()]
    return ", ".join(dict.fromkeys(name for method in methods for name in method.profiles({}, None)))


def options() -> dict[str, Use]:
    """All options of all recipes, so that a wrong one is answered with the recipe's name."""
    from hstar.models import models_of
    from hstar.recipes import recipes
    from hstar.sampling import SAMPLERS

    found: dict[str, Use] = {}
    for recipe in recipes():
        for kind in recipe.spaces:
            choices = [{}, *({"model": name} for name in models_of(kind))]
            choices += [{"sampler": name} for name in SAMPLERS] if kind == "task" else []
            for choice in choices:
                for name, use in _uses(recipe, kind, choice).items():
                    found.setdefault(name, use)
    return found


def _uses(recipe: Recipe, kind: str, choice: dict[str, str]) -> dict[str, Use]:
    """The options of a recipe for a kind of space, with their defaults, where some choose its parts."""
    try:
        parts, profiles = recipe.fields(kind, choice), recipe.method(kind).profiles(choice, None)
    except (InputError, UnsupportedError):
        return {}
    default = next(iter(profiles.values()))
    return {
        name: Use(kind, part, entry, choice.get(name, default.get(name, entry.default)))
        for part, entries in parts.items()
        for name, entry in entries.items()
        if entry.default is not MISSING and name not in RUN
    }


def shown(recipe: Recipe, words: tuple[str, ...]) -> dict[str, list[Use]]:
    """What the help of a recipe shows: its options, for the model and the sampler that are typed."""
    pairs = itertools.pairwise(words)
    choice = {word[2:]: value for word, value in pairs if word in ("--model", "--sampler")}
    found: dict[str, list[Use]] = {}
    for kind in recipe.spaces:
        for name, use in (_uses(recipe, kind, choice) or _uses(recipe, kind, {})).items():
            found.setdefault(name, []).append(use)
    return found
