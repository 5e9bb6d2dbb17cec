"""Searches on maps step by step: of each set the first scenario, with a panel for each contestant.

The jobs of a suite keep these steps. Of several seeds of a training the first is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from hstar.experiments.grid_picture import panel_title
from hstar.experiments.job import STEPS
from hstar.experiments.report.runs import Run
from hstar.experiments.statistics import Record, searches_of

BUDGET = 2_000_000  # cells in a page: of maps, values, expansions and paths


def steps_of(runs: Sequence[Run], rows: Sequence[Record], budget: int = BUDGET) -> list[dict[str, Any]]:
    """A map for each set of scenarios, and its panels; searches with the same network share their values."""
    shown: dict[str, dict[str, Any]] = {}
    for row, found in _kept(runs, _first_seeds(rows)):
        (panel,) = found.pop("panels")
        about = {"instance": row["instance"], "domain": row["domain"], "values": [], "panels": []}
        one = shown.get(row["instance"], found | about)
        if any(one[name] != value for name, value in found.items()):
            continue  # another run has other scenarios under this name
        values, cells = panel.pop("values"), len(panel["explored"]) + len(panel["path"] or ())
        new = values is not None and values not in one["values"]
        budget -= cells + (len(values) if new else 0) + (0 if one["panels"] else len(one["blocked"]))
        if budget < 0:
            break
        if new:
            one["values"].append(values)
        title = panel_title(row["contestant"], len(panel["explored"]), panel["cost"])
        number = None if values is None else one["values"].index(values)
        one["panels"].append({**panel, "contestant": row["contestant"], "title": title, "values": number})
        shown[row["instance"]] = one
    return list(shown.values())


def _first_seeds(rows: Sequence[Record]) -> list[Record]:
    """Searches on maps, a row for each set and contestant."""
    first: dict[tuple[str, str], Record] = {}
    for row in searches_of(rows):
        place = row["instance"], row["contestant"]
        if row.get("instances") and (place not in first or row["seed"] < first[place]["seed"]):
            first[place] = row
    return list(first.values())


def _kept(runs: Sequence[Run], rows: Sequence[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Rows with what their jobs kept; some have kept nothing."""
    contents = [
        run.left(STEPS, [row["key"] for row in rows if row["run"] == number])
        for number, run in enumerate(runs)
    ]
    for row in rows:
        if (content := contents[row["run"]].get(row["key"])) is not None:
            yield row, msgspec.json.decode(content)
