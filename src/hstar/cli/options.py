"""Options on the command line that are fields of dataclasses: of samplers, networks, trainings.

One option may belong to several owners (recipes, samplers) with different words and defaults; its help says
so once where they agree.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass
from typing import Any

from hstar.cli.app import checked
from hstar.errors import InputError
from hstar.units import parse_count, parse_time

MOST = 2**31 - 1  # of what is counted; the core and torch take no more


@dataclass(frozen=True)
class Use:
    """An option as one of its owners has it, in a part of the owner."""

    owner: str
    part: str
    field: Field[Any]
    default: Any


def _parse_small_count(text: str) -> int:
    count = parse_count(text)
    if count > MOST:
        raise InputError(f"expected a whole number up to {MOST}, got '{text}'")
    return count


# Type of a field, or name of an option: what a word on the command line becomes, and its name in the help.
_TYPES: dict[str, tuple[Callable[[str], Any], str]] = {
    "int": (checked(_parse_small_count), "N"),
    "float": (float, "X"),
    "str": (str, "NAME"),
    "seed": (checked(parse_count), "N"),
    "time_limit": (checked(parse_time), "TIME"),
}


def add_option(
    group: argparse._ActionsContainer,
    name: str,
    uses: Sequence[Use],
    owners: Sequence[str],
    *,
    hidden: bool = False,
) -> None:
    """Adds an option; `owners` are all there are, also those that do not have it. The help may hide it."""
    kind = str(uses[0].field.type).removesuffix(" | None")
    told = argparse.SUPPRESS if hidden else _help(uses, owners)
    if kind == "bool":
        group.add_argument(flag(name), action=argparse.BooleanOptionalAction, help=told)
    else:
        convert, metavar = _TYPES.get(name if name in _TYPES else kind, _TYPES["str"])
        group.add_argument(flag(name), type=convert, metavar=metavar, help=told)


def given_options(arguments: argparse.Namespace, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that stand on the command line."""
    return {name: getattr(arguments, name) for name in options if getattr(arguments, name) is not None}


def flag(name: str) -> str:
    """As it is typed."""
    return "--" + name.replace("_", "-")


def _help(uses: Sequence[Use], owners: Sequence[str]) -> str:
    """What the option says, once where all owners agree, else by owner."""
    texts: dict[str, list[str]] = {}
    seen: set[str] = set()
    for use in uses:
        if use.owner not in seen:  # of several parts the first one speaks
            seen.add(use.owner)
            text = use.field.metadata["help"].removesuffix(".")
            default = "" if use.default is None else f" [{_shown(use.default)}]"
            texts.setdefault(text + default, []).append(use.owner)
    if len(texts) == 1 and len(seen) == len(owners):
        joined = next(iter(texts))
    else:
        joined = ". ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())
    return joined.replace("%", "%%")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def parse_bound(text: str) -> float:
    """Of the cost of a plan to the optimum."""
    try:
        bound = float(text)
    except ValueError:
        bound = math.nan
    if not bound >= 1:
        raise InputError(f"expected a number from 1 on, got '{text}'")
    return bound
