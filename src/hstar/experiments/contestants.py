"""Who takes part in an evaluation, by one word each.

    ff, goalcount, ...            a symbolic heuristic
    model.hstar                   a model that has been trained
    nrsl, fsm,profile=paper, ...  a recipe with options: trained on the base task first
    fd:lama-first                 Fast Downward with one of its aliases

Options of a contestant follow its name, separated by commas, spelled as on the command line of `hstar train`;
`search=lazy` and `preferred` are for the search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hstar.errors import InputError
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

    @property
    def file_name(self) -> str:
        """The name with nothing that a file system minds."""
        return re.sub(r"[^\w.=-]+", "-", self.name)


def parse_contestant(text: str) -> Contestant:
    """The contestant that a word of the command line names; an `InputError` if there is none."""
    name, *words = text.split(",")
    options = dict(word.partition("=")[::2] for word in words)
    search = options.pop("search", None)
    if search is not None and search not in (known := [info.name for info in searches()]):
        raise unknown("search", search, known)
    preferred = options.pop("preferred", None) is not None
    if name in RECIPES:
        flags = tuple(
            word
            for option, value in options.items()
            for word in (f"--{option.replace('_', '-')}", *([value] if value else []))
        )
        return Contestant(text, recipe=name, options=flags, search=search)
    if options:
        raise InputError(f"'{name}' has no option '{next(iter(options))}'")
    if name.startswith("fd:"):
        return Contestant(text, alias=name.removeprefix("fd:"), search="fd")
    if name.endswith(".hstar"):
        if not Path(name).is_file():
            raise InputError("no such model", file=Path(name))
        return Contestant(Path(name).stem, model=Path(name), search=search)
    known = [info.name for info in heuristics()]
    if name in known:
        return Contestant(text, heuristic=name, search=search, preferred=preferred)
    raise unknown("contestant", name, [*RECIPES, *known, "fd:lama-first"])
