"""The page: one HTML file with its data, style and script in it, which asks nothing of the network.

Python gathers and packs the data (columns, with names and digests once each); the script counts and draws,
because what it shows follows the filters of the reader.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import resources
from typing import Any

import msgspec

from hstar.experiments.report.runs import Run, rows_of
from hstar.experiments.statistics import (
    METRICS,
    Paired,
    Record,
    by_contestant,
    changes,
    compare_all,
    samples_of,
    searches_of,
    trainings_of,
)

NUMBERS = (*METRICS, "plan_length", "memory", "seconds")
_WHERE = ("contestant", "instance", "seed", "status", "run", "command", "files", "log", "text", "error")
_SAMPLE = ("distinct", "atoms", "sampling_time", "label_error", "exact_labels", "error_by_h")
_TRAINING = ("states", "atoms", "epochs", "best_loss", "seconds", "curve")


def page(runs: Sequence[Run], title: str | None = None) -> str:
    """The text of the file."""
    rows = rows_of(runs)
    data = {
        "title": title or " and ".join(run.name for run in runs),
        "made": time.strftime("%Y-%m-%d %H:%M"),
        "runs": [_about(run) for run in runs],
        **_pack(rows, runs),
        "pairs": _pairs(searches_of(rows)),
        "changes": [_changes(runs[0], run) for run in runs[1:]],
    }
    # A tag in a log must not end the element that holds the data.
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    parts = {name: resources.files(__package__).joinpath(name).read_text() for name in _ASSETS}
    html = parts["page.html"].replace("/*style*/", parts["page.css"]).replace("/*script*/", parts["page.js"])
    return html.replace("/*data*/", text)


_ASSETS = ("page.html", "page.css", "page.js")


def _about(run: Run) -> Record:
    return {
        "name": run.name,
        "folder": str(run.folder),
        "finished": len(run.repeat),
        "missing": run.missing,
        "machines": run.machines,
        "seconds": sum(row["seconds"] for row in run.rows),
    }


class _Names:
    """Numbers for strings, in the order of their coming."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.number.setdefault(name, len(self.number))

    def list(self) -> list[str]:
        return list(self.number)


def _pack(rows: Sequence[Record], runs: Sequence[Run]) -> Record:
    """Columns of the searches, the trainings, and what it takes to repeat either."""
    contestants, domains, instances = _Names(), _Names(), _Names()
    statuses, words, files = _Names(), _Names(), _Names()
    shells: dict[tuple[str, ...], int] = {}
    of_instance: dict[str, int] = {}

    def where(row: Record) -> tuple[Any, ...]:
        """As in _WHERE."""
        run = runs[row["run"]]
        repeat = run.repeat[row["key"]]
        command = tuple(repeat.command)
        if command not in shells:
            shells[command] = words(_shell(command))
        if row["instance"] not in of_instance:
            of_instance[row["instance"]] = domains(row["domain"])
        return (
            None if row["step"] == "sample" else contestants(row["contestant"]),
            *(instances(row["instance"]), row["seed"], statuses(row["status"]), row["run"], shells[command]),
            [[name, files(digest)] for name, digest in repeat.files.items()],
            *(files(repeat.log), run.logs.get(row["key"]), row.get("error")),
        )

    def record(row: Record, names: Sequence[str]) -> Record:
        return {**dict(zip(_WHERE, where(row), strict=True)), **{name: row.get(name) for name in names}}

    of_search = ("start", *NUMBERS)
    found = [(*where(row), *map(row.get, of_search)) for row in searches_of(rows)]
    columns = zip(*found, strict=True) if found else [()] * len((*_WHERE, *of_search))
    searches = dict(zip((*_WHERE, *of_search), columns, strict=True))
    trainings = [record(row, _TRAINING) for row in trainings_of(rows)]
    # What is chosen and coloured are contestants; a sample has a name.
    samples = [{**record(row, _SAMPLE), "name": row["contestant"]} for row in samples_of(rows)]
    return {
        "contestants": contestants.list(),
        "domains": domains.list(),
        "instances": [[name, of_instance[name]] for name in instances.list()],
        "statuses": statuses.list(),
        "commands": words.list(),
        "files": files.list(),
        "numbers": NUMBERS,
        "searches": searches,
        "trainings": trainings,
        "samples": samples,
    }


def _shell(command: Sequence[str]) -> str:
    """As it is typed; files stand in it by their names."""
    known = {"{python}": "python", "{fast-downward}": "fast-downward.py"}
    text = " ".join(known.get(word, word) for word in command)
    return text.replace("python -m hstar", "hstar").replace("{", "").replace("}", "")


def _pairs(searches: Sequence[Record]) -> list[Record]:
    found = compare_all(by_contestant(searches))
    return [
        {"one": one, "two": two, "paired": [_plain(paired) for paired in pairs]}
        for (one, two), pairs in found.items()
    ]


def _plain(paired: Paired) -> dict[str, Any]:
    return {
        "metric": paired.metric,
        "better": paired.better,
        "worse": paired.worse,
        "equal": paired.equal,
        "chance": paired.chance,
    }


def _changes(first: Run, second: Run) -> Record:
    return {
        "before": first.name,
        "after": second.name,
        "contestants": [
            {
                "contestant": change.contestant,
                "paired": [_plain(paired) for paired in change.paired],
                "gained": change.gained,
                "lost": change.lost,
                "missing": change.missing,
            }
            for change in changes(first.rows, second.rows)
        ],
    }
