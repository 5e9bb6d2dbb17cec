"""Sets of problems to try searches on, whatever the kind of their space, and what can be learned for them.

A set has a name in tables and one entry for each search: the words that `hstar solve` is given, and the files
in them by the digests of their contents, so that a job has all it needs on any machine.

    instances   a base task and other initial states of it. The base is translated once and only the initial
                state changes, so nobody's atoms vanish (a translator drops what is constant from a start).
                Models of the domain get each as a PDDL problem.
    problems    a PDDL problem from its own initial state; models of its domain need the objects in it
    puzzles     instances of one puzzle, with their optimal costs where these are known
    maps        scenarios that one search job takes one after the other: a search on a map takes less than a
                millisecond, a process a thousand times as long
    own spaces  the space of a Python file, from its own start or from random ones
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from hstar import _core
from hstar.errors import InputError
from hstar.experiments.batch import random_instances
from hstar.experiments.job import Made
from hstar.experiments.store import Store
from hstar.files import blamed_on, read_bytes
from hstar.options import configured
from hstar.sampling.walks import Walks
from hstar.search.databases import DATABASES_NAME, has_databases
from hstar.search.grid_astar import HEURISTICS
from hstar.search.puzzle_optimal import optimal_plans
from hstar.spaces.grid import GridLike
from hstar.spaces.grid_files import scenario_map
from hstar.spaces.grid_maps import OF_RANDOM_MAPS, MapOptions, ScenarioOptions, random_problems, scenarios_of
from hstar.spaces.load import kind_of, load
from hstar.spaces.pddl import parse_task, read_task, read_text
from hstar.spaces.puzzle import Instance, Puzzle, format_instances
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.task import Task, load_task, with_state_of
from hstar.spaces.translate import find_domain

Value = str | int | float | bool
Files = Mapping[str, str | Made]
Options = Mapping[str, Value]
OWN_START = "own"
"""The start of a problem that is searched from its own initial state."""
INSTANCE = "instance.csv"
SCENARIOS = ".scen"
WALK = 200  # steps to a start of an own space that has no random ones; as of tasks
UNIT_COST = ("--unit-cost",)


@dataclass(frozen=True)
class Source:
    """Words of a command, `{name}` for the path of a file, and these files: digests, or who makes them."""

    words: tuple[str, ...] = ()
    files: Files = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    """What a training learns from, with its kind of space (one of a recipe's) and its names in tables."""

    kind: str
    domain: str
    instance: str
    source: Source = field(default_factory=Source)


@dataclass(frozen=True)
class ProblemSet:
    """Problems of one space; each start is one search job."""

    kind: str  # of space: task, puzzle, map or own
    domain: str  # a name of the space, which several sets may share
    name: str  # domain/set
    starts: Mapping[str, Source]
    lesson: Lesson  # for recipes that learn for this one space
    examples: tuple[Any, ...] = field(default=(), compare=False)  # some of the problems, to see what fits
    has_objects: bool = False  # PDDL problems: models of a domain fit
    problems: Mapping[str, Source] = field(default_factory=dict)  # PDDL of starts that are .sas files
    drawn: tuple[MapOptions, int] | None = None  # random maps: from what, and the seed

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of models that may fit."""
        return (self.kind, "domain") if self.has_objects else (self.kind,)

    @property
    def heuristics(self) -> list[str]:
        """Names of the symbolic heuristics that go with these problems."""
        claims = self.examples[0].claims if self.examples else _core.heuristics()
        puzzles = self.kind == "puzzle" and has_databases(self.examples[0])
        more = HEURISTICS if self.kind == "map" else (DATABASES_NAME,) if puzzles else ()
        return list(dict.fromkeys([*(claim.name for claim in claims), *more, "zero"]))


def is_problem(word: str) -> bool:
    """Whether a word of the command line names problems: a file, a folder, a puzzle or an own space."""
    return Path(word).is_dir() or Path(word).suffix in (".pddl", SCENARIOS) or kind_of(word).name != "task"


def read_problems(word: str, store: Store, *, number: int = 10, most: int | None = None) -> ProblemSet:
    """What a word names; `number` random starts where it has none of its own, at most `most`."""
    kind = "map" if word.endswith(SCENARIOS) else kind_of(word).name
    if kind == "task":
        return read_instance(Path(word), store, walks=number, most=most)
    number = number if most is None else min(number, most)
    if kind == "puzzle":
        return random_puzzles(word, number, 0, store)
    if kind == "own":
        able = callable(getattr(load(word).space, "random", None))
        return own_space(word, Path(), store, number, walk=None if able else WALK)
    return read_maps(Path(word), {}, most if word.endswith(SCENARIOS) else number, 0, store)


# --- planning tasks -------------------------------------------------------------------------------------


def read_instance(path: Path, store: Store, *, walks: int = 10, most: int | None = None) -> ProblemSet:
    """A folder with `domain.pddl`, `base.pddl` and other problems as starts; or one problem and walks."""
    problem = path / "base.pddl" if path.is_dir() else path
    if not problem.is_file():
        raise InputError("no base.pddl in this folder" if path.is_dir() else "no such file", file=path)
    domain_file = find_domain(problem)
    task = load_task(domain_file, problem)
    base = task.core.to_sas()
    task = task.with_unit_cost()
    texts: dict[str, str] = {}
    if path.is_dir() and (files := _start_files(path, domain_file)):
        starts = {file.stem: _from_problem(task, file) for file in files[:most]}
        texts = {file.stem: read_text(file) for file in files[:most]}
    else:
        number = walks if most is None else min(walks, most)
        starts = {f"walk{i}": start for i, start in enumerate(Walks(walks=number).tasks(task), 1)}
        texts = {name: _problem_from(read_text(problem), start) for name, start in starts.items()}

    def source(content: bytes, *words: str) -> Source:
        return Source(("{task.sas}", *words), {"task.sas": store.put(content)})

    domain = task.lifted.domain.name
    name = f"{domain}/{path.name if path.is_dir() else path.stem}"
    sources = {start: source(with_state_of(base, one.core), *UNIT_COST) for start, one in starts.items()}
    lesson, pddl = Lesson("task", domain, name, source(base)), read_text(domain_file)
    problems = {start: _pddl(pddl, text, store) for start, text in texts.items()}
    return ProblemSet("task", domain, name, sources, lesson, has_objects=True, problems=problems)


def _problem_from(text: str, task: Task) -> str:
    """The text of a problem, from the initial state that `task` has now."""
    lifted = task.lifted
    held = {atom for atom in task.initial_atoms if atom[0] not in lifted.domain.derived}
    atoms = lifted.problem.init.difference(*task.atoms) | held
    facts = [f"({' '.join(atom)})" for atom in sorted(atoms)]
    facts += [f"(= ({' '.join(term)}) {value})" for term, value in lifted.problem.costs.items()]
    plain = re.sub(r";[^\n]*", "", text)
    match = re.search(r"\(\s*:init\b", plain, re.IGNORECASE)
    assert match is not None  # its atoms have been read
    begin, end, depth = match.start(), match.end(), 1
    while depth:
        depth += {"(": 1, ")": -1}.get(plain[end], 0)
        end += 1
    return f"{plain[:begin]}(:init {' '.join(facts)}){plain[end:]}"


def _pddl(domain: str, problem: str, store: Store) -> Source:
    texts = {"domain.pddl": store.put(domain.encode()), "problem.pddl": store.put(problem.encode())}
    return Source((*(f"{{{text}}}" for text in texts), *UNIT_COST), texts)


def _start_files(folder: Path, domain_file: Path) -> list[Path]:
    """Problems beside base.pddl, p2 before p10."""
    files = [file for file in folder.glob("*.pddl") if file.name not in ("base.pddl", domain_file.name)]
    return sorted(files, key=lambda file: (len(file.name), file.name))


def _from_problem(task: Task, file: Path) -> Task:
    """The task from the initial state of another problem, which must have the same goal."""
    assert task.domain_file is not None
    problem = read_task(task.domain_file, file).problem
    if problem.goal != task.lifted.problem.goal:
        raise InputError(f"its goal is not that of {task.name}", file=file)
    with blamed_on(file):
        return task.with_initial_state(problem.init)


def read_problem(path: Path, store: Store, domain: Path | None = None) -> ProblemSet:
    """A problem with its domain file, or with `domain.pddl` beside it."""
    if not path.is_file():
        raise InputError("no such file", file=path)
    domain_file = domain or find_domain(path)
    texts, files = (read_text(domain_file), read_text(path)), (str(domain_file), str(path))
    return make_problem(path.stem, *texts, store, files)


def make_problem(
    name: str, domain: str, problem: str, store: Store, files: tuple[str, str] = ("domain", "problem")
) -> ProblemSet:
    """A problem from the texts of its files, whose names are for error messages."""
    domain_name = parse_task(domain, problem, *files).domain.name
    name, source = f"{domain_name}/{name}", _pddl(domain, problem, store)
    lesson = Lesson("task", domain_name, name, Source(source.words[:-1], source.files))
    return ProblemSet("task", domain_name, name, {OWN_START: source}, lesson, has_objects=True)


# --- puzzles and own spaces -----------------------------------------------------------------------------


def read_puzzles(name: str, file: Path, store: Store, *, blank_last: bool = False) -> ProblemSet:
    """Those of a CSV file; `blank_last`: tiles that are meant for the goal with the blank last."""
    puzzle = parse_puzzle(name)
    return _puzzles(puzzle, file.stem, puzzle.read(file, blank_last=blank_last), store)


def random_puzzles(name: str, number: int, seed: int, store: Store, walk: int | None = None) -> ProblemSet:
    """Uniform ones, or ends of walks, with their optimal costs where these are quickly found."""
    puzzle = parse_puzzle(name)
    instances = [Instance(one.id, one.problem) for one in random_instances(puzzle, number, seed, walk)]
    if puzzle.quickly_solved:
        solver = optimal_plans(puzzle)
        plans = {one.id: solver.states(one.puzzle) for one in instances}  # never None without a time limit
        instances = [replace(one, optimal_cost=len(plans[one.id] or ()) - 1) for one in instances]
    return _puzzles(puzzle, _drawn_name(seed, walk), instances, store)


def _puzzles(puzzle: Puzzle, name: str, instances: Sequence[Instance[Puzzle]], store: Store) -> ProblemSet:
    space = str(puzzle)
    if not instances:
        raise InputError(f"{space}/{name} has no instances")
    texts = {one.id: format_instances([one], puzzle.name).encode() for one in instances}
    words = (space, f"{{{INSTANCE}}}")
    starts = {start: Source(words, {INSTANCE: store.put(text)}) for start, text in texts.items()}
    lesson = Lesson("puzzle", space, space, Source((space,)))
    return ProblemSet("puzzle", space, f"{space}/{name}", starts, lesson, examples=(puzzle,))


def own_space(
    space: str, home: Path, store: Store, number: int | None = None, seed: int = 0, walk: int | None = None
) -> ProblemSet:
    """`file.py:Name` from its own start, or from `number` random ones, ends of walks if `walk` says so.

    A job gets a copy of this one file: it must not import others beside it.
    """
    path, _, name = space.rpartition(":")
    problem = load(str(home / path) + f":{name}")
    file = Path(path).name
    word, files = f"{{{file}}}:{name}", {file: store.put(read_bytes(home / path))}
    starts = {OWN_START: Source((word,), files)}
    label = OWN_START
    if number is not None:
        problem = problem.random(seed) if walk is None else problem.walk(walk, seed)
        label = _drawn_name(seed, walk)
        drawn = ("--random", "1") if walk is None else ("--walk", str(walk))
        starts = {str(i + 1): Source((word, *drawn, "--seed", str(seed + i)), files) for i in range(number)}
    lesson = Lesson("own", name, name, Source((word,), files))
    return ProblemSet("own", name, f"{name}/{label}", starts, lesson, examples=(problem,))


def _drawn_name(seed: int, walk: int | None) -> str:
    return f"random-{seed}" if walk is None else f"walk{walk}-{seed}"


# --- maps -----------------------------------------------------------------------------------------------


def scenario_options(kind: str | None, options: Options) -> ScenarioOptions:
    """Of random maps of a kind, or of maps from files; an `InputError` for what they have not."""
    given = spelled(options)
    if kind is None:
        if drawn := next((name for name in OF_RANDOM_MAPS if name in given), None):
            raise InputError(f"{drawn} is for random maps, but maps are given")
    elif "kind" in given:
        raise InputError("kind is what grid says")
    chosen = given if kind is None else {"kind": kind, **given}
    return configured(ScenarioOptions, chosen, "option of maps")


def random_maps(kind: str, options: Options, number: int, seed: int, name: str | None = None) -> ProblemSet:
    """Fresh ones of a seed, which should not be one of a training."""
    maps = scenario_options(kind, options)
    problems = maps.on_lattices(random_problems(number, seed, maps), seed)
    domain = name or _title(f"{kind}:{maps.rows}x{maps.columns}", options, ("rows", "columns"))
    words = ("--kind", kind, *option_words(options), "--random", str(number), "--seed", str(seed))
    plain = MapOptions(**{entry.name: getattr(maps, entry.name) for entry in fields(MapOptions)})
    found = _maps(domain, f"random-{seed}", number, Source(words), problems)
    return replace(found, drawn=(plain, seed))


def read_maps(
    path: Path, options: Options, number: int | None, seed: int, store: Store, name: str | None = None
) -> ProblemSet:
    """Random problems on a map, or those of a `.scen` file, of which `number` are drawn if it is less."""
    maps = scenario_options(None, options)
    if path.suffix == SCENARIOS:
        steps = maps if "neighbours" in options else replace(maps, neighbours=8)  # as its lengths mean it
        found = scenarios_of([path], sys.maxsize, seed, steps)
        number = len(found) if number is None else min(number, len(found))
    else:
        if number is None:
            raise InputError("give a number of problems to draw on it", file=path)
        found = scenarios_of([path], 1, seed, maps)
    source = map_source([path], store)
    words = (source.words[0], *option_words(options), "--random", str(number), "--seed", str(seed))
    domain, problems = name or _title(path.stem, options), maps.on_lattices(found, seed)
    return _maps(domain, f"{path.name}-{seed}", number, replace(source, words=words), problems)


def _maps(domain: str, name: str, number: int, source: Source, problems: Sequence[GridLike]) -> ProblemSet:
    one_of_each_size = tuple({problem.shape: problem for problem in problems}.values())
    starts = {f"{number} scenarios": source}
    lesson = Lesson("map", "maps", "maps")
    return ProblemSet("map", domain, f"{domain}/{name}", starts, lesson, one_of_each_size)


def _title(text: str, options: Options, told: Sequence[str] = ()) -> str:
    """A name for tables, with the options that it does not tell."""
    rest = {name: value for name, value in spelled(options).items() if name not in told}
    return ",".join([text, *(f"{name}={value}" for name, value in rest.items())])


def map_source(paths: Sequence[Path], store: Store) -> Source:
    """Maps and scenarios; N.map.scen is read with N.map where the map that it names is not there."""
    words, files = list[str](), dict[str, str]()
    for number, path in enumerate(paths, 1):
        name = f"{number}.map{SCENARIOS}" if path.suffix == SCENARIOS else f"{number}{path.suffix}"
        words.append(f"{{{name}}}")
        files[name] = store.put(read_bytes(path))
        if path.suffix == SCENARIOS and (beside := scenario_map(path)) is not None:
            files[f"{number}.map"] = store.put(read_bytes(beside))
    return Source(tuple(words), files)


# --- options ------------------------------------------------------------------------------------


def spelled(options: Options) -> dict[str, Any]:
    return {name.replace("-", "_"): value for name, value in options.items()}


def option_words(options: Options) -> tuple[str, ...]:
    """Options as they are typed."""
    words: list[str] = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value)]
    return tuple(words)
