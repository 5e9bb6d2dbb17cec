"""Until there is one registry."""

from __future__ import annotations

from typing import Any

from hstar.recipes import DOMAIN_RECIPES, PUZZLE_RECIPES, prolonged
from hstar.recipes.domain_recipe import check_options
from hstar.recipes.learn import recipe_info, recipes
from hstar.recipes.puzzle_recipe import check_options as check_puzzle_options
from hstar.spaces.puzzles import with_usual_goal


class _Method:
    def __init__(self, takes: tuple[str, ...]) -> None:
        self.takes = takes


class Recipe:
    def __init__(self, name: str) -> None:
        self.name = name
        self.spaces = recipe_info(name).spaces

    def method(self, kind: str) -> _Method:
        takes = {"task": ("checkpoint", "data"), "domain": ("checkpoint", "held_out")}.get(
            kind, ("checkpoint",)
        )
        if kind == "domain" and not DOMAIN_RECIPES.get(self.name).resumable:
            takes = ("held_out",)
        return _Method(takes)

    def check(self, kind: str, profile: str | None, options: Any, source: Any = None) -> Any:
        if kind == "domain":
            return check_options(DOMAIN_RECIPES.get(self.name), profile, options)
        if kind == "puzzle":
            return check_puzzle_options(
                PUZZLE_RECIPES.get(self.name), with_usual_goal(source), profile, options
            )
        if kind == "map":
            from hstar.errors import InputError
            from hstar.spaces.grid_maps import OF_RANDOM_MAPS

            if source and (drawn := next((name for name in OF_RANDOM_MAPS if name in options), None)):
                raise InputError(f"{drawn} is for random maps, but maps are given")
            plan = prolonged.plan(profile, options)
            return {"recipe": plan.options, "maps": plan.maps, "model": plan.network}
        return {}


class _Registry:
    def get(self, name: str) -> Recipe:
        return Recipe(name)

    def __contains__(self, name: str) -> bool:
        return name in list(self)

    def __iter__(self):
        return iter([one.name for one in recipes()])


RECIPES = _Registry()
