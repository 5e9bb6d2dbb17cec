"""Rows of runs for other tools: CSV, JSON, and the `properties` file of Downward Lab."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import msgspec

from hstar.experiments.report.runs import Run
from hstar.experiments.statistics import changes, searches_of
from hstar.experiments.tables import TABLES, change_text, latex, markdown, pair_table, summarise, tables_of

_FIRST = ("run", "step", "contestant", "domain", "instance", "start", "seed", "status")
_NOT_IN_CSV = ("curve", "selection", "error_by_h", "calibration")  # lists


def write_rows(
    runs: Sequence[Run], form: str, *, tables: Sequence[str] = TABLES, significance: bool = False
) -> str:
    """The runs in one of `FORMATS`. Tables and significance (a sign test) are of markdown and LaTeX."""
    return FORMATS[form](runs, tables, significance)


def to_json(data: Any, *, sort: bool = False) -> bytes:
    """JSON of what is no Unicode, such as some names of files, too; numbers that are none become null."""
    try:
        return msgspec.json.encode(data, order="sorted" if sort else None)
    except UnicodeEncodeError:
        return json.dumps(data, sort_keys=sort).encode()


def _csv(runs: Sequence[Run], *_: object) -> str:
    found = dict.fromkeys(chain.from_iterable(row for run in runs for row in run.rows))
    names = [*_FIRST, *(name for name in found if name not in (*_FIRST, *_NOT_IN_CSV))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for run in runs:
        writer.writerows((run.name, *map(row.get, names[1:])) for row in run.rows)
    return text.getvalue()


def _json(runs: Sequence[Run], *_: object) -> str:
    return to_json([{**row, "run": run.name} for run in runs for row in run.rows]).decode() + "\n"


def _markdown(runs: Sequence[Run], tables: Sequence[str], significance: bool) -> str:
    parts = []
    for run in runs:
        parts.append((f"# {run.name}\n\n" if len(runs) > 1 else "") + summarise(run.rows, tables))
        if significance and searches_of(run.rows):
            parts.append("## Pairs, start by start\n\n" + markdown(pair_table(run.rows), left=2))
    first, *others = runs
    parts += [change_text(changes(first.rows, run.rows), first.name, run.name) for run in others]
    return "\n".join(parts)


def _latex(runs: Sequence[Run], chosen: Sequence[str], significance: bool) -> str:
    tables = []
    for run in runs:
        of = f", {run.name}" if len(runs) > 1 else ""
        found = [(f"{one.title}{of}", latex(one.table, one.left)) for one in tables_of(run.rows, chosen)]
        if significance and searches_of(run.rows):
            found.append((f"Pairs, start by start{of}", latex(pair_table(run.rows), left=2)))
        tables += [f"% {title}\n{table}" for title, table in found]
    return "\n".join(tables) if tables else "% There is no table of this.\n"


def _lab(runs: Sequence[Run], *_: object) -> str:
    """A line for each search. Lab identifies a run by algorithm, domain and problem."""
    lines: dict[bytes, bytes] = {}
    searches = ((run, row) for run in runs for row in searches_of(run.rows))
    for run, row in searches:
        algorithm = f"{run.name}: {row['contestant']}" if len(runs) > 1 else row["contestant"]
        if row["seed"]:
            algorithm += f", seed {row['seed']}"
        problem = f"{row['instance'].partition('/')[2]}:{row['start']}"
        solved = int(row["status"] == "solved")
        # Neither of what is not known nor of NaN, which alone does not equal itself.
        entry = {name: value for name, value in row.items() if value is not None and value == value}
        entry |= {
            "run": run.name,
            "id": [algorithm, row["domain"], problem],
            "algorithm": algorithm,
            "problem": problem,
            "coverage": solved,
            "error": "success" if solved else row["status"],
        }
        lines[to_json("-".join(entry["id"]))] = to_json(entry, sort=True)
    return (b"{\n" + b",\n".join(b": ".join(line) for line in sorted(lines.items())) + b"\n}\n").decode()


FORMATS: dict[str, Callable[[Sequence[Run], Sequence[str], bool], str]]
FORMATS = {"csv": _csv, "json": _json, "markdown": _markdown, "latex": _latex, "lab": _lab}
