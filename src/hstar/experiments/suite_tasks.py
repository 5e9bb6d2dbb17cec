"""The tasks of a suite: what its tables `[[tasks]]` and `[[label]]` stand for.

They are read from files below `home`, or generated, and kept in the store, so that a job has all it needs.
"""

from __future__ import annotations

import glob
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hstar.errors import InputError
from hstar.experiments.domains import Problem, make_problem, read_problem
from hstar.experiments.evaluate import Instance, read_instance
from hstar.experiments.grid_jobs import MapSet, random_maps, read_maps
from hstar.experiments.puzzle_jobs import PuzzleSet, random_puzzles, read_puzzles
from hstar.experiments.store import Store
from hstar.experiments.suite import LabelTable, TaskTable, check_map_tasks
from hstar.generators import GENERATORS
from hstar.generators.splits import split_attempts
from hstar.registry import unknown
from hstar.spaces.puzzles import parse_puzzle


def problems_of(table: TaskTable, home: Path, store: Store) -> list[Problem]:
    """Problems that are there, or the first of a split."""
    return [first for first, *_ in attempts_of(table, home, store)]


def attempts_of(table: TaskTable | LabelTable, home: Path, store: Store) -> list[list[Problem]]:
    """The same, each with those that may take its place."""
    number = table.attempts if isinstance(table, LabelTable) else 1
    if number < 1:
        raise InputError(f"label: attempts must be a whole number from 1 on, got {number}")
    if (table.problems is None) == (table.generator is None):
        raise InputError("give either problems or a generator with a split")
    if table.problems is not None:
        paths = {path: None for pattern in table.problems for path in _matches(pattern, home)}
        found = [path for path in paths if not path.stem.endswith("domain")]
        if number > 1:
            raise InputError("label: attempts are for a split of a generator: problems have no next ones")
        return [[problem] for problem in _told_apart(found[: table.number], store)]
    if table.split is None:
        raise InputError(f"{table.generator}: give a split")
    known = split_attempts(str(table.generator), table.split, number)
    chosen = [attempts for attempts in known if _has_sizes(attempts[0].sizes, table.parameters)]
    if not chosen:
        raise InputError(f"{table.generator}: no problem of {table.split} has {_sizes(table.parameters)}")
    return [
        [
            make_problem(f"{table.split}-{_sizes(one.sizes)}-{one.seed}", one.domain, one.problem, store)
            for one in attempts
        ]
        for attempts in chosen[: table.number]
    ]


def _told_apart(paths: Sequence[Path], store: Store) -> list[Problem]:
    """Problems of files; those of one name, as of two versions of a domain, have their folders in it."""
    found = [read_problem(path, store) for path in paths]
    number = Counter(one.name for one in found)
    return [
        replace(one, name=f"{one.domain}/{path.parent.name}/{path.stem}") if number[one.name] > 1 else one
        for one, path in zip(found, paths, strict=True)
    ]


def _has_sizes(sizes: Mapping[str, int], wanted: Mapping[str, int | list[int]]) -> bool:
    if missing := next((name for name in wanted if name not in sizes), None):
        raise unknown("parameter", missing, list(sizes))
    return all(sizes[name] in (one if isinstance(one, list) else [one]) for name, one in wanted.items())


def _sizes(sizes: Mapping[str, int | list[int]]) -> str:
    return "-".join(f"{name}{value}" for name, value in sizes.items())


def _matches(pattern: str, home: Path) -> list[Path]:
    paths = sorted(glob.glob(str(home / pattern)))  # noqa: PTH207  (absolute ones, too)
    if not paths:
        raise InputError(f"tasks: nothing matches '{pattern}' in {home}")
    return [Path(path) for path in paths]


def instances_of(table: TaskTable, home: Path, store: Store) -> Iterator[Instance]:
    """Planning tasks with several starts: those that are there, or generated ones."""
    if (table.instances is None) == (table.generator is None):
        raise InputError("tasks: give either instances or a generator")
    if table.instances is not None:
        for pattern in table.instances:
            for path in _matches(pattern, home):
                yield read_instance(path, store, walks=table.starts, most=table.starts)
        return
    generate = GENERATORS.get(str(table.generator))
    values = [value if isinstance(value, list) else [value] for value in table.parameters.values()]
    for chosen, seed in itertools.product(itertools.product(*values), table.seeds):
        parameters = dict(zip(table.parameters, chosen, strict=True))
        with tempfile.TemporaryDirectory() as folder:
            try:
                texts = generate(**parameters, seed=seed)
            except TypeError as error:
                raise InputError(f"tasks: {table.generator}: {error}") from None
            for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
                Path(folder, name).write_text(text)
            instance = read_instance(Path(folder, "problem.pddl"), store, walks=table.starts)
        yield replace(instance, name=f"{instance.domain}/{_sizes({**parameters, 'seed': seed})}")


def puzzles_of(table: TaskTable, home: Path, store: Store) -> Iterator[PuzzleSet]:
    """Instances of a file, or random ones for each seed."""
    puzzle = parse_puzzle(str(table.puzzle))
    if (table.file is None) == (table.number is None):
        raise InputError(f"tasks: {puzzle}: give either a file or a number of random instances")
    if table.file is not None:
        for path in _matches(table.file, home):
            yield read_puzzles(puzzle, path, store, blank_last=table.blank_last)
        return
    for seed in table.seeds:
        yield random_puzzles(puzzle, int(table.number or 0), seed, store, table.walk)


def maps_of(table: TaskTable, home: Path, store: Store) -> Iterator[MapSet]:
    """Random scenarios of a kind, or problems on maps from files."""
    check_map_tasks(table)
    if table.grid is not None:
        for seed in table.seeds:
            yield random_maps(table.grid, table.options, int(table.number or 0), seed, table.name)
        return
    for path in map_files(table.maps, home):
        for seed in table.seeds:
            yield read_maps(path, table.options, table.number, seed, store, table.name)


def map_files(patterns: Sequence[str], home: Path) -> list[Path]:
    """Those that match, in the order of the patterns."""
    return [path for pattern in patterns for path in _matches(pattern, home)]
