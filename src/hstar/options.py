"""Options as fields of dataclasses: how they carry their help, and how mistakes are answered."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from hstar.errors import InputError
from hstar.registry import unknown

T = TypeVar("T")


def option(default: Any, help: str, **limits: Any) -> Any:
    """A field with a default, a line for the help and limits, which `check_options` keeps.

    Limits of numbers are `least`, `above`, `most` and `below`; `words` are the values that a word may have.
    """
    return field(default=default, metadata={"help": help, **limits})


def configured(kind: type[T], options: Mapping[str, Any], what: str = "option") -> T:
    """The dataclass with these options; an `InputError` with a suggestion for a name that it has not."""
    known = [entry.name for entry in fields(kind)]  # type: ignore[arg-type]  # a dataclass by contract
    for name in options:
        if name not in known:
            raise unknown(what, name, known)
    return kind(**options)


def check_options(options: Any) -> None:
    """An `InputError` unless every option of a frozen dataclass has its type and keeps its limits.

    Whole numbers are from 0 on if no limit is given. Numbers are finite unless `most` is infinite.
    """
    for entry in fields(options):
        value, (kind, *more) = getattr(options, entry.name), str(entry.type).split(" | ")
        limits = {key: limit for key, limit in entry.metadata.items() if key != "help"}
        if value is None and "None" in more:
            continue
        if "words" in limits and value not in limits["words"]:
            if kind == "str":
                raise unknown(entry.name, str(value), list(limits["words"]))
            raise InputError(
                f"{entry.name} must be {' or '.join(map(str, limits['words']))}, got {value!r:.40}"
            )
        if kind == "bool" and not isinstance(value, bool):
            raise InputError(f"{entry.name} must be true or false, got {value!r:.40}")
        if kind == "int":
            limits.pop("words", None)
            object.__setattr__(options, entry.name, whole_number(entry.name, value, **limits))
        elif kind == "float":
            _check_float(entry.name, value, limits)


def options_of(kind: Any) -> dict[str, tuple[Any, Any, str]]:
    """Type, default and help of the options of a dataclass, by name."""
    return {entry.name: (entry.type, entry.default, entry.metadata["help"]) for entry in fields(kind)}


def name_options(function: Callable[..., Any], options: Mapping[str, tuple[Any, Any, str]]) -> None:
    """Shows options by name in `help(function)`, instead of `**options`.

    `options` has type, default and help by name; the helps become a list below the docstring.
    """
    signature = inspect.signature(function)
    parameters = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    known = {one.name for one in parameters}
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default, _) in options.items()
        if name not in known
    ]
    function.__signature__ = signature.replace(parameters=[*parameters, *named])  # type: ignore[attr-defined]
    lines = [f"- `{name}`: {text}" for name, (_, _, text) in options.items()]
    function.__doc__ = "\n".join([inspect.getdoc(function) or "", "", "Options:", "", *lines])


class Checked:
    """A base of frozen dataclasses whose options are checked when one is made."""

    def __post_init__(self) -> None:
        check_options(self)


def _check_float(name: str, value: Any, limits: Mapping[str, float]) -> None:
    least, most = limits.get("least", -sys.float_info.max), limits.get("most", sys.float_info.max)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    open_ends = number and (value <= limits.get("above", math.nan) or value >= limits.get("below", math.nan))
    if not number or not least <= value <= most or (open_ends and value < math.inf):
        told = {
            "least": "from {:g} on",
            "above": "above {:g}",
            "most": "at most {:.10g}",
            "below": "below {:g}",
        }
        words = [told[key].format(limit) for key, limit in limits.items() if limit != math.inf]
        words += ["finite"] if words and value == math.inf else []
        said = ", ".join(words) or "that is finite"
        raise InputError(f"{name} must be a number {said}, got {value!r:.40}")


def whole_number(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """The value as an int, for `1e6` is a whole number, too; an `InputError` for anything else."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or value != value // 1 or not least <= value <= most:
        limits = f"from {least} on" if most >= 2**31 - 1 else f"from {least} to {most}"
        raise InputError(f"{name} must be a whole number {limits}, got {value!r:.40}")
    return int(value)
