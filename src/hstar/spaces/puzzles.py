"""Puzzles by name: `tiles:4x4`, `pancake:24`, `topspin:12`, the words of command line and model files.

A further kind registers itself in `PUZZLES`; its file is imported here.
"""

from __future__ import annotations

from hstar.errors import InputError
from hstar.spaces import blocks, pancake, tiles, topspin  # noqa: F401  (they register themselves)
from hstar.spaces.puzzle import PUZZLES, Puzzle

__all__ = ["PUZZLES", "parse_puzzle", "with_usual_goal"]


def parse_puzzle(text: str) -> Puzzle:
    """The puzzle of a name and a size, at its goal; an `InputError` for anything else."""
    name, _, size = text.partition(":")
    kind = PUZZLES.get(name)
    found = kind.parse(size)
    if found is None:
        raise InputError(f"expected a puzzle such as {name}:{kind.example}, got '{text}'")
    return found


def with_usual_goal(puzzle: Puzzle) -> Puzzle:
    """The puzzle at its goal; an `InputError` if that is not the usual one."""
    found = parse_puzzle(str(puzzle))
    if puzzle.goal != found.goal:
        raise InputError(f"the goal of {found} is not the usual one, which alone can be learned")
    return found
