"""Problems on the command line: a planning task, a puzzle, a map, or a user's own space, and its starts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hstar.cli.app import Parser, checked
from hstar.cli.options import flag
from hstar.cli.tasks import add_translation, check_file, load_files
from hstar.errors import InputError
from hstar.spaces.load import SPACES, in_words, kind_of
from hstar.units import parse_count

SOURCE = "PROBLEM"
# Options of the problem, by the kinds of space that have them.
_KINDS = {
    "random": ("puzzle", "map", "own"),
    "walk": ("task", "puzzle", "map", "own"),
    "start": ("map",),
    "goal": ("map",),
    "neighbours": ("map",),
    "cut_corners": ("map",),
    "threshold": ("map",),
    "blank_last": ("puzzle",),
    "unit_cost": ("task",),
}


def add_problem(parser: Parser) -> None:
    """The problem, and the options that say from where to where."""
    examples = ", ".join(SPACES.get(name).example for name in SPACES)
    add, count = parser.add_argument, checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] {SOURCE}"
    add(
        "files",
        nargs="+",
        type=Path,
        metavar=SOURCE,
        help=f"what to solve, e.g. {examples}. A task is [DOMAIN] PROBLEM or a .sas file; DOMAIN may be "
        "left out if domain.pddl is in the same directory. A CSV file of instances may follow a puzzle.",
    )
    add_translation(parser)
    add("--unit-cost", action="store_true", help="tasks: count every action as cost 1")
    group = parser.add_argument_group("starts").add_argument
    group("--random", type=count, metavar="N", help="solve from N random starts (puzzles, maps, own spaces)")
    group("--walk", type=count, metavar="K", help="start at the end of a random walk of K steps")
    group(
        "--start", type=checked(parse_cell), metavar="R,C", help="maps: row and column of the start, from 0"
    )
    group("--goal", type=checked(parse_cell), metavar="R,C", help="maps: row and column of the goal")
    group("--neighbours", type=count, metavar="N", help="maps: 4 or 8 neighbours of a cell (default 4)")
    group("--cut-corners", action="store_true", help="maps: diagonal steps may pass corners of obstacles")
    group(
        "--threshold",
        type=float,
        metavar="X",
        help="maps: cells of an image are free from this brightness on",
    )
    group("--blank-last", action="store_true", help="tiles: the file's goal has the blank last")


def parse_cell(text: str) -> tuple[int, ...]:
    """Row and column, and a heading on lattices."""
    words = text.split(",")
    if len(words) not in (2, 3) or not all(word.strip().isdecimal() for word in words):
        raise InputError(f"expected a row and a column such as 3,14, got '{text}'")
    return tuple(map(int, words))


def kind_of_files(files: Sequence[Path]) -> str:
    """The kind of space that the arguments name."""
    return kind_of(str(files[0])).name


def check_problem_options(arguments: argparse.Namespace, kind: str) -> None:
    """An `InputError` for options that problems of this kind do not have."""
    for name, kinds in _KINDS.items():
        if getattr(arguments, name) not in (None, False) and kind not in kinds:
            raise InputError(
                f"{flag(name)} is for {in_words(kinds)}, and {arguments.files[0]} is {in_words([kind])}"
            )
    if kind != "puzzle" and kind != "task" and len(arguments.files) > 1:
        raise InputError(f"{arguments.files[0]} is a whole problem: give it alone")
    if arguments.random is not None and (arguments.start or arguments.goal):
        raise InputError("give either --random or --start and --goal")


def load_problems(
    arguments: argparse.Namespace,
    kind: str,
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> list[tuple[str, Any]]:
    """The problems with their names."""
    source = str(arguments.files[0])
    if kind == "task":
        task = load_files(
            arguments.files,
            unit_cost=arguments.unit_cost,
            translator=arguments.translator,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
        return [(task.name, task if arguments.walk is None else task.walk(arguments.walk, arguments.seed))]
    if kind == "puzzle" and len(arguments.files) > 1:
        return _instances(arguments)
    options: dict[str, Any] = {}
    if kind == "map":
        check_file(arguments.files[0])
        options = {name: getattr(arguments, name) for name in ("start", "goal", "threshold", "cut_corners")}
        options["neighbours"] = 4 if arguments.neighbours is None else arguments.neighbours
    problem = SPACES.get(kind).load(source, **options)
    return (
        [(source, problem)]
        if arguments.random is None and arguments.walk is None
        else _drawn(arguments, problem)
    )


def _instances(arguments: argparse.Namespace) -> list[tuple[str, Any]]:
    from hstar.spaces.puzzles import parse_puzzle

    if arguments.random is not None or len(arguments.files) > 2:
        raise InputError("give either one file of instances or --random N")
    check_file(arguments.files[1])
    puzzle = parse_puzzle(str(arguments.files[0]))
    return [(one.id, one.puzzle) for one in puzzle.read(arguments.files[1], blank_last=arguments.blank_last)]


def _drawn(arguments: argparse.Namespace, problem: Any) -> list[tuple[str, Any]]:
    """Random starts, numbered from 1; their seeds follow one another from --seed on."""
    number = 1 if arguments.random is None else arguments.random
    seeds = [arguments.seed + i for i in range(number)]
    if arguments.walk is not None:
        return [(str(i), problem.walk(arguments.walk, seed)) for i, seed in enumerate(seeds, 1)]
    return [(str(i), problem.random(seed)) for i, seed in enumerate(seeds, 1)]
