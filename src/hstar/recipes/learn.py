"""`hstar.train`: every recipe, on every kind of space that it declares.

A source is what a recipe learns from: one planning task, labelled states or tasks of a domain, a puzzle,
maps, or a user's own space. It decides the kind of space; a recipe that does not know this kind is refused
before any work, with the recipes that do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hstar.errors import InputError, UnsupportedError
from hstar.models.trained_model import TrainedModel
from hstar.options import name_options
from hstar.recipes.domain_data import labelled
from hstar.recipes.recipe import RECIPES, Recipe, Run
from hstar.sampling import relational
from hstar.sampling.relational import RelationalData
from hstar.spaces.load import in_words, load
from hstar.spaces.puzzles import with_usual_goal


def recipes() -> list[Recipe]:
    return [RECIPES.get(name) for name in RECIPES]


def train(
    recipe: str,
    source: Any = None,
    *,
    profile: str | None = None,
    progress: Callable[[Any], None] | None = None,
    checkpoint: str | Path | None = None,
    **options: Any,
) -> TrainedModel[Any]:
    """Learns a heuristic by a recipe.

    `source` is what `hstar.load` returns or takes: a planning task (`nrsl`, `rsl`, `fsm`, `prolonged`,
    `likely-admissible`), a puzzle such as `tiles:4x4` (`likely-admissible`, `bootstrap`, `prolonged`), a map
    or a list of maps (`prolonged`, `likely-admissible`), an own space (`likely-admissible`, `prolonged`,
    `bootstrap`); for a domain (`wl`, `truncated`) a list of tasks, labelled data, a data file, or the name of
    a data set that comes with hstar.

    `profile` is a named set of options, for instance `paper`. With a `checkpoint` file a killed training goes
    on by the same call; `progress` is called several times a second. The options of each recipe are below.
    `hstar train RECIPE --help` shows their defaults, which a profile may change.
    """
    chosen = RECIPES.get(recipe)
    kind, subject = resolved(source, chosen)
    chosen.method(kind)
    run = Run(
        progress,
        None if checkpoint is None else Path(checkpoint),
        options.pop("data", None),
        options.pop("held_out", None),
    )
    return chosen.learn(kind, subject, run, profile, options)


def name_recipe_options() -> None:
    """Names the options of all recipes in `help(train)`, each with the recipes that have it."""
    known: dict[str, dict[str, list[str]]] = {}
    for recipe in recipes():
        for kind in recipe.spaces:
            for part in recipe.fields(kind, {}).values():
                for name, entry in part.items():
                    known.setdefault(name, {}).setdefault(entry.metadata["help"], []).append(recipe.name)
    options: dict[str, tuple[Any, Any, str]] = {
        "data": ("Any", None, "Labelled states of a task to learn from, instead of sampling."),
        "held_out": ("Any", None, "Labelled data of a domain to choose the best weights by."),
    }
    for name in sorted(known):
        helps = [f"{text} ({', '.join(dict.fromkeys(users))})" for text, users in known[name].items()]
        options[name] = ("Any", ..., " ".join(helps))
    name_options(train, options)


def resolved(source: Any, recipe: Recipe) -> tuple[str, Any]:
    """The kind of space of a source, and what the method takes."""
    if source is None:  # random maps, by the options of the recipe
        if "map" not in recipe.methods:
            raise InputError(f"{recipe.name} needs something to learn from: {in_words(recipe.spaces)}")
        return "map", None
    if isinstance(source, RelationalData):
        return "domain", source
    if isinstance(source, str | Path) and "domain" in recipe.methods and _is_data(source):
        return "domain", relational.load(source)
    if isinstance(source, list | tuple):
        return _several([load(one) if isinstance(one, str | Path) else one for one in source], recipe)
    problem = load(source) if not hasattr(source, "native") else source
    if problem.kind == "task" and recipe.spaces == ("domain",):
        return "domain", labelled([problem])
    if problem.kind == "puzzle":
        return "puzzle", with_usual_goal(problem)
    return (problem.kind, [problem]) if problem.kind == "map" else (problem.kind, problem)


def _several(problems: Sequence[Any], recipe: Recipe) -> tuple[str, Any]:
    if not problems:
        raise InputError("an empty list: nothing to learn from")
    kinds = {problem.kind for problem in problems}
    if len(kinds) > 1:
        raise InputError(f"the problems are of several kinds: {', '.join(sorted(kinds))}")
    (kind,) = kinds
    if kind == "map":
        return "map", list(problems)
    if kind == "task" and "domain" in recipe.methods:
        return "domain", labelled(problems)
    raise UnsupportedError(f"{recipe.name} learns from one {kind}, got {len(problems)}")


def _is_data(source: str | Path) -> bool:
    try:
        relational.locate(source)
    except InputError:
        return False
    return Path(source).suffix not in (".pddl", ".sas")
