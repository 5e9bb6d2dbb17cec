"""Options of `hstar train prolonged`, and what is said of a model for maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.options import Use, flag
from hstar.errors import InputError

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.recipes.prolonged import Plan


def grid_options() -> dict[str, Use]:
    """By name, with the defaults of the default profile."""
    from hstar.recipes import prolonged

    default = next(iter(prolonged.profiles({}).values()))
    return {
        name: Use(prolonged.NAME, part, entry, default.get(name, entry.default))
        for part, entries in prolonged.parts({}).items()
        for name, entry in entries.items()
    }


def grid_plan(profile: str | None, given: dict[str, Any], files: Sequence[Path]) -> Plan:
    """All options of a run; an `InputError` for those that it has not."""
    from hstar.recipes import prolonged
    from hstar.spaces.grid_maps import OF_RANDOM_MAPS

    known = grid_options()
    if foreign := next((name for name in given if name not in known), None):
        raise InputError(f"{flag(foreign)} is not an option of {prolonged.NAME}")
    if files and (drawn := next((name for name in OF_RANDOM_MAPS if name in given), None)):
        raise InputError(f"{flag(drawn)} is for random maps, but maps are given")
    return prolonged.plan(profile, given)


def grid_summary(model: TrainedModel[Any]) -> str:
    """One line."""
    found = model.summary
    where = "held-out scenarios" if found["validation_states"] else "the same scenarios"
    return (
        f"{model.recipe}, {model.model} and {model.estimate.name}, {found['states']} states of "
        f"{found['scenarios']} scenarios, {found['epochs']} epochs (ended by "
        f"{found['stopped'].replace('_', ' ')}), loss {found['best_loss']:.3g} on {where}"
    )
