"""What a recipe for a whole domain is: labelled states of small tasks in, a heuristic for all tasks out.

Such a recipe tells its options by part, fields of dataclasses, and has profiles, named sets of them;
`train_domain` runs one by name. The states come from `hstar sample optimal` (`sampling/optimal.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hstar.errors import InputError
from hstar.models.domain_identity import DomainIdentity
from hstar.models.trained_model import TrainedModel
from hstar.registry import Registry, unknown
from hstar.sampling.relational import RelationalData

if TYPE_CHECKING:
    from hstar.training.loop import Progress

Options = Mapping[str, Any]


class DomainRecipe(Protocol):
    """A recipe by its name."""

    name: ClassVar[str]
    paper: ClassVar[str]
    resumable: ClassVar[bool]  # whether it takes a checkpoint

    def parts(self, options: Options) -> dict[str, dict[str, Field[Any]]]:
        """Options with their fields by part; `options` may choose a part, as that of the model."""

    def profiles(self, options: Options) -> Mapping[str, Options]:
        """Sets of options by name, the default one first; those given may choose among parts."""

    def told_defaults(self) -> Mapping[str, Any]:
        """Of options whose default depends on others: what the help says of it."""

    def fit(
        self,
        data: RelationalData,
        options: Options,
        held_out: RelationalData | None = None,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: Path | None = None,
    ) -> TrainedModel[DomainIdentity]:
        """A heuristic for the domain of the data; the same options and data give the same one."""


DOMAIN_RECIPES: Registry[DomainRecipe] = Registry("recipe")


def check_options(recipe: DomainRecipe, profile: str | None, options: Options) -> dict[str, Any]:
    """All options of a run: those of the profile, and those given; an `InputError` for foreign ones."""
    profiles = recipe.profiles(options)
    chosen = next(iter(profiles)) if profile is None else profile
    if chosen not in profiles:
        raise unknown(f"profile of {recipe.name}", chosen, list(profiles))
    known = [name for fields in recipe.parts(options).values() for name in fields]
    for name in options:
        if name not in known:
            raise unknown(f"option of {recipe.name}", name, known)
    return {**profiles[chosen], **options}


def train_domain(
    recipe: str,
    data: RelationalData,
    *,
    profile: str | None = None,
    held_out: RelationalData | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
    **options: Any,
) -> TrainedModel[DomainIdentity]:
    """Learns a heuristic for all tasks of a domain from labelled states of some.

    `held_out`: states to choose the best weights by; without them some of the instances are.
    """
    chosen = DOMAIN_RECIPES.get(recipe)
    given = check_options(chosen, profile, options)
    if not data.labelled.any():
        raise InputError("no states to learn from")
    if held_out is not None and not held_out.labelled.any():
        raise InputError("no states in the held-out data")
    if held_out is not None and held_out.words != data.words:
        raise InputError(f"data of {data.words.domain}, held-out data of {held_out.words.domain}")
    if checkpoint is not None and not chosen.resumable:
        raise InputError(f"{recipe} is done in seconds and takes no checkpoint")
    model = chosen.fit(data, given, held_out, progress, checkpoint)
    seen = (*data.instances, *(() if held_out is None else held_out.instances))
    return replace(model, trained_on=tuple(sorted({one.digest() for one in seen if len(one)})))
