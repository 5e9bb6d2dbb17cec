"""Who takes part in an experiment.

On the command line of `hstar evaluate` a contestant is one word:

    ff, manhattan, ...            a symbolic heuristic
    model.hstar                   a model that has been trained
    nrsl, fsm,profile=paper, ...  a recipe with options: trained first, for each space that it is tried on
    fd:lama-first                 Fast Downward with one of its aliases

Options of a contestant follow its name, separated by commas, spelled as on the command line of `hstar train`;
`search=lazy`, `preferred` and, for models, `precision=int16` are for the search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hstar import _core
from hstar.errors import InputError
from hstar.files import MODEL
from hstar.recipes import RECIPES
from hstar.recipes.compatibility import PARTS
from hstar.registry import unknown
from hstar.search.solve import searches


@dataclass(frozen=True)
class Contestant:
    """A recipe with options of `hstar train`, a model file, a heuristic, or an alias of Fast Downward."""

    name: str
    recipe: str | None = None
    options: tuple[str, ...] = ()
    training: str | None = None  # what tables call its trainings; None: its own name
    model: Path | None = None
    heuristic: str | None = None
    alias: str | None = None
    search: str | None = None  # None: that of the experiment, or the default of the kind of space
    preferred: bool = False
    precision: str | None = None  # of a network; None: the usual one
    search_options: tuple[str, ...] = ()  # further words of `hstar solve`

    def __post_init__(self) -> None:
        known = {"search": [info.name for info in searches()], "precision": _core.precisions()}
        for name, words in known.items():
            if (word := getattr(self, name)) is not None and word not in words:
                raise unknown(name, word, words)
        if self.precision is not None and self.recipe is None and self.model is None:
            raise InputError(f"{self.name}: precision is for models")
        if self.model is not None and not self.model.is_file():
            raise InputError("no such model", file=self.model)


def check_names(what: str, names: Iterable[str], hint: str = "") -> None:
    """An `InputError` if one of them is there twice: tables would count both as one."""
    for name, number in Counter(names).items():
        if number > 1:
            raise InputError(f"two {what} are called {name}{hint}")


def parse_contestant(text: str) -> Contestant:
    """The contestant that a word of the command line names; an `InputError` if there is none."""
    name, *words = text.split(",")
    options = dict(word.partition("=")[::2] for word in words)
    search, precision = options.pop("search", None), options.pop("precision", None)
    heuristics = [heuristic for heuristic, _ in PARTS["heuristics"]()]
    if "preferred" in options and name not in heuristics:
        raise InputError(f"'{name}' has no preferred operators")
    preferred = options.pop("preferred", None) is not None
    if name in RECIPES:
        flags = tuple(
            word
            for option, value in options.items()
            for word in (f"--{option.replace('_', '-')}", *([value] if value else []))
        )
        return Contestant(text, recipe=name, options=flags, search=search, precision=precision)
    if options:
        raise InputError(f"'{name}' has no option '{next(iter(options))}'")
    if name.endswith(MODEL):
        label = ",".join([Path(name).stem, *words])
        return Contestant(label, model=Path(name), search=search, precision=precision)
    if name.startswith("fd:") and not words:
        return Contestant(text, alias=name.removeprefix("fd:"))
    if name not in heuristics:
        raise unknown("contestant", name, [*RECIPES, *heuristics, "fd:lama-first"])
    return Contestant(text, heuristic=name, search=search, preferred=preferred, precision=precision)
