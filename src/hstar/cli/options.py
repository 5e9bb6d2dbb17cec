"""Options on the command line: the parser of a command, and options that are fields of dataclasses.

The standard library's argparse does the parsing: it starts in a tenth of the time of the alternatives, and a
planner is started thousands of times. One field may belong to several owners (recipes, samplers) with
different help and defaults; the help of the option says it once where they agree.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from hstar.errors import InputError
from hstar.units import format_bytes, format_time, parse_count, parse_memory, parse_time

MOST = 2**31 - 1  # of what is counted; the core and torch take no more


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of one value as argparse wants it, which puts the option's name before the complaint."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(error.message) from None

    return convert


def count_up_to(most: int) -> Callable[[str], Any]:
    """A parser of whole numbers with a greatest one."""

    def parse(text: str) -> int:
        if (count := parse_count(text)) > most:
            raise InputError(f"expected a whole number up to {most}, got '{text}'")
        return count

    return checked(parse)


# What a word on the command line becomes, by the metavar of its option; otherwise it stays a word.
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("N", "K"), checked(parse_count)),
    **dict.fromkeys(("X", "A", "C", "W"), float),
    **dict.fromkeys(("FILE", "FOLDER", "RUN", "DATA", "MODEL", "NEW"), Path),
    "T": checked(parse_time),
    "M": checked(parse_memory),
}
_FROM_ONE = ("jobs", "seeds", "random", "number", "starts", "epochs")  # in every command that has them
# Metavars of fields, by name or by type.
_METAVARS = dict.fromkeys(("time_limit", "cpu_time_limit", "keep_time"), "T")
_METAVARS |= dict.fromkeys(("memory_limit", "table_bytes", "body_limit"), "M")
_METAVARS |= {"int": "N", "float": "X"}
_SHORT = {  # other words and letters for fields
    "time_limit": "-t",
    "memory_limit": "-m",
    "jobs": "-j",
    "max_evaluations": "--nodes",
    "preferred": "-p",
    "table_bytes": "--table",
}


def _help_width() -> int:
    """As argparse has it, which asks for it, and imports much for that, once an option."""
    try:
        columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(1).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or 80) - 2


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are `InputError`s. `words` are what is typed, for help that depends on it."""

    words: tuple[str, ...] = ()

    def __init__(self, name: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=name,
            usage=f"{name} [OPTION ...]",
            description=description,
            epilog=epilog,
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=_help_width()),
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Ends with one line and exit code 33; argparse calls it for a wrong word."""
        raise InputError(f"{message} (see {self.prog} --help)")

    def option(
        self,
        flags: str,
        metavar: str | None,
        help: str,
        default: Any = None,
        *,
        group: argparse._ActionsContainer | None = None,
        **settings: Any,
    ) -> None:
        """Adds an option, or an argument. Its metavar gives its type; an option without one is a switch."""
        if metavar is None:
            settings, default = {"action": "store_true", **settings}, None
        else:
            settings = {"type": _TYPES.get(metavar, str), "metavar": metavar, "default": default, **settings}
        text = _with_default(help, default, metavar).replace("%", "%%")
        (group or self).add_argument(*flags.split(), help=text, **settings)

    def fields(self, kind: type[Any], names: Iterable[str], **helps: str) -> None:
        """Adds fields of a dataclass with their defaults, and with their help unless another one is given."""
        for entry in fields(kind):
            if entry.name in names:
                flags = f"{flag(entry.name)} {_SHORT.get(entry.name, '')}"
                text = helps.get(entry.name, entry.metadata["help"])
                self.option(flags, metavar_of(entry), text, entry.default)

    def parse(self, arguments: list[str]) -> argparse.Namespace:
        """Options may stand before, between and after the files."""
        found, rest = self.parse_known_intermixed_args(arguments)
        for name in _FROM_ONE:
            if getattr(found, name, None) == 0:
                self.error(f"{flag(name)} takes 1 or more")
        if getattr(found, "memory_limit", None) == 0:
            self.error("--memory-limit must be above 0; leave it out to have no limit")
        for word in rest:
            if not word.startswith("-"):
                self.error(f"unexpected argument '{word}'")
            import difflib

            near = difflib.get_close_matches(word.partition("=")[0], self._option_string_actions, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            self.error(f"unknown option '{word}'{hint}")
        return found


@dataclass(frozen=True)
class Use:
    """A field as one of its owners has it, in a part of the owner."""

    owner: str
    part: str
    field: Field[Any]
    default: Any


def add_option(
    group: argparse._ActionsContainer, uses: Sequence[Use], owners: Sequence[str], *, hidden: bool = False
) -> None:
    """Adds a field, None if it is not given; `owners` are all there are, also those that do not have it."""
    entry = uses[0].field
    metavar = metavar_of(entry)
    settings: dict[str, Any] = {"type": _TYPES.get(str(metavar), str), "metavar": metavar}
    if metavar is None:
        settings = {"action": argparse.BooleanOptionalAction}
    elif metavar == "N" and entry.name != "seed":
        settings["type"] = count_up_to(MOST)
    group.add_argument(
        flag(entry.name), help=argparse.SUPPRESS if hidden else _help(uses, owners), **settings
    )


def add_fields(group: argparse._ActionsContainer, options: type[Any]) -> None:
    """Adds the fields of a dataclass, each None if it is not given."""
    for entry in fields(options):
        add_option(group, [Use("", "", entry, entry.default)], [""])


def given_options(arguments: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Those of the options that are given."""
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def metavar_of(entry: Field[Any]) -> str | None:
    """How the help shows the value of a field; None for a switch."""
    kind = str(entry.type).removesuffix(" | None")
    return None if kind == "bool" else _METAVARS.get(entry.name, _METAVARS.get(kind, "NAME"))


def flag(name: str) -> str:
    """The option of a field: `--time-limit` of `time_limit`."""
    return "--" + name.replace("_", "-")


def _help(uses: Sequence[Use], owners: Sequence[str]) -> str:
    """The help of the option, once where all owners agree, else by owner."""
    first: dict[str, Use] = {}  # of several parts the first one speaks
    for use in uses:
        first.setdefault(use.owner, use)
    texts: dict[str, list[str]] = {}
    for owner, use in first.items():
        texts.setdefault(_with_default(use.field.metadata["help"], use.default), []).append(owner)
    if len(texts) == 1 and len(first) == len(owners):
        joined = next(iter(texts))
    else:
        joined = ". ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())
    return joined.replace("%", "%%")


def _with_default(text: str, default: Any, metavar: str | None = None) -> str:
    text = text.removesuffix(".")
    if default is None:
        return text
    if isinstance(default, bool):
        return f"{text} [{'on' if default else 'off'}]"
    if metavar in ("T", "M"):
        return f"{text} [{format_time(default) if metavar == 'T' else format_bytes(default)}]"
    return f"{text} [{default:g}]" if isinstance(default, float) else f"{text} [{default}]"
