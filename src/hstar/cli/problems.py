"""Problems on the command line: tasks, puzzles, maps and own spaces, one or many, and their starts."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser, checked
from hstar.cli.options import Use, add_option, flag, given_options
from hstar.cli.tasks import add_translation, check_file, load_files, problem_files
from hstar.errors import InputError, TranslatorLimitError
from hstar.spaces.load import SPACES, in_words, kind_of
from hstar.spaces.translate import OUT_OF_TIME
from hstar.units import parse_count

if TYPE_CHECKING:
    from hstar.experiments.batch import Instance

SOURCE = "PROBLEM"
SCENARIOS = ".scen"
# Options of the problem, by the kinds of space that have them; those of maps are added to them.
_KINDS = {
    "random": ("task", "puzzle", "map", "own"),
    "walk": ("task", "puzzle", "map", "own"),
    "start": ("map",),
    "goal": ("map",),
    "threshold": ("map",),
    "blank_last": ("puzzle",),
    "no_cache": ("puzzle",),
    "unit_cost": ("task",),
}


def add_problem(parser: Parser) -> None:
    """The problems, and the options that say from where to where."""
    examples = ", ".join(SPACES.get(name).example for name in SPACES)
    add, count = parser.add_argument, checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] {SOURCE} ..."
    add(
        "files",
        nargs="*",
        type=Path,
        metavar=SOURCE,
        help=f"what to solve, e.g. {examples}. A task is [DOMAIN] PROBLEM or a .sas file; DOMAIN may be "
        "left out if domain.pddl is in the same directory; several problems, or a folder of them, are solved "
        "one after the other. A CSV file of instances may follow a puzzle (columns id, the kind of the "
        "puzzle and optimal_cost, if known). A map may be a .scen file. --kind draws random maps instead.",
    )
    add_translation(parser)
    add("--unit-cost", action="store_true", help="tasks: count every action as cost 1")
    group = parser.add_argument_group("starts").add_argument
    group("--random", type=count, metavar="N", help="solve from N random starts (of a .scen file: N of its)")
    group("--walk", type=count, metavar="K", help="start at the ends of random walks of K steps")
    group("--start", type=checked(parse_cell), metavar="R,C", help="maps: row and column, from 0 on")
    group("--goal", type=checked(parse_cell), metavar="R,C", help="maps: row and column of the goal")
    group("--threshold", type=float, metavar="X", help="maps: cells are free from this brightness on")
    group("--blank-last", action="store_true", help="tiles: the goal of the file has the blank last")
    if any(word.endswith((".pddl", ".sas")) for word in parser.words):
        return  # a task, which starts without NumPy
    maps = parser.add_argument_group("maps")
    for entry in _map_fields().values():
        add_option(maps, entry.name, [Use("solve", "maps", entry, entry.default)], ["solve"])


def _map_fields() -> dict[str, Any]:
    from hstar.spaces.grid_maps import ScenarioOptions

    return {entry.name: entry for entry in fields(ScenarioOptions)}


def _given_maps(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of maps that stand on the command line."""
    return given_options(arguments, _map_fields()) if hasattr(arguments, "neighbours") else {}


def parse_cell(text: str) -> tuple[int, ...]:
    """Row and column, and a heading on lattices."""
    words = text.split(",")
    if len(words) not in (2, 3) or not all(word.strip().isdecimal() for word in words):
        raise InputError(f"expected a row and a column such as 3,14, got '{text}'")
    return tuple(map(int, words))


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
    for name, kinds in {**_KINDS, **dict.fromkeys(maps, ("map",))}.items():
        if getattr(arguments, name) not in (None, False) and kind not in kinds:
            raise InputError(f"{flag(name)} is for {in_words(kinds)}, and {files[0]} is {in_words([kind])}")
    if arguments.random is not None and (arguments.start or arguments.goal):
        raise InputError("give either --random or --start and --goal")
    if arguments.random == 0:
        raise InputError("--random takes 1 or more")
    if kind == "task" and arguments.random is not None and arguments.walk is None:
        raise InputError("starts of a task are the ends of walks: give --walk K, too")
    if kind == "own" and len(files) > 1:
        raise InputError(f"{files[0]} is a whole problem: give it alone")
    return kind


def instances_of(arguments: argparse.Namespace, kind: str) -> tuple[Iterator[Instance], int]:
    """The instances, which tasks are loaded for one by one, and how many there are."""
    if kind == "task":
        found = list(task_files(arguments.files))
        return _tasks(found, arguments), len(found) * (arguments.random or 1)
    listed = {"puzzle": _puzzles, "map": _maps, "own": _own}[kind](arguments)
    return iter(listed), len(listed)


# Tasks.


def task_files(files: Sequence[Path]) -> Iterator[list[Path]]:
    """The files of each task: a .sas file, a problem, or a domain and a problem."""
    for path in files:
        if not path.is_dir():
            check_file(path)
    first, *rest = files
    domain = first if rest and first.suffix != ".sas" and not first.is_dir() and _is_domain(first) else None
    if domain is None and len(files) == 2 and all(path.suffix == ".pddl" for path in files):
        yield list(files)  # whatever they hold, a mistake in them is told by the reader of PDDL
        return
    if rest and any(path.suffix == ".sas" for path in files):
        raise InputError("a .sas file is a whole task: give it alone")
    if domain is None and len(files) == 1 and not first.is_dir():
        yield [first]
        return
    for one in problem_files(rest if domain else list(files), domain):
        yield list(one)


def _is_domain(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.search(r"\(\s*define\s*\(\s*domain\b", text, re.IGNORECASE) is not None


def _tasks(found: Sequence[Sequence[Path]], arguments: argparse.Namespace) -> Iterator[Instance]:
    """Tasks as they are needed; a limit that ends a translation is how its instance ended."""
    from hstar.experiments.batch import Instance, random_instances

    for files in found:
        name, started = files[-1].name, time.monotonic()
        try:
            task = load_files(
                list(files),
                unit_cost=arguments.unit_cost,
                translator=arguments.translator,
                time_limit=arguments.time_limit,
                memory_limit=arguments.memory_limit,
            )
        except KeyboardInterrupt:
            yield Instance(name, None, stopped="interrupted")
            return
        except MemoryError:
            yield Instance(name, None, stopped="memory_limit")
            continue
        except TranslatorLimitError as error:
            out_of_time = error.exit_code == OUT_OF_TIME
            yield Instance(name, None, stopped="time_limit" if out_of_time else "memory_limit")
            continue
        load_time = time.monotonic() - started
        if arguments.walk is None:
            yield Instance(name, task, load_time=load_time)
            continue
        for one in random_instances(task, arguments.random or 1, arguments.seed, arguments.walk):
            yield Instance(f"{name} {one.id}", one.problem, load_time=load_time)


# Puzzles, own spaces and maps.


def _puzzles(arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import Instance, random_instances
    from hstar.spaces.puzzles import parse_puzzle

    source, files = str(arguments.files[0]), arguments.files[1:]
    if bool(files) == (arguments.random is not None or arguments.walk is not None):
        raise InputError(
            f"{source} is at its goal: give either a file of instances, or --random N or --walk K"
        )
    if not files:
        puzzle = SPACES.get("puzzle").load(source)
        return random_instances(puzzle, arguments.random or 1, arguments.seed, arguments.walk)
    found: list[Instance] = []
    for path in files:
        check_file(path)
        read = parse_puzzle(source).read(path, blank_last=arguments.blank_last)
        found += [Instance(one.id, one.puzzle, one.optimal_cost, path) for one in read]
    return found


def _own(arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import Instance, random_instances

    source = str(arguments.files[0])
    problem = SPACES.get("own").load(source)
    if arguments.random is None and arguments.walk is None:
        return [Instance(source, problem)]
    return random_instances(problem, arguments.random or 1, arguments.seed, arguments.walk)


def _maps(arguments: argparse.Namespace) -> list[Instance]:
    from hstar.experiments.batch import Instance, random_instances
    from hstar.spaces.grid import LatticeProblem
    from hstar.spaces.grid_maps import OF_RANDOM_MAPS, ScenarioOptions
    from hstar.spaces.scenarios import scenarios_of

    given, files = _given_maps(arguments), arguments.files
    scenarios = bool(files) and files[0].suffix == SCENARIOS
    if files and (drawn := next((name for name in OF_RANDOM_MAPS if name in given), None)):
        raise InputError(f"{flag(drawn)} is for random maps, but {files[0]} is given")
    if scenarios:
        given.setdefault("neighbours", 8)  # what its lengths are meant for
    maps, ends = ScenarioOptions(**given), (arguments.start, arguments.goal)
    if arguments.threshold is not None and (scenarios or not files):
        raise InputError("--threshold is for an image")
    if any(ends) and (scenarios or not files):
        raise InputError("--start and --goal are for one problem on a map")
    if not files or scenarios or arguments.random is not None:
        number = arguments.random or (sys.maxsize if scenarios else 1)
        for path in files:
            check_file(path)
        found = scenarios_of(files, number, arguments.seed, maps, arguments.threshold)
        return [Instance(str(i), one) for i, one in enumerate(maps.on_lattices(found, arguments.seed), 1)]
    for path in files:
        check_file(path)
    steps = {name: getattr(maps, name) for name in ("neighbours", "cut_corners")}
    placed = dict(zip(("start", "goal"), ends, strict=True)) if not maps.headings else {}
    made: list[Any] = [
        SPACES.get("map").load(str(path), **placed, **steps, threshold=arguments.threshold) for path in files
    ]
    if maps.headings:
        start, goal = ends
        made = [
            LatticeProblem(
                one.grid, start or (*one.start, 0), goal or one.goal, maps.headings, maps.turn_cost
            )
            for one in made
        ]
    if arguments.walk is not None:
        return [
            one for problem in made for one in random_instances(problem, 1, arguments.seed, arguments.walk)
        ]
    return [Instance(path.name, one) for path, one in zip(files, made, strict=True)]
