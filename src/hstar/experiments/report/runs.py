"""What a report knows of a run: its rows, how each can be repeated, and where it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from hstar.errors import InputError
from hstar.experiments.job import Record
from hstar.experiments.store import Result, Store

LOG_BUDGET = 4_000_000  # characters of logs in a page, those of errors first
LOG_TAIL = 2_000  # of each
MOST_LOGS = 5_000


class Repeat(NamedTuple):  # made by the hundred thousand
    """How to run a job again: its command, and its files by their place in the run."""

    command: Sequence[str]
    files: Mapping[str, str]  # name in the command: digest
    log: str  # digest


@dataclass(frozen=True)
class Run:
    """The last attempt at each job of a run. A row has the `key` of its job; `repeat` is by key.

    A row also has the number of its `run` among those that are read together.
    """

    name: str
    folder: Path
    rows: list[Record]
    repeat: Mapping[str, Repeat]
    logs: Mapping[str, str]  # by key: the ends of some
    machines: list[dict[str, str]]
    missing: int  # jobs without an attempt

    def of_contestants(self, patterns: Sequence[str]) -> Run:
        """Only rows of those whose names fit one of the patterns."""
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
        results = list(store.results())
        rows = [result.row for result in results]
        for row in rows:
            row["run"] = number
        outputs = {result.row["key"]: result.outputs for result in results}
        repeat = {result.row["key"]: _repeat(result, outputs) for result in results}
        rows.sort(key=_order(rows))
        return Run(
            name=folder.name,
            folder=folder.absolute(),
            rows=rows,
            repeat=repeat,
            logs=_logs(store, rows, repeat),
            machines=_distinct([result.machine for result in results]),
            missing=store.unfinished(),
        )


def _order(rows: Sequence[Record]) -> Any:
    """Contestants in the order of their first attempts, then instances, then seeds; else as they came."""
    contestants = {name: i for i, name in enumerate(dict.fromkeys(row["contestant"] for row in rows))}
    return lambda row: (contestants[row["contestant"]], row["instance"], row["seed"])


def _repeat(result: Result, outputs: Mapping[str, str]) -> Repeat:
    files = {}
    for name, source in result.inputs.items():
        if isinstance(source, str):
            files[name] = source
        elif source["job"] in outputs:  # a file that another job left
            files[name] = json.loads(outputs[source["job"]]).get(source["file"], "")
    return Repeat(result.command, files, result.log)


def _logs(store: Store, rows: Sequence[Record], repeat: Mapping[str, Repeat]) -> dict[str, str]:
    """The ends of the logs, errors first, as many as fit."""
    left = LOG_BUDGET
    logs: dict[str, str] = {}
    read: dict[str, str] = {}  # by digest: short logs are often the same
    for row in sorted(rows, key=lambda row: row["status"] != "error"):
        if left <= 0 or len(logs) == MOST_LOGS:
            break
        if row["key"] not in logs:
            digest = repeat[row["key"]].log
            if digest not in read:
                read[digest] = _tail(store, digest)
            logs[row["key"]] = read[digest]
            left -= len(logs[row["key"]])
    return logs


def _tail(store: Store, digest: str) -> str:
    try:
        return store.get(digest).decode(errors="replace")[-LOG_TAIL:]
    except InputError as error:  # the rest of the report is worth having
        return str(error)


def _distinct(machines: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    few = {id(machine): machine for machine in machines}.values()  # the store hands out one for many
    return [dict(items) for items in dict.fromkeys(tuple(sorted(machine.items())) for machine in few)]
