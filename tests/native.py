"""Structs of the core, filled in one expression."""

from __future__ import annotations

from hstar import _core


def limits(**fields: float) -> _core.Limits:
    """Limits of a native search, those that are given."""
    made = _core.Limits()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def search_options(**fields: object) -> _core.SearchOptions:
    """Options of a native search, those that are given."""
    made = _core.SearchOptions()
    for name, value in fields.items():
        setattr(made, name, value)
    return made
