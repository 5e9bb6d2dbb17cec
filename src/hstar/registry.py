"""Named parts: one spelling is file, registry key, command-line word, result column and test.

A room's `__init__` imports its files explicitly; each file registers its algorithm with a decorator. Names
are written once. Duplicates are refused, unknown names are answered with the known ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from hstar.errors import InputError

T = TypeVar("T")


def unknown(kind: str, name: str, known: list[str]) -> InputError:
    """The error for an unknown name, with the nearest known one as a suggestion."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return InputError(f"unknown {kind} '{name}' (known: {', '.join(known)}){hint}")


class Registry(Generic[T]):
    """A table from name to part of one kind, filled by decorators."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._parts: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that enters a part under `name`."""

        def enter(part: T) -> T:
            if name in self._parts:
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._parts[name] = part
            return part

        return enter

    def get(self, name: str) -> T:
        """The part called `name`; an `InputError` that lists the known names otherwise."""
        if name not in self._parts:
            raise unknown(self.kind, name, self.names())
        return self._parts[name]

    def names(self) -> list[str]:
        """All names in order of registration."""
        return list(self._parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
