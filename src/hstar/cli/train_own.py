"""Options of `hstar train` for a user's own space, and what is said of a model for one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hstar.cli.options import Use, flag
from hstar.errors import InputError

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

PART = "own "  # begins the part of a recipe for own spaces


def own_options() -> dict[str, list[Use]]:
    """By name, with the defaults of the recipes."""
    from hstar.recipes import bootstrap_own, prolonged_own
    from hstar.recipes.own_recipe import option_fields
    from hstar.recipes.prolonged import NAME

    found: dict[str, list[Use]] = {}
    for recipe, own, defaults in (
        (NAME, prolonged_own.ProlongedOwnOptions, prolonged_own.DEFAULTS),
        (bootstrap_own.NAME, bootstrap_own.BootstrapOwnOptions, bootstrap_own.DEFAULTS),
    ):
        for entries in option_fields(own).values():
            for name, entry in entries.items():
                default = defaults.get(name, entry.default)
                found.setdefault(name, []).append(Use(recipe, PART + recipe, entry, default))
    return found


def own_learner(
    arguments: argparse.Namespace, given: dict[str, Any]
) -> Callable[[Callable[[Any], None]], TrainedModel[Any]]:
    """What learns the space of the arguments, with a function for its progress; options are checked now."""
    from hstar.recipes import recipe_info, train

    recipe = recipe_info(arguments.recipe)
    if len(arguments.files) != 1:
        raise InputError(f"expected one space such as own.py:Lights, got {len(arguments.files)} words")
    known = own_options()
    for name in ("data", "held_out", "unit_cost"):
        if getattr(arguments, name):
            raise InputError(f"{flag(name)} is not an option of {recipe.name} for an own space")
    for name in given:
        if "own" in recipe.learners and recipe.name not in {use.owner for use in known.get(name, ())}:
            raise InputError(f"{flag(name)} is not an option of {recipe.name} for an own space")

    def learn(progress: Callable[[Any], None]) -> TrainedModel[Any]:
        return train(
            recipe.name,
            str(arguments.files[0]),
            profile=arguments.profile,
            progress=progress,
            checkpoint=arguments.checkpoint,
            **given,
        )

    return learn


def own_summary(model: TrainedModel[Any]) -> str:
    """One line."""
    found = model.summary
    solved = f"{found['solved']} of {found['tasks']} starts solved, " if "solved" in found else ""
    return (
        f"{model.recipe}, {model.space}, {model.model} and {model.estimate.name}, {solved}"
        f"{found['states']} states with {model.space.inputs} inputs, loss {found['best_loss']:.3g}"
    )
