"""What generators share: sizes that must not be too small, and the text of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hstar.errors import InputError


def check_sizes(generator: str, **sizes: tuple[int, int]) -> None:
    """An `InputError` unless each size, a pair of what was asked for and the least, is large enough."""
    for name, (got, least) in sizes.items():
        if got < least:
            raise InputError(f"{generator} needs at least {least} of {name}, got {got}")


def numbered(letters: str, number: int) -> list[str]:
    """Names of objects: `b1`, `b2`, ..."""
    return [f"{letters}{i}" for i in range(1, number + 1)]


def problem_text(
    domain: str,
    sizes: Sequence[int],
    seed: int,
    *,
    objects: Mapping[str, Sequence[str]],
    init: Sequence[str],
    goal: Sequence[str],
    costs: bool = False,
) -> str:
    """A problem in PDDL. `objects` are by type (`""`: none); atoms come without their parentheses."""
    name = "-".join(map(str, (domain, *sizes, seed)))
    groups = [" ".join(names) + (f" - {kind}" if kind else "") for kind, names in objects.items() if names]
    facts = [f"({atom})" for atom in init]
    lines = [
        f"(define (problem {name})",
        f"  (:domain {domain})",
        f"  (:objects {(chr(10) + ' ' * 12).join(groups)})",
        f"  (:init {' '.join(facts)})",
        f"  (:goal (and {' '.join(f'({atom})' for atom in goal)}))",
    ]
    lines += ["  (:metric minimize (total-cost))"] if costs else []
    return "\n".join(lines) + ")\n"
