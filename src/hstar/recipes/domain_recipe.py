"""What a recipe for a whole domain is: labelled states of small tasks in, a heuristic for all tasks out.

Such a recipe is a frozen dataclass with its options and a method `fit`; `train_domain` runs one by name. The
states come from `hstar label` (`sampling/optimal.py`).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, Protocol

from hstar.models.domain_model import DomainModel
from hstar.registry import Registry, unknown
from hstar.sampling.relational import RelationalData


class DomainRecipe(Protocol):
    """Options of a recipe, and what they make of data."""

    name: ClassVar[str]

    def __init__(self, **options: Any) -> None: ...

    def fit(self, data: RelationalData) -> DomainModel:
        """A heuristic for the domain of the data; the same options and data give the same one."""


DOMAIN_RECIPES: Registry[type[DomainRecipe]] = Registry("recipe")


def train_domain(recipe: str, data: RelationalData, **options: Any) -> DomainModel:
    """Learns a heuristic for all tasks of a domain from labelled states of some."""
    kind = DOMAIN_RECIPES.get(recipe)
    known = [entry.name for entry in fields(kind)]  # type: ignore[arg-type]  # a dataclass by contract
    for name in options:
        if name not in known:
            raise unknown(f"option of {recipe}", name, known)
    return kind(**options).fit(data)
