"""Problems on the command line: tasks, puzzles, maps and own spaces, one or many, and their starts."""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.options import Parser, add_fields, checked, flag, given_options
from hstar.errors import InputError, LimitError
from hstar.files import blamed_on, check_files
from hstar.spaces.load import SPACES, in_words, kind_of
from hstar.spaces.translate import find_domain

if TYPE_CHECKING:
    from hstar.cli.progress import ProgressLine
    from hstar.experiments.batch import Instance
    from hstar.spaces.grid_maps import ScenarioOptions
    from hstar.spaces.task import Task

TASK = "[DOMAIN] PROBLEM"
SOURCE = "PROBLEM"
SCENARIOS = ".scen"
# Options of one kind of space alone; those of `ScenarioOptions` are added to them.
_KINDS = {"blank_last": "puzzle", "no_cache": "puzzle", "unit_cost": "task"}
_KINDS |= dict.fromkeys(("start", "goal", "metric", "threshold", "inflate"), "map")


def add_problem(parser: Parser) -> None:
    """The problems, and the options that say from where to where."""
    examples = ", ".join(SPACES.get(name).example for name in SPACES)
    parser.usage = f"{parser.prog} [OPTION ...] {SOURCE} ..."
    parser.option(
        "files",
        SOURCE,
        f"What to solve, e.g. {examples}. A task is [DOMAIN] PROBLEM or a .sas file; DOMAIN may be left out "
        "if domain.pddl is in the same directory. Several problems, or a folder of them, are solved one "
        "after the other. A CSV file of instances may follow a puzzle (columns id, the kind of the puzzle "
        "and optimal_cost, if known). A map may be a .scen file; --kind draws random maps instead.",
        nargs="*",
        type=Path,
    )
    add_translation(parser)
    parser.option("--unit-cost", None, "Count every action of a task as cost 1.")
    add, cell = partial(parser.option, group=parser.add_argument_group("starts")), checked(parse_cell)
    add("--random", "N", "Solve from N random starts; of a .scen file: N of its problems.")
    add("--walk", "K", "Start at the ends of random walks of K steps.")
    add("--start", "R,C", "maps: row and column of the start, counted from 0.", type=cell)
    add("--goal", "R,C", "maps: row and column of the goal, counted from 0.", type=cell)
    add("--metric", None, "ROS maps: --start, --goal and --path-file are x,y in metres (--start=-1.5,2).")
    add(
        "--inflate", "R", "maps: grow obstacles by a robot's radius, in cells (3) or metres (0.3m).", type=str
    )
    add("--threshold", "X", "maps: brightness from which on the cells of an image are free.")
    add("--blank-last", None, "tiles: the file of instances is meant for the goal with the blank last.")
    if not any(word.endswith((".pddl", ".sas")) for word in parser.words):  # a task starts without NumPy
        from hstar.spaces.grid_maps import ScenarioOptions

        add_fields(parser.add_argument_group("maps"), ScenarioOptions)


def _given_maps(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of maps that are given."""
    if not hasattr(arguments, "neighbours"):
        return {}
    from hstar.spaces.grid_maps import ScenarioOptions

    return given_options(arguments, [entry.name for entry in fields(ScenarioOptions)])


def parse_cell(text: str) -> tuple[float, ...]:
    """Row and column, or x and y in metres; and a heading on lattices."""
    words = text.split(",")
    try:
        found = tuple(int(word) if word.strip().isdecimal() else float(word) for word in words)
    except ValueError:
        found = ()
    if len(found) not in (2, 3) or not all(map(math.isfinite, found)):
        raise InputError(f"expected a row and a column such as 3,14, got '{text}'")
    return found


def kind_of_files(files: Sequence[Path]) -> str:
    """The kind of space that the arguments name; no files stand for random maps."""
    if not files or files[0].suffix == SCENARIOS:
        return "map"
    return kind_of(str(files[0])).name


def check_problem_options(arguments: argparse.Namespace) -> str:
    """The kind of the problems; an `InputError` for options that those of this kind do not have."""
    maps = _given_maps(arguments)
    files: list[Path] = arguments.files
    if not files and not maps:
        raise InputError(f"required: {SOURCE}, or --kind for random maps")
    kind = kind_of_files(files)
    for name, owner in {**_KINDS, **dict.fromkeys(maps, "map")}.items():
        if getattr(arguments, name) not in (None, False) and kind != owner:
            raise InputError(f"{flag(name)} is for {in_words([owner])}, and {files[0]} is {in_words([kind])}")
    if arguments.random is not None and (arguments.start or arguments.goal):
        raise InputError("give either --random or --start and --goal")
    if kind == "task" and arguments.random is not None and arguments.walk is None:
        raise InputError("starts of a task are the ends of walks: give --walk K, too")
    if kind == "own" and len(files) > 1:
        raise InputError(f"{files[0]} is a whole problem: give it alone")
    return kind


def instances_of(
    arguments: argparse.Namespace, kind: str, line: ProgressLine | None = None
) -> tuple[Iterable[Instance], int]:
    """The instances, which tasks are loaded for one by one, and how many there are."""
    if kind == "task":
        found = task_files(arguments.files)
        return _tasks(found, arguments, line), len(found) * (arguments.random or 1)
    listed = {"puzzle": _puzzles, "map": _maps, "own": _own}[kind](arguments)
    if not listed:
        raise InputError("has no instances", file=arguments.files[-1])
    return listed, len(listed)


# Tasks.


def add_task_files(parser: Parser) -> None:
    """The files, and the options of their translation."""
    text = "PDDL files, or one .sas file. DOMAIN may be left out if domain.pddl is in the same directory."
    parser.option("files", TASK, text, nargs="+", type=Path)
    add_translation(parser)


def add_translation(parser: Parser) -> None:
    """The options of the translation of PDDL."""
    parser.option("--translator", "NAME", "Translator of PDDL: native or fast-downward.", "native")


def load_files(files: list[Path], **options: Any) -> Task:
    """The task that the arguments name; `options` are those of `load_task`."""
    from hstar.spaces.task import load_task

    if len(files) > 2:
        raise InputError(f"expected {TASK}, got {len(files)} files")
    if len(files) == 2 and any(path.suffix == ".sas" for path in files):
        raise InputError("a .sas file is a whole task: give it alone")
    check_files(*files)
    return load_task(*files, **options)


def problem_files(given: list[Path], domain: Path | None) -> Iterator[tuple[Path, Path]]:
    """The domain and problem files that files and folders name."""
    if domain is not None:
        check_files(domain)
    for path in given:
        files = sorted(path.glob("*.pddl"), key=lambda file: file.name) if path.is_dir() else [path]
        files = [file for file in files if file != domain and not file.stem.endswith("domain")]
        if not files:
            raise InputError("no problems in this folder", file=path)
        for file in files:
            check_files(file)
            yield domain or find_domain(file), file


def task_files(files: list[Path]) -> list[list[Path]]:
    """The files of each task: a .sas file, a problem, or a domain and a problem."""
    check_files(*(path for path in files if not path.is_dir()))
    domains = [path for path in files if path.suffix != ".sas" and path.is_file() and _is_domain(path)]
    if len(files) > 1 and any(path.suffix == ".sas" for path in files):
        raise InputError("a .sas file is a whole task: give it alone")
    if (len(files) == 1 and not files[0].is_dir()) or (len(files) == 2 and domains):
        return [files]  # in the wrong order, too, which the reader of PDDL tells
    domain = files[0] if files[0] in domains else None
    return [list(pair) for pair in problem_files(files[1:] if domain else files, domain)]


def _is_domain(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.search(r"\(\s*define\s*\(\s*domain\b", text, re.IGNORECASE) is not None


def _tasks(
    found: list[list[Path]], arguments: argparse.Namespace, line: ProgressLine | None
) -> Iterator[Instance]:
    """Tasks as they are needed; a limit that ends a translation is how its instance ended."""
    from hstar.experiments.batch import Instance

    names = ("unit_cost", "translator", "time_limit", "memory_limit")
    options = {name: getattr(arguments, name) for name in names}
    for files in found:
        name, started = str(files[-1]), time.monotonic()
        try:
            task = load_files(files, **options, progress=line and line.grounding)
        except KeyboardInterrupt as stop:
            yield Instance(name, None, stopped="interrupted", reached=str(stop))
            return
        except (MemoryError, LimitError) as error:
            stopped = getattr(error, "status", "memory_limit")
            yield Instance(name, None, stopped=stopped, reached=str(error))
            continue
        load_time = time.monotonic() - started
        if arguments.walk is None:
            yield Instance(name, task, load_time=load_time)
            continue
        for one in _random(task, arguments):
            yield Instance(f"{name} {one.id}", one.problem, load_time=load_time)


def _random(problem: Any, arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import random_instances

    return random_instances(problem, arguments.random or 1, arguments.seed, arguments.walk)


# Puzzles, own spaces and maps.


def _puzzles(arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import Instance
    from hstar.spaces.puzzles import parse_puzzle

    source, files = str(arguments.files[0]), arguments.files[1:]
    if bool(files) == (arguments.random is not None or arguments.walk is not None):
        raise InputError(
            f"{source} is at its goal: give either a file of instances, or --random N or --walk K"
        )
    puzzle = parse_puzzle(source)
    if not files:
        return _random(puzzle, arguments)
    check_files(*files)
    return [
        Instance(one.id, one.puzzle, one.optimal_cost, path)
        for path in files
        for one in puzzle.read(path, blank_last=arguments.blank_last)
    ]


def _own(arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import Instance

    source = str(arguments.files[0])
    problem = SPACES.get("own").load(source)
    elsewhere = arguments.random is not None or arguments.walk is not None
    return _random(problem, arguments) if elsewhere else [Instance(source, problem)]


def _maps(arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import Instance
    from hstar.spaces.grid_files import usual_neighbours
    from hstar.spaces.grid_maps import OF_RANDOM_MAPS, ScenarioOptions, scenarios_of
    from hstar.spaces.ros_map import SUFFIXES

    given, files, seed = _given_maps(arguments), arguments.files, arguments.seed
    scenarios = bool(files) and files[0].suffix == SCENARIOS
    if files and (drawn := next((name for name in OF_RANDOM_MAPS if name in given), None)):
        raise InputError(f"{flag(drawn)} is for random maps, but {files[0]} is given")
    options = ScenarioOptions(**{"neighbours": usual_neighbours(files), **given})
    if arguments.threshold is not None and (scenarios or not files):
        raise InputError("--threshold is for an image")
    if arguments.inflate is not None and (scenarios or not files):
        raise InputError("--inflate is for maps of files")
    if arguments.metric and (len(files) != 1 or files[0].suffix not in SUFFIXES):
        raise InputError("--metric needs a ROS map.yaml, which has a resolution and an origin")
    if (arguments.start or arguments.goal) and (scenarios or not files):
        raise InputError("--start and --goal are for one problem on a map")
    check_files(*files)
    if not files or scenarios or arguments.random is not None:
        number = arguments.random or (sys.maxsize if scenarios else 1)
        found = scenarios_of(files, number, seed, options, arguments.threshold, arguments.inflate or 0)
        return [Instance(str(i), one) for i, one in enumerate(options.on_lattices(found, seed), 1)]
    problems = [_on_map(path, options, arguments) for path in files]
    if arguments.walk is not None:
        return [instance for problem in problems for instance in _random(problem, arguments)]
    return [Instance(path.name, problem) for path, problem in zip(files, problems, strict=True)]


def _on_map(path: Path, options: ScenarioOptions, arguments: argparse.Namespace) -> Any:
    """The problem from --start to --goal; on a lattice the start has a heading."""
    from hstar.spaces.grid import LatticeProblem

    steps = {name: getattr(options, name) for name in ("neighbours", "cut_corners")}
    how = {"threshold": arguments.threshold, "inflate": arguments.inflate or 0}
    problem: Any = SPACES.get("map").load(str(path), **steps, **how)
    rows = problem.grid.shape[0]
    start, goal = (_cell(place, path, rows, arguments) for place in (arguments.start, arguments.goal))
    try:
        if not options.headings:
            return problem.at(start or problem.start, goal or problem.goal)
        start, goal = start or (*problem.start, 0), goal or problem.goal
        return LatticeProblem(problem.grid, start, goal, options.headings, options.turn_cost)
    except InputError as error:
        cells = " (row and column of its cell)" if arguments.metric else ""
        grown = ", where --inflate has grown the obstacles" if arguments.inflate else ""
        raise InputError(f"{error.message}{cells}{grown}", file=path) from None


def _cell(
    place: tuple[float, ...] | None, path: Path, rows: int, arguments: argparse.Namespace
) -> tuple[int, ...] | None:
    """Row and column of what is typed as such, or with --metric as metres."""
    if place is None:
        return None
    shown = ",".join(f"{number:g}" for number in place)
    if not arguments.metric:
        if not all(isinstance(number, int) for number in place):
            raise InputError(f"expected a row and a column such as 3,14, got '{shown}' (metres: --metric)")
        return tuple(map(int, place))
    from hstar.spaces.ros_map import read_ros_map

    with blamed_on(path):
        return (*read_ros_map(path).cell(place[0], place[1], rows), *map(int, place[2:]))
