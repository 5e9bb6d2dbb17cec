"""A suite: an experiment as a TOML file. Tasks, trainings and searches by name; needs follow from the names.

    [[tasks]]
    instances = ["blocks/*"]      # folders or problems, relative to the suite; see `hstar evaluate`

    [[train]]
    name = "fsm"
    recipe = "fsm"
    seeds = [0, 1, 2]

    [[plan]]
    model = "fsm"                 # every seed of it

    [profiles.quick]              # what is different with --profile quick, table by table
    train = { options = { states = 500, epochs = 2 }, seeds = [0] }

docs/suites.md has everything that may stand in it. A wrong key or value is an `InputError` with its line.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec

from hstar.errors import InputError, UnsupportedError
from hstar.experiments.problems import Value
from hstar.files import read_text
from hstar.registry import unknown
from hstar.spaces.load import kind_of

# More than anybody runs, and few enough to be listed by --dry-run.
_Number: TypeAlias = Annotated[int, msgspec.Meta(le=10**6)]
_Size: TypeAlias = Annotated[int, msgspec.Meta(le=10**5)]


class LimitTable(msgspec.Struct, forbid_unknown_fields=True):
    """The table `[limits]`: times and memory of searches and trainings."""

    time: str = "60s"
    memory: str = "4G"
    training: str = "1h"
    training_memory: str = "8G"
    cpu: bool = False


class TaskTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[tasks]]`: what is searched, by one key of `FORMS`, and the keys that go with it.

    Instances are searched from several starts, problems and those of a split of a generator from their own.
    Of a split, `parameters` choose sizes. A `space` is a puzzle, with instances in a file or random ones, or
    an own space, from its own start or random ones: `number` for each seed, uniform or by a `walk` of so many
    moves; `blank_last`: tiles of the file are meant for the goal with the blank last. A `grid` is a kind of
    random maps, with their options and a `number` of scenarios for each seed; `maps` are files of maps or
    scenarios. `name` is what tables call such a set.
    """

    instances: list[str] | None = None
    problems: list[str] | None = None
    generator: str | None = None
    split: str | None = None
    number: _Number | None = None
    parameters: dict[str, _Size | list[_Size]] = {}
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])
    starts: _Number = 10
    space: str | None = None
    file: str | None = None
    blank_last: bool = False
    walk: int | None = None
    grid: str | None = None
    maps: list[str] | None = None
    options: dict[str, Value] = {}
    name: str | None = None

    @property
    def form(self) -> str:
        """Which of `FORMS` it is; an `InputError` if it is none or two of them."""
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            raise InputError(
                f"give one of {', '.join(_SOURCES)}" + (f", not {' and '.join(given)}" if given else "")
            )
        if given == ["space"]:
            return "own" if kind_of(str(self.space)).name == "own" else "puzzle"
        return "split" if self.split is not None else given[0]


_SOURCES = ("instances", "problems", "generator", "space", "grid", "maps")
FORMS = {
    "instances": ("instances", "starts"),
    "problems": ("problems", "number"),
    "generator": ("generator", "parameters", "seeds", "starts"),
    "split": ("generator", "split", "parameters", "number"),
    "puzzle": ("space", "file", "blank_last", "number", "seeds", "walk"),
    "own": ("space", "number", "seeds", "walk"),
    "grid": ("grid", "options", "number", "seeds", "name"),
    "maps": ("maps", "options", "number", "seeds", "name"),
}
"""What a table of tasks may hold, by what it is."""


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
    parameters: dict[str, _Size | list[_Size]] = {}
    number: _Number | None = None
    time: str = "5m"
    memory: str = "8G"
    siblings: bool = False
    upper: bool = False
    attempts: int = 1


class TrainTable(msgspec.Struct, forbid_unknown_fields=True):
    """`[[train]]`: by sampling, or on the data of a `[[sample]]` or, for a domain, of a `[[label]]`.

    A recipe learns from the space that it is tried on; for maps from random ones, or from the files `maps`.

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
    options: dict[str, Value] = {}  # further ones of `hstar solve`


class Suite(msgspec.Struct, forbid_unknown_fields=True, dict=True):
    """The whole file. `search` is for all plans that do not say; else it depends on the kind of space."""

    tasks: list[TaskTable] = []
    plan: list[PlanTable] = []
    description: str = ""
    search: str | None = None
    limits: LimitTable = msgspec.field(default_factory=LimitTable)
    sample: list[SampleTable] = []
    label: list[LabelTable] = []
    train: list[TrainTable] = []
    accuracy: list[AccuracyTable] = []
    profiles: dict[str, dict[str, Any]] = {}

    @contextlib.contextmanager
    def at(self, table: str, number: int | None = None) -> Iterator[None]:
        """Mistakes in a table get the file and the line of the key or option that the message names."""
        try:
            yield
        except (InputError, UnsupportedError) as error:
            source: _Source | None = self.__dict__.get("source")
            if source is None or getattr(error, "file", None) is not None:
                raise
            given = source.data.get(table, {}) if number is None else source.data[table][number]
            message = getattr(error, "message", str(error))
            text = message.partition(" (known")[0]
            words, quoted = re.findall(r"[\w-]+", text), set(re.findall(r"'([^']*)'", text))
            options = [name for part in ("each", "options") for name in given.get(part, {})]
            named = [name for name in options if {name, name.replace("-", "_")} & {*words}]
            named += [
                key
                for key, value in given.items()
                if quoted & {*(value if isinstance(value, list) else [str(value)])}
            ]
            named += [word for word in words if word in given]
            steps = [table] if number is None else [table, number]
            raise source.error(message, [*steps, *[*named, *given][:1]]) from None


# --- reading --------------------------------------------------------------------------------------------


def read_suite(file: Path, profile: str | None = None) -> Suite:
    """The suite in a file, changed by one of its profiles."""
    text = read_text(file)
    try:
        data = msgspec.toml.decode(text)
    except RecursionError:
        raise InputError("not a suite: brackets within brackets, too many of them", file=file) from None
    except ValueError as error:  # also for numbers of thousands of digits
        line = re.search(r"line (\d+)", str(error))
        raise InputError(f"not TOML: {error}", file=file, line=int(line[1]) if line else None) from None
    suite = _convert(data, _Source(file, text, data))
    if profile is None:
        return suite
    if profile not in suite.profiles:
        raise unknown("profile", profile, list(suite.profiles))
    data = _changed(data, suite.profiles[profile])
    return _convert(data, _Source(file, text, data, profile))


class _Source(NamedTuple):
    """Where a suite comes from, to tell places in it."""

    file: Path
    text: str
    data: Mapping[str, Any]
    profile: str | None = None

    def error(self, message: str, steps: Sequence[str | int]) -> InputError:
        where = ".".join(str(step) for step in steps)
        line = _line(self.text, steps, self.profile)
        return InputError(f"{where}: {message}" if where else message, file=self.file, line=line)


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
    suite.__dict__["source"] = source
    for i, (table, given) in enumerate(zip(suite.tasks, data.get("tasks", ()), strict=True)):
        with suite.at("tasks", i):
            form = table.form
        if foreign := next((key for key in given if key not in FORMS[form]), None):
            able = " or ".join(name for name, keys in FORMS.items() if foreign in keys)
            raise source.error(f"is for {able}, and this table has {form}", ["tasks", i, foreign])
    return suite


def _suggestion(key: str, steps: Sequence[str | int]) -> str:
    tables: dict[str, type[msgspec.Struct]]
    tables = {"limits": LimitTable, "tasks": TaskTable, "sample": SampleTable}
    tables |= {"label": LabelTable, "train": TrainTable, "accuracy": AccuracyTable, "plan": PlanTable}
    table = tables.get(str(steps[0]), Suite) if len(steps) > 1 else Suite
    known = [entry.name for entry in msgspec.structs.fields(table)]
    near = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f" (known: {', '.join(known)})"


def _line(text: str, steps: Sequence[str | int], profile: str | None) -> int | None:
    """The line of a key, by its path of names and numbers of tables: in a profile, in its table, anywhere."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"\s*\[+\s*[\w\".-]+\s*\]+\s*(#|$)", line)]
    parts = list(zip(heads, [*heads[1:], len(lines)], strict=True))

    def named(name: str) -> list[tuple[int, int]]:
        return [part for part in parts if re.match(rf"\s*\[+\s*{name}[\"\s\].]", lines[part[0]])]

    own = named(re.escape(str(steps[0]))) if steps else []
    nth = steps[1] if len(steps) > 1 and isinstance(steps[1], int) else 0
    own = own[min(nth, len(own) - 1) :][:1] if own else []
    first = [] if profile is None else named(rf"profiles\s*\.\s*\"?{re.escape(profile)}")
    for key in [step for step in reversed(steps) if isinstance(step, str)]:
        pattern = re.compile(rf"(^|[{{,\s])\"?{re.escape(key)}\"?\s*=")
        for begin, end in [*first, *(own or [(0, len(lines))])]:
            if found := [i for i in range(begin, end) if pattern.search(lines[i])]:
                return found[0] + 1
    return own[0][0] + 1 if own else 1 if lines else None


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
