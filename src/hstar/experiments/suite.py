"""A suite: an experiment as a TOML file. Tasks, trainings and searches by name; needs follow from the names.

    [limits]                      # of each search, and of each training
    time = "60s"
    memory = "4G"

    [[tasks]]
    instances = ["blocks/*"]      # folders or problems, relative to the suite; see `hstar evaluate`
    starts = 10

    [[tasks]]
    generator = "blocksworld"     # lists of parameters are crossed
    parameters = { blocks = [10, 12] }
    seeds = [0, 1]
    starts = 10                   # random walks

    [[sample]]                    # optional: data that several trainings share
    name = "states"
    sampler = "fsm"
    errors = true                 # compare labels with h*; for small tasks

    [[train]]
    name = "fsm"
    recipe = "fsm"
    options = { states = 50_000 } # or: data = "states"
    seeds = [0, 1, 2]

    [[plan]]
    model = "fsm"                 # every seed of it

    [[plan]]
    heuristic = "ff"

    [[plan]]
    planner = "fd:lama-first"

    [profiles.quick]              # what is different with --profile quick, table by table
    limits = { time = "5s" }
    train = { options = { states = 500, epochs = 2 }, seeds = [0] }

A wrong key or value is an `InputError` with its line.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hstar.errors import InputError
from hstar.experiments.grid_jobs import check_heuristic, scenario_options, search_words, training_plan
from hstar.registry import unknown

_OF_MAPS = "prolonged"

Value = str | int | float | bool


class LimitTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[limits]`."""

    time: str = "60s"
    memory: str = "4G"
    training: str = "1h"
    training_memory: str = "8G"


class TaskTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[tasks]]`: instances or problems that are there, or a generator.

    Instances are planned from several starts, problems and those of a split of a generator from their own.
    Of a split, `parameters` choose sizes. A native `puzzle` has instances in a file, or random ones: `number`
    for each seed, uniform or by a `walk` of so many moves; `blank_last`: tiles of the file are meant for the
    goal with the blank last. A `grid` is a kind of random maps, with options of `hstar grid` and a `number`
    of scenarios for each seed; `maps` are files of maps or scenarios. `name` is what tables call such a set.
    """

    instances: list[str] | None = None
    problems: list[str] | None = None
    generator: str | None = None
    split: str | None = None
    number: int | None = None
    parameters: dict[str, int | list[int]] = {}
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])
    starts: int = 10
    puzzle: str | None = None
    file: str | None = None
    blank_last: bool = False
    walk: int | None = None
    grid: str | None = None
    maps: list[str] = []
    options: dict[str, Value] = {}
    name: str | None = None

    @property
    def is_map(self) -> bool:
        """Whether its tasks are scenarios on maps."""
        return self.grid is not None or bool(self.maps)


class SampleTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[sample]]`: labelled states of each base task; `errors` compares them with h*."""

    name: str
    sampler: str
    options: dict[str, Value] = {}
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])
    errors: bool = False


class LabelTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[label]]`: problems that are there, or some of a split of a generator, solved optimally.

    `attempts`: of a split, how many problems of one base seed are tried until one is solved.
    """

    name: str
    problems: list[str] | None = None
    generator: str | None = None
    split: str | None = None
    parameters: dict[str, int | list[int]] = {}
    number: int | None = None
    time: str = "5m"
    memory: str = "8G"
    siblings: bool = False
    upper: bool = False
    attempts: int = 1


class TrainTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[train]]`: by sampling, or on the data of a `[[sample]]` or, for a domain, of a `[[label]]`.

    A recipe for maps learns from random scenarios, or from the files `maps`.

    With `each` it is one training for each choice of these options; `{option}` in its name is the choice.
    """

    name: str
    recipe: str
    data: str | None = None
    held_out: str | None = None
    maps: list[str] = []
    each: dict[str, list[Value]] = {}
    options: dict[str, Value] = {}
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])


class AccuracyTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[accuracy]]`: a `[[train]]` for a domain compared with the distances of a `[[label]]`."""

    model: str
    data: str
    name: str | None = None
    rule: str | None = None


class PlanTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[plan]]`: one of model (a `[[train]]` or a file), heuristic and planner.

    `each` is as in a training; `only` names domains or puzzles, or patterns of them, if not all are meant.
    """

    name: str | None = None
    model: str | None = None
    heuristic: str | None = None
    planner: str | None = None
    search: str | None = None
    preferred: bool = False
    precision: str | None = None
    only: list[str] = []
    each: dict[str, list[Value]] = {}
    options: dict[str, Value] = {}  # further ones of solve, puzzle or grid


class Suite(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    tasks: list[TaskTable] = []
    plan: list[PlanTable] = []
    description: str = ""
    search: str = "gbfs"
    limits: LimitTable = msgspec.field(default_factory=LimitTable)
    sample: list[SampleTable] = []
    label: list[LabelTable] = []
    train: list[TrainTable] = []
    accuracy: list[AccuracyTable] = []
    profiles: dict[str, dict[str, Any]] = {}


# --- reading --------------------------------------------------------------------------------------------


def read_suite(file: Path, profile: str | None = None) -> Suite:
    """The suite in a file, changed by one of its profiles."""
    try:
        text = file.read_text()
        data = msgspec.toml.decode(text)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=file) from None
    except msgspec.DecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(f"not TOML: {error}", file=file, line=int(line[1]) if line else None) from None
    suite = _convert(data, _Source(file, text))
    if profile is None:
        return suite
    if profile not in suite.profiles:
        raise unknown("profile", profile, list(suite.profiles))
    return _convert(_changed(data, suite.profiles[profile]), _Source(file, text, profile))


class _Source(NamedTuple):
    """Where a suite comes from, to tell places in it."""

    file: Path
    text: str
    profile: str | None = None

    def error(self, message: str, steps: Sequence[str | int]) -> InputError:
        """A mistake at a key, by its path of names and numbers of tables."""
        where = ".".join(str(step) for step in steps)
        line = _line_of_profile(self.text, self.profile, steps) if self.profile is not None else None
        line = _line(self.text, steps) if line is None else line
        return InputError(f"{where}: {message}" if where else message, file=self.file, line=line)

    @contextlib.contextmanager
    def at(self, table: str, number: int, *keys: str, options: Iterable[str] = ()) -> Iterator[None]:
        """Mistakes in a table: of the option that the message names, of the key, or of the first key."""
        try:
            yield
        except InputError as error:
            words = re.findall(r"[\w-]+", error.message.partition(" (known")[0])
            named = [name for name in options if {name, name.replace("-", "_")} & {*words}]
            named += [word for word in words if word in keys]
            raise self.error(error.message, [table, number, (*named, *keys)[0]]) from None


def _convert(data: Any, source: _Source) -> Suite:
    try:
        suite = msgspec.convert(data, Suite)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        steps: list[str | int] = [
            int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]`]+", path)
        ]
        if found := re.search(r"unknown field `(.*)`", message):
            steps.append(found[1])
            message = f"unknown key '{found[1]}'{_suggestion(found[1], steps)}"
        raise source.error(message, steps) from None
    _check_keys(suite, source)
    if any(table.is_map for table in suite.tasks):
        _check_maps(suite, source)
    return suite


def _suggestion(key: str, steps: Sequence[str | int]) -> str:
    tables: dict[str, type[msgspec.Struct]]
    tables = {"limits": LimitTable, "tasks": TaskTable, "sample": SampleTable}
    tables |= {"label": LabelTable, "train": TrainTable, "accuracy": AccuracyTable, "plan": PlanTable}
    table = tables.get(str(steps[0]), Suite) if len(steps) > 1 else Suite
    known = [entry.name for entry in msgspec.structs.fields(table)]
    near = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f" (known: {', '.join(known)})"


def _line(text: str, steps: Sequence[str | int]) -> int | None:
    """The line of a key, by its path of names and numbers of tables."""
    lines = text.splitlines()
    number, rest = 0, list(steps)
    if rest and isinstance(rest[0], str):
        table = rest[0]
        nth = rest[1] if len(rest) > 1 and isinstance(rest[1], int) else 0
        header = re.compile(rf"\s*\[+\s*{re.escape(table)}\b")
        headers = [i for i, line in enumerate(lines) if header.match(line)]
        if headers:
            number = headers[min(nth, len(headers) - 1)]
    keys = [step for step in rest if isinstance(step, str)]
    for key in reversed(keys):
        pattern = re.compile(rf"(^|[{{,\s])\"?{re.escape(key)}\"?\s*=")
        for i in range(number, len(lines)):
            if i > number and lines[i].lstrip().startswith("[") and number:
                break
            if pattern.search(lines[i]):
                return i + 1
    return number + 1 if lines else None


def _line_of_profile(text: str, profile: str, steps: Sequence[str | int]) -> int | None:
    """The line of a key in the tables of a profile, if it is there."""
    key = next((step for step in reversed(steps) if isinstance(step, str)), "")
    name = rf"profiles\s*\.\s*\"?{re.escape(profile)}\"?"
    own, pattern = re.compile(rf"\s*\[+\s*{name}\b"), re.compile(rf"(^|[{{,\s])\"?{re.escape(key)}\"?\s*=")
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[+\s*[\w\"]", line) and line.rstrip().endswith("]"):
            inside = own.match(line) is not None
        elif inside and pattern.search(line):
            return number
    return None


# --- maps -----------------------------------------------------------------------------------------------


def check_map_tasks(table: TaskTable) -> None:
    """An `InputError` if a table of maps says what it cannot have."""
    scenario_options(table.grid, table.options)
    if table.grid is not None and table.number is None:
        raise InputError("number: give a number of scenarios")
    if table.number is not None and table.number < 1:
        raise InputError(f"number must be 1 or more, got {table.number}")
    others = ("instances", "problems", "generator", "puzzle", "split", "file", "walk", "parameters")
    if foreign := next((name for name in others if getattr(table, name)), None):
        raise InputError(f"{foreign} is not for maps, which have grid or maps, options, number and seeds")
    if table.grid is not None and table.maps:
        raise InputError("grid or maps: one of random maps and those of files")


def _check_keys(suite: Suite, source: _Source) -> None:
    """What only maps have is not passed over elsewhere."""
    for i, task in enumerate(suite.tasks):
        if not task.is_map and (
            key := next((key for key in ("options", "name") if getattr(task, key)), None)
        ):
            raise source.error("is for maps: a grid or maps", ["tasks", i, key])
    for i, training in enumerate(suite.train):
        if training.maps and training.recipe != _OF_MAPS:
            raise source.error(f"is for {_OF_MAPS}", ["train", i, "maps"])


def _check_maps(suite: Suite, source: _Source) -> None:
    """What is wrong in the tables of a suite on maps is told with its line, before a map is drawn."""
    own = [entry.name for entry in msgspec.structs.fields(TaskTable)]  # a message begins with one of them
    for i, task in enumerate(suite.tasks):
        with source.at("tasks", i, "grid" if task.grid else "maps", *own, options=task.options):
            if task.is_map:
                check_map_tasks(task)
    for i, training in enumerate(suite.train):
        with source.at("train", i, "recipe"):
            if training.recipe != _OF_MAPS:
                raise unknown("recipe", training.recipe, [_OF_MAPS])
        with source.at("train", i, "options", options=[*training.options, *training.each]):
            for chosen in choices(training.each):
                training_plan({**training.options, **chosen}, on_files=bool(training.maps))
    for i, plan in enumerate(suite.plan):
        if plan.heuristic is not None:
            with source.at("plan", i, "heuristic"):
                check_heuristic(plan.heuristic)
        with source.at("plan", i, "options", options=[*plan.options, *plan.each]):
            for chosen in choices(plan.each):
                search_words({**plan.options, **chosen}, symbolic=plan.heuristic is not None)


def choices(each: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Every way to choose one of each; one way if there is nothing to choose."""
    for chosen in itertools.product(*each.values()):
        yield dict(zip(each, chosen, strict=True))


def _changed(data: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The data with a profile's values; a change of an array of tables is one of each table in it."""
    result = dict(data)
    for key, value in change.items():
        old = result.get(key)
        if isinstance(old, list) and isinstance(value, Mapping):
            result[key] = [_changed(table, value) for table in old]
        elif isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = _changed(old, value)
        else:
            result[key] = value
    return result
