"""`hstar.train`: every recipe, on every kind of space that it declares.

A source is what a recipe learns from: one planning task, labelled states or tasks of a domain, a puzzle,
maps, or a user's own space. It decides the kind of space; a recipe that does not know this kind is refused
before any work, with the recipes that do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hstar.errors import InputError, UnsupportedError
from hstar.models.trained_model import TrainedModel
from hstar.recipes import prolonged as of_maps
from hstar.recipes.bootstrap import Bootstrap
from hstar.recipes.bootstrap_own import train_bootstrap_own
from hstar.recipes.domain_recipe import DOMAIN_RECIPES, train_domain
from hstar.recipes.likely_admissible_config import NAME as LIKELY_ADMISSIBLE
from hstar.recipes.likely_admissible_config import train_likely_admissible
from hstar.recipes.prolonged_own import train_prolonged_own
from hstar.recipes.puzzle_recipe import PUZZLE_RECIPES, train_puzzle
from hstar.recipes.recipe import RECIPES, train_task
from hstar.registry import unknown
from hstar.sampling import relational
from hstar.sampling.relational import RelationalData
from hstar.spaces.load import in_words, load
from hstar.spaces.puzzles import with_usual_goal
from hstar.spaces.task import Task

Learner = Callable[..., TrainedModel[Any]]


@dataclass(frozen=True)
class RecipeInfo:
    """A recipe: its paper, and the kinds of space that it learns for, each with its learner."""

    name: str
    paper: str
    learners: dict[str, Learner]

    @property
    def spaces(self) -> tuple[str, ...]:
        """The kinds of space: task, domain, puzzle, map, own."""
        return tuple(self.learners)


def recipes() -> list[RecipeInfo]:
    """All recipes."""
    found: dict[str, RecipeInfo] = {}

    def add(name: str, paper: str, kind: str, learner: Learner) -> None:
        entry = found.setdefault(name, RecipeInfo(name, paper, {}))
        entry.learners[kind] = learner

    for recipe in map(RECIPES.get, RECIPES):
        add(recipe.name, recipe.paper, "task", _task_learner(recipe.name))
    for domain_recipe in map(DOMAIN_RECIPES.get, DOMAIN_RECIPES):
        add(domain_recipe.name, domain_recipe.paper, "domain", _domain_learner(domain_recipe.name))
    for puzzle_recipe in map(PUZZLE_RECIPES.get, PUZZLE_RECIPES):
        add(puzzle_recipe.name, puzzle_recipe.paper, "puzzle", _puzzle_learner(puzzle_recipe.name))
    add(LIKELY_ADMISSIBLE, "", "task", train_likely_admissible)
    add(of_maps.NAME, of_maps.PAPER, "map", of_maps.train_prolonged)
    add(of_maps.NAME, of_maps.PAPER, "own", train_prolonged_own)
    add(Bootstrap.name, Bootstrap.paper, "own", train_bootstrap_own)
    return list(found.values())


def recipe_info(name: str) -> RecipeInfo:
    """The recipe called `name`; an `InputError` that lists the known ones otherwise."""
    known = {info.name: info for info in recipes()}
    if name not in known:
        raise unknown("recipe", name, list(known))
    return known[name]


def train(recipe: str, source: Any = None, **options: Any) -> TrainedModel[Any]:
    """Learns a heuristic by a recipe.

    `source` is what `hstar.load` returns or takes: a planning task (`nrsl`, `rsl`, `fsm`, `prolonged`,
    `likely-admissible`), a puzzle such as `tiles:4x4` (`likely-admissible`, `bootstrap`), a map or a list of
    maps (`prolonged`), an own space (`prolonged`, `bootstrap`); for a domain (`wl`, `truncated`) a list of
    tasks, labelled data, a data file, or the name of a data set that comes with hstar. `options` are those of
    the recipe and its parts, `profile` a named set of them, `seed` for all random choices, `checkpoint` a
    file from which a killed training goes on, `progress` a function that is called several times a second.
    """
    info = recipe_info(recipe)
    kind, subject = _resolved(source, info)
    if kind not in info.learners:
        others = [other.name for other in recipes() if kind in other.learners]
        able = f"; {', '.join(others)} can" if others else ""
        raise UnsupportedError(
            f"{recipe} learns for {in_words(info.spaces)}, and cannot learn for {in_words([kind])}{able}"
        )
    return info.learners[kind](subject, **options)


def _resolved(source: Any, info: RecipeInfo) -> tuple[str, Any]:
    """The kind of space of a source, and what the learner takes."""
    if source is None:  # random maps, by the options of the recipe
        if "map" not in info.learners:
            raise InputError(f"{info.name} needs something to learn from: {in_words(info.spaces)}")
        return "map", None
    if isinstance(source, RelationalData):
        return "domain", source
    if isinstance(source, str | Path) and "domain" in info.learners and _is_data(source):
        return "domain", relational.load(source)
    if isinstance(source, list | tuple):
        return _several([load(one) if isinstance(one, str | Path) else one for one in source], info)
    problem = load(source) if not hasattr(source, "native") else source
    if problem.kind == "task" and info.spaces == ("domain",):
        return "domain", _labelled([problem])
    return (problem.kind, [problem]) if problem.kind == "map" else (problem.kind, problem)


def _several(problems: Sequence[Any], info: RecipeInfo) -> tuple[str, Any]:
    if not problems:
        raise InputError("an empty list: nothing to learn from")
    kinds = {problem.kind for problem in problems}
    if len(kinds) > 1:
        raise InputError(f"the problems are of several kinds: {', '.join(sorted(kinds))}")
    (kind,) = kinds
    if kind == "map":
        return "map", list(problems)
    if kind == "task" and "domain" in info.learners:
        return "domain", _labelled(problems)
    raise UnsupportedError(f"{info.name} learns from one {kind}, got {len(problems)}")


def _is_data(source: str | Path) -> bool:
    try:
        relational.locate(source)
    except InputError:
        return False
    return Path(source).suffix not in (".pddl", ".sas")


def _labelled(tasks: Sequence[Task]) -> RelationalData:
    """The states of optimal plans of tasks of one domain, with siblings."""
    from hstar.sampling.optimal import NoLabelError, Optimal
    from hstar.spaces.relations import vocabulary

    words, sampler, instances = vocabulary(tasks[0]), Optimal(siblings=True), []
    reason = ""
    for number, task in enumerate(tasks, 1):
        try:
            instances.append(sampler.label(task.with_unit_cost(), words, f"{number}-{task.name}"))
        except NoLabelError as error:
            reason = error.message
    if not instances:
        raise InputError(f"none of {len(tasks)} tasks could be labelled; the last: {reason}")
    return RelationalData(words, tuple(instances))


def _task_learner(name: str) -> Learner:
    return lambda task, **options: train_task(name, task, **options)


def _domain_learner(name: str) -> Learner:
    return lambda data, **options: train_domain(name, data, **options)


def _puzzle_learner(name: str) -> Learner:
    return lambda puzzle, **options: train_puzzle(name, with_usual_goal(puzzle), **options)
