"""Options as fields of dataclasses: how they carry their help, and how wrong names are answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

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
