"""Who takes part in an evaluation, by one word each.

    ff, goalcount, ...            a symbolic heuristic
    model.hstar                   a model that has been trained
    nrsl, fsm,profile=paper, ...  a recipe with options: trained on the base task first
    fd:lama-first                 Fast Downward with one of its aliases

Options of a contestant follow its name, separated by commas, spelled as on the command line of `hstar train`;
`search=lazy`, `preferred` and, for models, `precision=int16` are for the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hstar import _core
from hstar.errors import InputError
from hstar.files import MODEL
from hstar.recipes.recipe import RECIPES
from hstar.registry import unknown
from hstar.search.heuristics import heuristics
from hstar.search.solve import searches


@dataclass(frozen=True)
class Contestant:
    """A recipe with options of `hstar train`, a model file, a heuristic, or an alias of Fast Downward."""

    name: str
    recipe: str | None = None
    options: tuple[str, ...] = ()
    model: Path | None = None
    heuristic: str | None = None
    alias: str | None = None
    search: str | None = None  # None: that of the evaluation
    preferred: bool = False
    precision: str | None = None  # of a network; None: the usual one
    search_options: tuple[str, ...] = ()  # further words of `hstar solve`


def parse_contestant(text: str) -> Contestant:
    """The contestant that a word of the command line names; an `InputError` if there is none."""
    name, *words = text.split(",")
    options = dict(word.partition("=")[::2] for word in words)
    search = options.pop("search", None)
    if search is not None and search not in (known := [info.name for info in searches()]):
        raise unknown("search", search, known)
    preferred = options.pop("preferred", None) is not None
    precision = options.pop("precision", None)
    if precision is not None and precision not in (able := _core.precisions()):
        raise unknown("precision", precision, able)
    if name in RECIPES:
        flags = tuple(
            word
            for option, value in options.items()
            for word in (f"--{option.replace('_', '-')}", *([value] if value else []))
        )
        return Contestant(text, recipe=name, options=flags, search=search, precision=precision)
    if name.endswith(MODEL) and not options:
        if not Path(name).is_file():
            raise InputError("no such model", file=Path(name))
        label = ",".join([Path(name).stem, *words])
        return Contestant(label, model=Path(name), search=search, precision=precision)
    if precision is not None:
        raise InputError(f"'{name}' has no option 'precision'")
    if options:
        raise InputError(f"'{name}' has no option '{next(iter(options))}'")
    if name.startswith("fd:"):
        return Contestant(text, alias=name.removeprefix("fd:"), search="fd")
    known = [info.name for info in heuristics()]
    if name in known:
        return Contestant(text, heuristic=name, search=search, preferred=preferred)
    raise unknown("contestant", name, [*RECIPES, *known, "fd:lama-first"])


def option_words(options: Mapping[str, str | int | float | bool]) -> tuple[str, ...]:
    """Options as they are typed."""
    found: list[str] = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        found += (
            [f"--{'' if value else 'no-'}{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
        )
    return tuple(found)
