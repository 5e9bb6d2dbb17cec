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
from hstar.experiments.problems import (
    ProblemSet,
    make_problem,
    own_space,
    random_maps,
    random_puzzles,
    read_instance,
    read_maps,
    read_problem,
    read_puzzles,
)
from hstar.experiments.store import Store
from hstar.experiments.suite import LabelTable, TaskTable
from hstar.generators import GENERATORS
from hstar.generators.splits import split_attempts
from hstar.registry import unknown


def sets_of(table: TaskTable, home: Path, store: Store) -> list[ProblemSet]:
    number, space = table.number, str(table.space)
    if number is not None and number < 1:
        raise InputError(f"number must be 1 or more, got {number}")
    match table.form:
        case "problems" | "split":
            return [first for first, *_ in attempts_of(table, home, store)]
        case "instances":
            paths = matches(table.instances or [], home)
            return [read_instance(path, store, walks=table.starts, most=table.starts) for path in paths]
        case "generator":
            return list(_generated(table, store))
        case "puzzle":
            if (table.file is None) == (number is None):
                raise InputError(f"{space}: give either a file or a number of random instances")
            if number is not None:
                return [random_puzzles(space, number, seed, store, table.walk) for seed in table.seeds]
            paths = matches([str(table.file)], home)
            return [read_puzzles(space, path, store, blank_last=table.blank_last) for path in paths]
        case "own":
            if number is None and table.walk is not None:
                raise InputError("walk: give a number of starts, too")
            seeds = [0] if number is None else table.seeds
            return [own_space(space, home, store, number, seed, table.walk) for seed in seeds]
        case "grid":
            if number is None:
                raise InputError("number: give a number of scenarios")
            kind, options = str(table.grid), table.options
            return [random_maps(kind, options, number, seed, table.name) for seed in table.seeds]
        case _:
            found = itertools.product(matches(table.maps or [], home), table.seeds)
            return [read_maps(path, table.options, number, seed, store, table.name) for path, seed in found]


def attempts_of(table: TaskTable | LabelTable, home: Path, store: Store) -> list[list[ProblemSet]]:
    """Problems that are there, or of a split, each with those that may take its place."""
    number = table.attempts if isinstance(table, LabelTable) else 1
    if number < 1:
        raise InputError(f"label: attempts must be a whole number from 1 on, got {number}")
    if (table.problems is None) == (table.generator is None):
        raise InputError("give either problems or a generator with a split")
    if table.problems is not None:
        paths = dict.fromkeys(matches(table.problems, home))
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


def _told_apart(paths: Sequence[Path], store: Store) -> list[ProblemSet]:
    """Problems of files; those of one name, as of two versions of a domain, have their folders in it."""
    found = [read_problem(path, store) for path in paths]
    number = Counter(one.name for one in found)
    for i, (one, path) in enumerate(zip(found, paths, strict=True)):
        if number[one.name] > 1:
            name = f"{one.domain}/{path.parent.name}/{path.stem}"
            found[i] = replace(one, name=name, lesson=replace(one.lesson, instance=name))
    return found


def _has_sizes(sizes: Mapping[str, int], wanted: Mapping[str, int | list[int]]) -> bool:
    if missing := next((name for name in wanted if name not in sizes), None):
        raise unknown("parameter", missing, list(sizes))
    return all(sizes[name] in (one if isinstance(one, list) else [one]) for name, one in wanted.items())


def _sizes(sizes: Mapping[str, int | list[int]]) -> str:
    return "-".join(f"{name}{value}" for name, value in sizes.items())


def matches(patterns: Sequence[str], home: Path) -> list[Path]:
    """Files and folders, in the order of the patterns."""
    found: list[Path] = []
    for pattern in patterns:
        paths = sorted(glob.glob(str(home / pattern)))  # noqa: PTH207  (absolute ones, too)
        if not paths:
            raise InputError(f"nothing matches '{pattern}' in {home}")
        found += map(Path, paths)
    return found


def _generated(table: TaskTable, store: Store) -> Iterator[ProblemSet]:
    generate = GENERATORS.get(str(table.generator))
    values = [value if isinstance(value, list) else [value] for value in table.parameters.values()]
    for chosen, seed in itertools.product(itertools.product(*values), table.seeds):
        parameters = dict(zip(table.parameters, chosen, strict=True))
        domain, problem = generate(**parameters, seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{_sizes({**parameters, 'seed': seed})}.pddl")
            path.write_text(problem)
            path.with_name("domain.pddl").write_text(domain)
            yield read_instance(path, store, walks=table.starts)
