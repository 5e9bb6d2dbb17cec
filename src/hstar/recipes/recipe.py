"""What a recipe is: a published system by its name, with a method for each kind of space that it learns for.

A method names its parts, dataclasses of options such as those of a sampler, a model and the training, and
learns from a source with them. Here its options are resolved, once: a profile and what the user gives become
the objects of the parts, and mistakes are told before any work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hstar.errors import InputError, UnsupportedError, has_torch, needs_torch
from hstar.registry import Registry, unknown
from hstar.spaces.load import in_words
from hstar.training.config import check_length

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

Options = Mapping[str, Any]
INTERRUPTED = "interrupted"  # what a training was stopped by
Parts = Mapping[str, Any]  # the objects of the options, by the name of the part


@dataclass(frozen=True)
class Run:
    """What a training takes beside its source and its options.

    `checkpoint`: a file that is replaced again and again; the same call goes on from there. `data` are states
    to learn from instead of sampling, `held_out` such that the best weights are chosen by. With
    `keep_interrupted` Ctrl-C gives the best model so far, if there is one; its summary has it as `stopped`.
    """

    progress: Callable[[Any], None] | None = None  # gets a record several times a second
    checkpoint: Path | None = None
    data: Any = None
    held_out: Any = None
    keep_interrupted: bool = False

    def fitted(self, fit: Callable[..., Any], *parts: Any, **options: Any) -> Any:
        """What a training loop gives for these parts, or had until Ctrl-C if that is kept."""
        try:
            return fit(*parts, progress=self.progress, checkpoint=self.checkpoint, **options)
        except KeyboardInterrupt as stop:
            best = getattr(stop, "trained", None)  # of `TrainingInterrupted`; None before the first epoch
            if self.keep_interrupted and best is not None:
                return best
            raise


class Method(ABC):
    """How a recipe learns for one kind of space."""

    takes: ClassVar[tuple[str, ...]] = ("checkpoint",)  # of a `Run`: checkpoint, data, held_out
    own_options: ClassVar[type[Any]]  # the dataclass of the part `recipe`
    uses_torch: ClassVar[bool] = True

    def parts(self, options: Options) -> Mapping[str, type[Any]]:
        """Dataclasses by part; options that are given may choose one, as that of the model.

        Their fields that have a help are the options of the method.
        """
        return {"recipe": self.own_options}

    def profiles(self, options: Options, source: Any) -> Mapping[str, Options]:
        """Sets of options by name, the default one first; without a source those that the help tells."""
        return {"default": {}}

    @abstractmethod
    def learn(self, source: Any, parts: Parts, run: Run) -> TrainedModel[Any]:
        """A model; the same source and options give the same one, unless they limit times."""


@dataclass(frozen=True)
class Recipe:
    """A recipe: its paper, and its methods by the kind of space."""

    name: str
    paper: str
    methods: Mapping[str, Method] = field(repr=False)

    @property
    def spaces(self) -> tuple[str, ...]:
        """The kinds of space that it learns for: of task, domain, puzzle, map, own."""
        return tuple(self.methods)

    def method(self, kind: str) -> Method:
        """How it learns for a kind of space; an error that names the recipes that do, if it does not."""
        if kind not in self.methods:
            others = [name for name in RECIPES if kind in RECIPES.get(name).methods]
            able = f"; {', '.join(others)} can" if others else ""
            known, asked = in_words(self.spaces), in_words([kind])
            raise UnsupportedError(f"{self.name} learns for {known}, and cannot learn for {asked}{able}")
        return self.methods[kind]

    def fields(self, kind: str, options: Options) -> dict[str, dict[str, Field[Any]]]:
        """The options that there are by part, where those given choose the parts."""
        return {name: _fields(part) for name, part in self.method(kind).parts(options).items()}

    def check(self, kind: str, profile: str | None, options: Options, source: Any = None) -> Parts:
        """The parts with the options of the profile and those given; an `InputError` for wrong ones."""
        method = self.method(kind)
        check_length(options)
        profiles = method.profiles(options, source)
        chosen = next(iter(profiles)) if profile is None else profile
        if chosen not in profiles:
            raise unknown(f"profile of {self.name}", chosen, list(profiles))
        known = method.parts({**profiles[chosen], **options})
        names = [name for part in known.values() for name in _fields(part)]
        if foreign := next((name for name in options if name not in names), None):
            raise unknown(f"option of {self.name}", foreign, list(dict.fromkeys(names)))
        # The length of training that a user gives, be it in epochs or updates, replaces that of the profile.
        said = {"epochs", "updates"} if {"epochs", "updates"} & set(options) else set()
        given = {name: value for name, value in profiles[chosen].items() if name not in said} | dict(options)
        return {
            name: part(**{option: given[option] for option in _fields(part) if option in given})
            for name, part in known.items()
        }

    def learn(
        self, kind: str, source: Any, run: Run, profile: str | None, options: Options
    ) -> TrainedModel[Any]:
        self.check_run(kind, run)
        return self.method(kind).learn(source, self.check(kind, profile, options, source), run)

    def check_run(self, kind: str, run: Run) -> None:
        """An `InputError` for what the method does not take; an `UnsupportedError` without its PyTorch."""
        if self.method(kind).uses_torch and not has_torch():
            raise needs_torch(f"training with {self.name}")
        for name in ("checkpoint", "data", "held_out"):
            if getattr(run, name) is not None and name not in self.method(kind).takes:
                raise InputError(f"{name} is not an option of {self.name} for {in_words([kind])}")


RECIPES: Registry[Recipe] = Registry("recipe")


def enter(recipe: Recipe) -> None:
    RECIPES.register(recipe.name)(recipe)


def _fields(part: type[Any]) -> dict[str, Field[Any]]:
    return {entry.name: entry for entry in fields(part) if "help" in entry.metadata}
