"""Options as fields of dataclasses: how they carry their help, and how mistakes are answered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from hstar.errors import InputError
from hstar.registry import unknown

T = TypeVar("T")


def option(default: Any, help: str) -> Any:
    """A field with a default and a line for the help."""
    return field(default=default, metadata={"help": help})


def configured(kind: type[T], options: Mapping[str, Any], what: str = "option") -> T:
    """The dataclass with these options; an `InputError` with a suggestion for a name that it has not."""
    known = [entry.name for entry in fields(kind)]  # type: ignore[arg-type]  # a dataclass by contract
    for name in options:
        if name not in known:
            raise unknown(what, name, known)
    return kind(**options)


def check_number(name: str, value: Any, least: float = 0, most: float = math.inf) -> None:
    """An `InputError` unless the value is a number (not a truth value) within the limits."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= value <= most:
        limits = f" from {least:g} on" if most == math.inf else f" from {least:g} to {most:.10g}"
        limits = "" if least == -math.inf else limits
        raise InputError(f"{name} must be a number{limits}, got {value!r:.40}")


def whole_number(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """The value as an int, for `1e6` is a whole number, too; an `InputError` for anything else."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or value != value // 1 or not least <= value <= most:
        limits = f"from {least} on" if most >= 2**31 - 1 else f"from {least} to {most}"
        raise InputError(f"{name} must be a whole number {limits}, got {value!r:.40}")
    return int(value)


def check_limits(config: Any) -> None:
    """Checks `time_limit`, `memory_limit` and `max_expansions` of a frozen dataclass; None is no limit."""
    if config.time_limit is not None:
        check_number("time_limit", config.time_limit)
    for name in ("memory_limit", "max_expansions"):
        if getattr(config, name) is not None:
            object.__setattr__(config, name, whole_number(name, getattr(config, name)))


def check_numbers(
    options: Any, *, whole: Mapping[str, int], shares: tuple[str, ...] = (), positive: tuple[str, ...] = ()
) -> None:
    """Whole numbers from a least one on, shares in (0, 1), numbers above 0; None where the type allows it."""
    optional = {entry.name for entry in fields(options) if str(entry.type).endswith("| None")}
    for name, least in whole.items():
        value = getattr(options, name)
        if value is None and name in optional:
            continue
        if not isinstance(value, int | float) or value != value // 1 or not least <= value < 2**63:
            raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
        object.__setattr__(options, name, int(value))  # 64e6 is a whole number, too
    for name in shares:
        value = getattr(options, name)
        if not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, got {value!r}")
    for name in positive:
        value = getattr(options, name)
        if value is None and name in optional:
            continue
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise InputError(f"{name} must be above 0 and finite, got {value!r}")


def check_word(options: Any, name: str, known: tuple[str, ...]) -> None:
    """An `InputError` unless the option is one of these words."""
    if getattr(options, name) not in known:
        raise unknown(name, str(getattr(options, name)), list(known))
