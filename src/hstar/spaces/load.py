"""`hstar.load`: a problem from its name or its files. Every kind of space has one entry in `SPACES`.

    load("domain.pddl", "problem.pddl"), load("problem.pddl"), load("output.sas")    # a planning task
    load("tiles:4x4"), load("pancake:24"), load("blocks:15"), load("topspin:12")     # a puzzle, at its goal
    load("map.png"), load("room.map"), load("map.yaml"), load(array)                 # a map
    load("own.py:Lights")                                                            # a user's own space

A map without `start` and `goal` goes from its first free cell to its last one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.errors import InputError
from hstar.options import name_options
from hstar.registry import Registry

if TYPE_CHECKING:
    from hstar.spaces.grid import MapProblem
    from hstar.spaces.own import OwnProblem
    from hstar.spaces.problem import Problem
    from hstar.spaces.puzzle import Puzzle
    from hstar.spaces.task import Task


@dataclass(frozen=True)
class SpaceKind:
    """A kind of space: how its problems are written, which sources it takes, and how they are read."""

    name: str  # the kind of its problems
    description: str
    example: str
    takes: Callable[[Any], bool]  # whether a source is one of this kind
    load: Callable[..., Problem]


SPACES: Registry[SpaceKind] = Registry("space")
_PUZZLE = re.compile(r"([a-z][a-z0-9-]*):[^/\\.]*")
_OWN = re.compile(r"(.+\.py):([A-Za-z_]\w*)")
_MAPS = (".png", ".pgm", ".map", ".npy", ".yaml", ".yml")


def in_words(kinds: Iterable[str]) -> str:
    """Kinds of space in words: a task or an own space."""
    return " or ".join("an own space" if kind == "own" else f"a {kind}" for kind in kinds)


def load(source: Any, problem: str | Path | None = None, **options: Any) -> Any:
    """The problem that a name, a file, two PDDL files, an array or an own space stands for.

    Each option is for one kind of space; another kind refuses it.
    """
    kind = kind_of(source)
    if problem is not None:
        if kind.name != "task":
            raise InputError(f"{source} is a whole problem: give it alone, without {problem}")
        return kind.load(source, problem, **options)
    return kind.load(source, **options)


name_options(
    load,
    {
        "unit_cost": ("bool", False, "tasks: every action costs 1."),
        "translator": ("str", "native", "tasks: native, or fast-downward for its translator."),
        "time_limit": ("float | None", None, "tasks: stop the translation after this many seconds."),
        "memory_limit": ("int | None", None, "tasks: most bytes of memory of the translation."),
        "keep_unimportant": ("bool", False, "tasks: keep variables that do not influence the goal."),
        "progress": ("Callable | None", None, "tasks: function that is called while the task is grounded."),
        "start": ("Sequence[int] | None", None, "maps: row and column of the start."),
        "goal": ("Sequence[int] | None", None, "maps: row and column of the goal."),
        "neighbours": ("int | None", None, "maps: 4 or 8 neighbours of a cell (8 for ROS maps, else 4)."),
        "cut_corners": ("bool", False, "maps: let diagonal steps pass the corners of obstacles."),
        "threshold": ("float | None", None, "maps: brightness, in 0..1, from which a cell is free."),
        "inflate": ("str | float", 0, "maps: radius of a robot that obstacles grow by, in cells or as 0.2m."),
    },
)


def kind_of(source: Any) -> SpaceKind:
    """The kind of space that a source belongs to; PDDL if nothing else fits."""
    if isinstance(source, str | Path) or hasattr(source, "shape") or hasattr(source, "start"):
        for name in SPACES:
            if SPACES.get(name).takes(source):
                return SPACES.get(name)
    raise InputError(f"not a problem: {source!r:.60}; give files, a name such as tiles:4x4, or an own space")


def _task(domain: str | Path, problem: str | Path | None = None, **options: Any) -> Task:
    from hstar.spaces.task import load_task

    return load_task(domain, problem, **options)


def _puzzle(source: str) -> Puzzle:
    from hstar.spaces.puzzles import parse_puzzle

    return parse_puzzle(source)


def _map(
    source: Any,
    *,
    start: Sequence[int] | None = None,
    goal: Sequence[int] | None = None,
    neighbours: int | None = None,
    cut_corners: bool = False,
    threshold: float | None = None,
    inflate: str | float = 0,
) -> MapProblem:
    import numpy as np

    from hstar.spaces.grid import Grid, GridProblem
    from hstar.spaces.grid_files import load_map, usual_neighbours

    named = not hasattr(source, "shape")
    blocked = load_map(Path(source), threshold=threshold, inflate=inflate) if named else source
    if neighbours is None:
        neighbours = usual_neighbours([Path(source)] if named else [])
    grid = Grid(blocked, None, neighbours, cut_corners)
    free = np.flatnonzero(~grid.blocked)
    if not len(free):
        raise InputError("the map has no free cell", file=Path(source) if named else None)
    ends = (grid.cell(free[at]) if cell is None else tuple(cell) for cell, at in ((start, 0), (goal, -1)))
    return GridProblem(grid, *ends)


def _own(source: Any) -> OwnProblem:
    from hstar.spaces.own import OwnProblem

    if not isinstance(source, str | Path):
        return OwnProblem(source)
    found, path, name = named_object(str(source), "space")
    try:
        return OwnProblem(found, name)
    except TypeError as error:
        raise InputError(f"cannot make {name}: {error}", file=path) from None


def named_object(source: str, what: str) -> tuple[Any, Path, str]:
    """What `file.py:Name` stands for, the file and the name."""
    match = _OWN.fullmatch(source)
    if match is None:
        raise InputError(f"expected a {what} as file.py:NAME, got '{source}'")
    path, name = Path(match[1]), match[2]
    found = getattr(_module(path), name, None)
    if found is None:
        raise InputError(f"has no {what} '{name}'", file=path)
    return found, path, name


def _module(path: Path) -> Any:
    """A user's Python file as a module; it is run, and so must be trusted."""
    if not path.is_file():
        raise InputError("no such file", file=path)
    import importlib.util

    name = f"hstar_space_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        text = " ".join(str(error).split())
        line = error.lineno if isinstance(error, SyntaxError) else _line(error, path)
        raise InputError(f"{type(error).__name__}: {text:.200}", file=path, line=line) from None
    return module


def _line(error: Exception, path: Path) -> int | None:
    """The last line of the user's file that an exception went through."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if Path(traceback.tb_frame.f_code.co_filename) == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _is_puzzle(source: Any) -> bool:
    match = _PUZZLE.fullmatch(source) if isinstance(source, str) else None
    if match is None:
        return False
    from hstar.spaces.puzzles import PUZZLES

    return match[1] in PUZZLES


def _is_own(source: Any) -> bool:
    if isinstance(source, str | Path):
        return _OWN.fullmatch(str(source)) is not None
    return not hasattr(source, "shape")


def _is_map(source: Any) -> bool:
    return hasattr(source, "shape") if not isinstance(source, str | Path) else Path(source).suffix in _MAPS


for _kind in (
    SpaceKind(
        "puzzle", "sliding tiles, pancakes, blocks or topspin, natively", "tiles:4x4", _is_puzzle, _puzzle
    ),
    SpaceKind("own", "a Python object with start, is_goal and successors", "own.py:Lights", _is_own, _own),
    SpaceKind(
        "map", "cells with obstacles: an image, .map, .npy, ROS map.yaml or array", "map.png", _is_map, _map
    ),
    SpaceKind("task", "a planning task in PDDL or .sas", "problem.pddl", lambda source: True, _task),
):
    SPACES.register(_kind.name)(_kind)
