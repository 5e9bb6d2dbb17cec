"""What a report knows of a run: its rows, how each can be repeated, and where it was made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase as fnmatch
from functools import cached_property
from pathlib import Path

import msgspec

from hstar.errors import InputError
from hstar.experiments.job import Record
from hstar.experiments.store import Origin, Store
from hstar.files import opened

DESCRIPTION = "description.txt"
_MOST_DESCRIPTION = 10_000  # bytes
LOG_BUDGET = 4_000_000  # characters of logs in a page, those of errors first
LOG_TAIL = 2_000  # of each
MOST_LOGS = 5_000


@dataclass(frozen=True)
class Run:
    """The last attempt at each job of a run. A row has the `key` of its job.

    A row also has the number of its `run` among those that are read together. What only a page shows is
    read when it is asked for.
    """

    name: str
    folder: Path
    rows: list[Record]
    finished: int  # jobs with an attempt
    missing: int  # jobs without

    @cached_property
    def description(self) -> str:
        """What the suite says about itself, if the run is of one."""
        with contextlib.suppress(InputError), opened(self.folder / DESCRIPTION) as file:
            return " ".join(file.read(_MOST_DESCRIPTION).decode(errors="replace").split())
        return ""

    @cached_property
    def origins(self) -> Mapping[str, Origin]:
        with Store(self.folder, read_only=True) as store:
            return store.origins()

    @cached_property
    def machines(self) -> list[dict[str, str]]:
        with Store(self.folder, read_only=True) as store:
            return store.machines()

    def files(self, inputs: Iterable[bytes]) -> Iterator[dict[str, str]]:
        """Of the inputs of origins the digests by name; a file that another job has not left is not there."""
        with Store(self.folder, read_only=True) as store:
            for one in inputs:
                sources: dict[str, str | dict[str, str]] = msgspec.json.decode(one)
                digests = {
                    name: source
                    if isinstance(source, str)
                    else store.outputs(source["job"]).get(source["file"])
                    for name, source in sources.items()
                }
                yield {name: digest for name, digest in digests.items() if digest is not None}

    def left(self, name: str, keys: Sequence[str]) -> dict[str, bytes]:
        """By key: the file of this name that a job left, where there is one that can be read."""
        found: dict[str, bytes] = {}
        if keys:
            with Store(self.folder, read_only=True) as store:
                for key in keys:
                    if (digest := store.outputs(key).get(name)) is not None:
                        with contextlib.suppress(InputError):  # the rest of the report is worth having
                            found[key] = store.get(digest)
        return found

    @cached_property
    def logs(self) -> Mapping[str, str]:
        """By key: the ends of the logs, errors first, as many as fit."""
        left = LOG_BUDGET
        logs: dict[str, str] = {}
        read: dict[str, str] = {}  # by digest: short logs are often the same
        with Store(self.folder, read_only=True) as store:
            for row in sorted(self.rows, key=lambda row: row["status"] != "error"):
                if left <= 0 or len(logs) == MOST_LOGS:
                    break
                if row["key"] not in logs:
                    tail = logs[row["key"]] = read.get(row["log"]) or _tail(store, row["log"])
                    read[row["log"]] = tail
                    left -= len(tail)
        return logs

    def of_contestants(self, patterns: Sequence[str]) -> Run:
        fitting = [row for row in self.rows if any(fnmatch(row["contestant"], one) for one in patterns)]
        return replace(self, rows=fitting)


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Runs under names that tell them apart: those of their folders, as short as that goes."""
    if twice := next((folder for folder in folders if list(folders).count(folder) > 1), None):
        raise InputError("given twice", file=twice)
    runs = [_read_run(folder, number) for number, folder in enumerate(folders)]
    names = [run.folder.name for run in runs]
    return [
        replace(run, name=name if names.count(name) == 1 else str(folder))
        for run, name, folder in zip(runs, names, folders, strict=True)
    ]


def rows_of(runs: Sequence[Run]) -> list[Record]:
    """The rows of all; of several runs, contestants tell which one they are of."""
    if len(runs) == 1:
        return runs[0].rows
    return [{**row, "contestant": f"{run.name}: {row['contestant']}"} for run in runs for row in run.rows]


def _read_run(folder: Path, number: int) -> Run:
    with Store(folder, read_only=True) as store:
        rows = store.rows()
        for row in rows:
            row["run"] = number
        finished = len({row["key"] for row in rows})
        return Run(folder.name, folder.absolute(), rows, finished, store.unfinished())


def _tail(store: Store, digest: str) -> str:
    try:
        return store.get(digest).decode(errors="replace")[-LOG_TAIL:]
    except InputError as error:  # the rest of the report is worth having
        return str(error)
