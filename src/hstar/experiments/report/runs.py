"""What a report knows of a run: its rows, how each can be repeated, and where it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.experiments.job import Record
from hstar.experiments.store import Attempt, Store

LOG_BUDGET = 4_000_000  # characters of logs in a page, those of errors first
LOG_TAIL = 2_000  # of each
MOST_LOGS = 5_000


@dataclass(frozen=True)
class Repeat:
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
        latest, jobs = store.latest(), store.jobs()
        rows: list[Record] = []
        for key, attempt in latest.items():
            rows += (attempt.row({**labels, "key": key, "run": number}) for labels in jobs[key]["labels"])
        rows.sort(key=_order(rows))
        repeat = {key: _repeat(attempt, jobs[key], latest) for key, attempt in latest.items()}
        return Run(
            name=folder.name,
            folder=folder.absolute(),
            rows=rows,
            repeat=repeat,
            logs=_logs(store, rows, repeat),
            machines=_distinct([attempt.machine for attempt in latest.values()]),
            missing=len(jobs.keys() - latest.keys()),
        )


def _order(rows: Sequence[Record]) -> Any:
    """Contestants in the order of their first attempts, then instances, then starts."""
    contestants = {name: i for i, name in enumerate(dict.fromkeys(row["contestant"] for row in rows))}

    def key(row: Record) -> tuple[Any, ...]:
        start = str(row.get("start", ""))
        return contestants[row["contestant"]], row["instance"], row["seed"], row["step"], len(start), start

    return key


def _repeat(attempt: Attempt, job: Mapping[str, Any], latest: Mapping[str, Attempt]) -> Repeat:
    files = {}
    for name, source in job["inputs"].items():
        if isinstance(source, str):
            files[name] = source
        elif source["job"] in latest:  # a file that another job left
            files[name] = latest[source["job"]].outputs.get(source["file"], "")
    return Repeat(job["command"], files, attempt.log)


def _logs(store: Store, rows: Sequence[Record], repeat: Mapping[str, Repeat]) -> dict[str, str]:
    """The ends of the logs, errors first, as many as fit."""
    left = LOG_BUDGET
    logs: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: row["status"] != "error"):
        if left <= 0 or len(logs) == MOST_LOGS:
            break
        if row["key"] not in logs:
            try:
                text = store.get(repeat[row["key"]].log).decode(errors="replace")
            except InputError as error:  # the rest of the report is worth having
                text = str(error)
            logs[row["key"]] = text[-LOG_TAIL:]
            left -= len(logs[row["key"]])
    return logs


def _distinct(machines: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [dict(items) for items in dict.fromkeys(tuple(sorted(machine.items())) for machine in machines)]
